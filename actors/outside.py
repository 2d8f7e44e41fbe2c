"""Facts from outside the market, answered by a sentence encoder.

The cache is asked first: torch is imported when a text was never encoded, and not before.
"""

from __future__ import annotations

from embeddings import (
    EncoderError,
    SentenceTransformerEncoder,
    Similarities,
    VectorCache,
    cache_folder,
    model_identity,
)
from market.environment import Answer, Decision
from market.language import ProviderFailure


class EncodedFacts:
    """Answers the seat `OUTSIDE` for one encoder.

    Args:
        model: Name or folder of the encoder.
    """

    def __init__(self, model: str) -> None:
        self._model = model
        self._similarities: Similarities | None = None

    def problem(self) -> str | None:
        """What can be known to be wrong with the encoder before anything is played."""
        try:
            self._loaded()
        except EncoderError as error:
            return str(error)
        return None

    def answer_now(self, decision: Decision) -> Answer | ProviderFailure:
        """Answer a decision of kind `similarities`."""
        asked = decision.observation.private
        try:
            found = self._loaded().answer(asked["texts"], asked["references"], asked["crowd"])
        except EncoderError as error:
            return ProviderFailure("unreachable", str(error))
        return Answer(dict(found))

    async def answer(self, decision: Decision) -> Answer | ProviderFailure:
        """The same, for an episode in this process."""
        return self.answer_now(decision)

    def _loaded(self) -> Similarities:
        if self._similarities is None:
            cache = VectorCache(model_identity(self._model), cache_folder())
            self._similarities = Similarities(
                lambda: SentenceTransformerEncoder(self._model), cache
            )
        return self._similarities
