"""How alike texts are, as whole numbers.

A similarity is the cosine of two unit vectors in units of 1e-6, rounded half to even from sums
that are exact before rounding (`math.fsum`): neither the order of the texts nor the linear algebra
library that NumPy was built with can change it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from typing import TypedDict

import numpy as np
from numpy.typing import NDArray

from embeddings.cache import VectorCache
from embeddings.encoder import Encoder, Vectors, bounded

#: The similarity of a text with itself.
ONE = 1_000_000

#: Texts whose comparisons, and texts whose exact vectors, are kept: what is said, is said again.
#: Beyond, all are forgotten.
COMPARED, EXACT = 65_536, 2_048


class Answer(TypedDict):
    """What is known about texts.

    Attributes:
        similarities: Per text, its similarity with each reference, in units of 1e-6.
        convergence: Mean similarity over all pairs of the crowd, in units of 1e-6; None if fewer
            than two of it say anything.
    """

    similarities: list[list[int]]
    convergence: int | None


class Similarities:
    """Answers how alike texts are. The encoder is loaded when a text is first not cached."""

    def __init__(self, encoder_loader: Callable[[], Encoder], cache: VectorCache) -> None:
        self._encoder_loader = encoder_loader
        self._encoder: Encoder | None = None
        self._cache = cache
        self._compared: dict[tuple[str, tuple[str, ...]], list[int]] = {}
        self._exact: dict[str, NDArray[np.float64]] = {}

    def answer(
        self, texts: Sequence[str], references: Sequence[str], crowd: Sequence[str]
    ) -> Answer:
        """Compare each text with each reference, and the crowd with itself.

        A blank text has similarity 0 with everything and is no part of a crowd. A text that occurs
        twice in a crowd counts twice.

        Raises:
            EncoderError: If a text is not cached and no encoder can be loaded.
        """
        rows = [bounded(text) for text in texts]
        columns = tuple([bounded(text) for text in references])
        said = sorted(filter(None, map(bounded, crowd)))
        if len(self._compared) > COMPARED:
            self._compared.clear()
        new = [text for text in rows if (text, columns) not in self._compared]
        units = self._units([*new, *(columns if new else ()), *(said if len(said) > 1 else ())])
        for text in new:
            row = units.get(text)
            self._compared[text, columns] = [
                _similarity(row, units.get(column)) for column in columns
            ]
        return {
            "similarities": [self._compared[text, columns].copy() for text in rows],
            "convergence": _convergence([units[text] for text in said]) if len(said) > 1 else None,
        }

    def missing(self, texts: Iterable[str]) -> list[str]:
        """The texts that are not cached, each once and as it must be encoded and stored.

        A caller whose encoder lives elsewhere sends only these to it.
        """
        return [text for text in _distinct(texts) if self._cache.get(text) is None]

    def store(self, texts: Sequence[str], vectors: Vectors) -> None:
        """Keep vectors that were made elsewhere, by the same model.

        Args:
            texts: n texts.
            vectors: Shape (n, d), float32, unit rows.

        Raises:
            ValueError: If a row is no unit vector, or rows and texts differ in number.
        """
        self._cache.put(dict(zip(map(bounded, texts), vectors, strict=True)))
        self._compared.clear()
        self._exact.clear()

    def _units(self, texts: Sequence[str]) -> dict[str, NDArray[np.float64]]:
        """The exact unit vectors of texts, and perhaps of others."""
        asked = [text for text in texts if text and text not in self._exact]
        if not asked:
            return self._exact
        if len(self._exact) > EXACT:
            self._exact.clear()
            asked = list(texts)
        vectors = {text: self._cache.get(text) for text in _distinct(asked)}
        new = [text for text, vector in vectors.items() if vector is None]
        if new:
            if self._encoder is None:
                self._encoder = self._encoder_loader()
            fresh = dict(zip(new, self._encoder.encode(new), strict=True))
            self._cache.put(fresh)
            vectors.update(fresh)
        for text, vector in vectors.items():
            if vector is not None:
                self._exact[text] = _unit(vector)
        return self._exact


def _distinct(texts: Iterable[str]) -> list[str]:
    return list(dict.fromkeys(filter(None, map(bounded, texts))))


def _unit(vector: Vectors) -> NDArray[np.float64]:
    exact = vector.astype(np.float64)
    return exact / math.sqrt(math.fsum((exact * exact).tolist()))


def _similarity(one: NDArray[np.float64] | None, other: NDArray[np.float64] | None) -> int:
    if one is None or other is None:
        return 0
    return _millionths(math.fsum((one * other).tolist()))


def _convergence(units: Sequence[NDArray[np.float64]]) -> int | None:
    """Mean cosine of all pairs: |sum|^2 counts each pair twice and each vector once with itself."""
    count = len(units)
    if count < 2:
        return None
    total = np.zeros_like(units[0])
    for unit in units:
        np.add(total, unit, out=total)
    squared = math.fsum((total * total).tolist())
    return _millionths((squared - count) / (count * (count - 1)))


def _millionths(cosine: float) -> int:
    return max(-ONE, min(ONE, round(cosine * ONE)))
