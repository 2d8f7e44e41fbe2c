"""Vectors of texts for many processes: one that may load an encoder, the others that ask it.

An episode that is packed with thousands of others compares slogans in its own process, from
vectors that it keeps in memory; only a text that it never met is asked for. So no worker imports
torch, and all have the vectors of one place, whatever machine they are on.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from embeddings import (
    EncoderError,
    SentenceTransformerEncoder,
    Similarities,
    VectorCache,
    cache_folder,
    model_identity,
)
from embeddings.encoder import Vectors
from market.environment import Answer, Decision

#: How often whoever encodes may die over one question.
DEATHS = 3

#: Gives the vectors of texts: shape (n, d), float32, unit rows.
Encode = Callable[[Sequence[str]], Vectors]


class Encoding:
    """Encodes for all: from the cache on disk, else by the encoder, which is loaded when needed.

    Args:
        model: Name or folder of the encoder.

    Raises:
        EncoderError: If there is no such encoder.
    """

    def __init__(self, model: str) -> None:
        self._model = model
        self._cache = VectorCache(model_identity(model), cache_folder())
        self._encoder: SentenceTransformerEncoder | None = None

    def encode(self, texts: Sequence[str]) -> Vectors:
        """The vectors of texts that are bounded and not blank.

        Raises:
            EncoderError: If a text is not cached and the encoder cannot be loaded.
        """
        missing = [text for text in dict.fromkeys(texts) if self._cache.get(text) is None]
        if missing:
            if self._encoder is None:
                self._encoder = SentenceTransformerEncoder(self._model)
            self._cache.put(dict(zip(missing, self._encoder.encode(missing), strict=True)))
        found = [self._cache.get(text) for text in texts]
        return np.stack([vector for vector in found if vector is not None])


class KnownFacts:
    """Answers the seat `OUTSIDE` from vectors in memory, and asks for those it does not know.

    Args:
        encode: Who encodes.
    """

    def __init__(self, encode: Encode) -> None:
        self._similarities = Similarities(lambda: _Asked("asked", encode), VectorCache("", None))

    def answer(self, decision: Decision) -> Answer:
        """Answer a decision of kind `similarities`.

        Raises:
            EncoderError: If a text cannot be encoded.
        """
        asked = decision.observation.private
        found = self._similarities.answer(asked["texts"], asked["references"], asked["crowd"])
        return Answer(dict(found))


def facts_here(model: str) -> Callable[[Decision], Answer]:
    """Who knows facts by an encoder in this process.

    Raises:
        EncoderError: If there is no such encoder.
    """
    return KnownFacts(Encoding(model).encode).answer


class RemoteEncoding:
    """`Encoding` in an actor that all workers of a sweep share.

    Args:
        model: Name or folder of the encoder.
        run: Name of the sweep, unique on the cluster.
        node: The node on which it lives.
    """

    def __init__(self, model: str, run: str, node: str) -> None:
        told = hashlib.blake2b(model.encode(), digest_size=8).hexdigest()
        self._arguments = (model, f"{run}-encoding-{told}", node)

    def __call__(self, texts: Sequence[str]) -> Vectors:
        """See `Encoding.encode`; waits for the actor, and starts it where there is none.

        Raises:
            EncoderError: If a text cannot be encoded, or the actor dies again and again.
        """
        import ray
        from ray.exceptions import RayError, RayTaskError

        from actors.ray_actors import start

        model, name, node = self._arguments
        for _ in range(DEATHS):
            handle: Any = start(EncodingActor, model, node=node, name=name)
            try:
                found: Vectors | str = ray.get(handle.encode.remote(list(texts)))
            except RayTaskError:
                raise
            except RayError:
                continue
            if isinstance(found, str):
                raise EncoderError(found)
            return found
        raise EncoderError(f"the encoder `{model}` dies over a text again and again")


class EncodingActor:
    """`Encoding` behind calls; a refusal travels as a sentence."""

    def __init__(self, model: str) -> None:
        self._model = model
        self._encoding: Encoding | None = None

    def encode(self, texts: Sequence[str]) -> Vectors | str:
        """The vectors of texts, or why there are none."""
        try:
            if self._encoding is None:
                self._encoding = Encoding(self._model)
            return self._encoding.encode(texts)
        except EncoderError as error:
            return str(error)


@dataclass(frozen=True, slots=True)
class _Asked:
    """An `embeddings.Encoder` that asks somebody else."""

    name: str
    ask: Encode

    def encode(self, texts: Sequence[str]) -> Vectors:
        return self.ask(texts)
