"""Chance from named streams (law 2).

Every draw comes from a generator keyed by a stable hash of (seed, purpose, step, seat or item).
There is no global generator, so one seat's actions never shift another's luck, and two rosters
on one seed meet the same buyers. Keys are hashed with BLAKE2b, never with Python's salted
`hash()`, and seed 0 is a seed like any other.

`generator` gives NumPy's for the blocks that an environment draws. `draws` gives a small one
without NumPy for policies: a retailer's process must start fast.
"""

from __future__ import annotations

import hashlib
import random
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

T = TypeVar("T")


def key(seed: int, purpose: str, *parts: int | str) -> int:
    """A 128-bit key that depends on every part and its type, equal on every machine."""
    spelled = "\x1f".join([repr(int(seed)), purpose, *map(repr, parts)])
    return int.from_bytes(hashlib.blake2b(spelled.encode(), digest_size=16).digest(), "little")


def generator(seed: int, purpose: str, *parts: int | str) -> np.random.Generator:
    """A NumPy generator (Philox, whose key is the stream's name)."""
    import numpy as np

    np.random.bit_generator.ISeedSequence.register(_Name)
    name: Any = _Name(key(seed, purpose, *parts))
    return np.random.Generator(np.random.Philox(name))


class _Name:
    """A key as NumPy takes it from a seed.

    `Philox(key=...)` gives the same stream, but asks the system for a seed first, which it then
    does not use: three quarters of its time, and an episode opens hundreds of streams.
    """

    __slots__ = ("_key",)

    def __init__(self, key: int) -> None:
        self._key = key

    def generate_state(self, words: int, dtype: object) -> NDArray[np.uint64]:  # noqa: ARG002
        """The two words of the key."""
        import numpy as np

        return np.frombuffer(self._key.to_bytes(16, "little"), np.uint64)


def draws(seed: int, purpose: str, *parts: int | str) -> Draws:
    """A generator for scripts."""
    return Draws(key(seed, purpose, *parts))


class Draws:
    """Uniform draws and what is made of them, on the part of `random` that Python keeps stable.

    Python promises that `random.Random(integer).random()` never changes between versions and
    says so of nothing else, hence everything here is derived from it.
    """

    __slots__ = ("uniform",)

    def __init__(self, key: int) -> None:
        #: Draw a float in [0, 1).
        self.uniform = random.Random(key).random

    def integer(self, low: int, high: int) -> int:
        """Draw an integer from low to high, both included."""
        return low + int(self.uniform() * (high - low + 1))

    def choice(self, options: Sequence[T]) -> T:
        """Draw one of the options."""
        return options[int(self.uniform() * len(options))]

    def shuffled(self, options: Sequence[T]) -> list[T]:
        """The options in random order (Fisher-Yates)."""
        out = list(options)
        for i in range(len(out) - 1, 0, -1):
            j = int(self.uniform() * (i + 1))
            out[i], out[j] = out[j], out[i]
        return out
