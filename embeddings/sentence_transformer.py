"""Any model that sentence-transformers can load, on the CPU, with results that stay.

Float results differ with the shape of a batch and the number of threads, so that each text is
encoded alone, by one thread. What still differs are processors and versions of libraries; who
needs equal bytes elsewhere records the similarities, not the vectors.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from embeddings.encoder import EncoderError, Vectors, bounded
from embeddings.models import (
    PACKAGED_MODEL,
    cached_folder,
    hub_is_offline,
    local_folder,
    require_on_hub,
)

_THREADS = 1


class SentenceTransformerEncoder:
    """A loaded model.

    It takes seconds to make, since torch is imported. Pickled by name: the other side loads it.
    One thread at a time may use it, and torch's number of threads is set for the whole process.

    Attributes:
        name: The packaged model, a folder, or a name of the Hugging Face hub, which is looked up
            in the user's cache first. Code that comes with a model is never run.
    """

    name: str

    def __init__(self, name: str = PACKAGED_MODEL) -> None:
        """Load a model.

        Raises:
            EncoderError: If there is none of this name or it cannot be loaded or fetched.
        """
        self.name = name
        self._model = _load(name)

    def encode(self, texts: Sequence[str]) -> Vectors:
        """Encode each text alone, as it stands: no prompt but the model's own default is added.

        Returns:
            Shape (n, d), float32; every row has length 1. Shape (0, 0) for no texts.

        Raises:
            ValueError: If a text is blank.
            EncoderError: If the model gives a vector without direction.
        """
        import torch

        torch.set_num_threads(_THREADS)
        rows = [self._encode_one(text) for text in map(bounded, texts)]
        return np.stack(rows) if rows else np.empty((0, 0), np.float32)

    def __reduce__(self) -> tuple[type[SentenceTransformerEncoder], tuple[str]]:
        return type(self), (self.name,)

    def _encode_one(self, text: str) -> Vectors:
        if not text:
            raise ValueError("a blank text has no direction and cannot be encoded")
        rows = self._model.encode([text], batch_size=1, show_progress_bar=False)
        # Normalised here too: a model in half precision is off its own unit length by 1e-3.
        row = np.asarray(rows[0], np.float64)
        length = math.sqrt(float(row @ row))
        if not (math.isfinite(length) and length > 0):
            raise EncoderError(
                f"the encoder `{self.name}` gives a vector without direction: its weights are "
                "damaged, fetch the model again"
            )
        return (row / length).astype(np.float32)


def _load(name: str) -> Any:
    folder = local_folder(name)
    if folder is not None:
        return _construct(name, str(folder), local_only=True)
    snapshot = cached_folder(name)
    if snapshot is not None:
        # By its folder: given a name, the hub's client uses the network even when told not to.
        try:
            return _construct(name, str(snapshot), local_only=True)
        except EncoderError:
            # A download that was broken off leaves a part, which the hub can complete.
            if hub_is_offline():
                raise
    require_on_hub(name)
    return _construct(name, name, local_only=False)


def _construct(name: str, source: str, *, local_only: bool) -> Any:
    from sentence_transformers import SentenceTransformer
    from transformers.utils import logging

    logging.disable_progress_bar()  # type: ignore[no-untyped-call]
    try:
        return SentenceTransformer(source, device="cpu", local_files_only=local_only)
    except Exception as error:
        # Whatever is wrong with a user's files comes as any kind of exception, from four libraries.
        lines = str(error).strip().splitlines() or [""]
        raise EncoderError(
            f"the encoder `{name}` cannot be loaded ({type(error).__name__}: {lines[0][:200]}); "
            "give the folder of a complete sentence-transformers model, or fetch it again"
        ) from None
