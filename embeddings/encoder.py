"""What an encoder is: something that turns texts into unit vectors.

Texts come from language models and are hostile input: `bounded` gives each the form in which it
is encoded, cached and compared, so that no text is too long to encode or impossible to store.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

Vectors: TypeAlias = NDArray[np.float32]

#: A text is cut here before it is encoded. Some 500 tokens: far beyond any slogan, and it keeps
#: one text from costing minutes with an encoder that reads tens of thousands of tokens.
MAX_CHARACTERS = 2_000


class EncoderError(Exception):
    """A model cannot be loaded or gave no usable vector: one sentence that says what mends it."""


class Encoder(Protocol):
    """Turns texts into unit vectors. The vector of a text does not depend on its company."""

    @property
    def name(self) -> str:
        """The model, as configurations name it."""
        ...

    def encode(self, texts: Sequence[str]) -> Vectors:
        """Encode each text.

        Returns:
            Shape (n, d), float32; every row has length 1.

        Raises:
            ValueError: If a text is blank: it has no direction.
            EncoderError: If the model gives no usable vector.
        """
        ...


def bounded(text: str) -> str:
    """The form in which a text is encoded, cached and compared.

    Cut to `MAX_CHARACTERS`; a lone surrogate, which no tokenizer and no database takes, becomes a
    question mark. Blank texts (nothing but white space) become empty.
    """
    text = text[:MAX_CHARACTERS]
    if not text.isascii():
        text = text.encode("utf-8", "replace").decode()
    return "" if text.isspace() else text
