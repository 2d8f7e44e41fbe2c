"""Chance from named streams (law 2).

Every draw comes from a generator keyed by a stable hash of (seed, purpose, step, seat or item).
There is no global generator, so one seat's actions never shift another's luck, and two rosters
on one seed meet the same buyers. Keys are hashed with BLAKE2b, never with Python's salted
`hash()`, and seed 0 is a seed like any other.

A `ForkedSeed` is how a recorded game goes on under other luck: streams of its later steps are those
of another seed.

`generator` gives NumPy's for the blocks that an environment draws. `draws` gives a small one
without NumPy for policies: a retailer's process must start fast.
"""

from __future__ import annotations

import hashlib
import random
from collections.abc import Callable, Sequence
from functools import cache, lru_cache, partial
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

T = TypeVar("T")


class ForkedSeed(int):
    """A seed whose streams are those of another seed from one step on.

    A seed like any other to whoever passes it on. Streams are named (purpose, step, ...), so the
    first whole number of a name is its step; a stream without one belongs to the whole episode.

    Attributes:
        step: The first step of the other luck.
        later: The seed of that luck.
    """

    step: int
    later: int

    def __new__(cls, seed: int, step: int, later: int) -> ForkedSeed:
        """Join two seeds."""
        made = super().__new__(cls, seed)
        made.step, made.later = step, later
        return made

    def __eq__(self, other: object) -> bool:
        """No other seed is equal, the bare number neither: what is kept by seed stays apart."""
        if type(other) is not ForkedSeed:
            return False
        return (int(self), self.step, self.later) == (int(other), other.step, other.later)

    def __ne__(self, other: object) -> bool:
        """The contrary of equal, which `int` would decide by its own rule."""
        return not self == other

    def __hash__(self) -> int:
        """Of all three parts."""
        return hash((int(self), self.step, self.later))

    def __reduce__(self) -> tuple[type[ForkedSeed], tuple[int, int, int]]:
        """Travel between processes as what it is."""
        return ForkedSeed, (int(self), self.step, self.later)

    def at(self, parts: Sequence[int | str]) -> int:
        """The seed of a stream."""
        step = next((part for part in parts if isinstance(part, int)), None)
        return int(self) if step is None or step < self.step else self.later


def key(seed: int, purpose: str, *parts: int | str) -> int:
    """A 128-bit key that depends on every part and its type, equal on every machine."""
    if type(seed) is ForkedSeed:
        seed = seed.at(parts)
    spelled = _spelled(seed, purpose, parts)
    return int.from_bytes(hashlib.blake2b(spelled.encode(), digest_size=16).digest(), "little")


def keys(seed: int, purpose: str, *begun: int | str) -> Callable[..., int]:
    """The keys of names that begin alike: `keys(s, p, a)(b)` is `key(s, p, a, b)`, but faster.

    Args:
        seed: The seed.
        purpose: The purpose.
        begun: The first parts of the names, the step among them.
    """
    if type(seed) is ForkedSeed:
        seed = seed.at(begun)
    copy = hashlib.blake2b(_spelled(seed, purpose, begun).encode(), digest_size=16).copy
    whole_number, ending = int.from_bytes, _ending

    def of(*parts: int | str) -> int:
        whole = copy()
        whole.update(ending(*parts))
        return whole_number(whole.digest(), "little")

    return of


@lru_cache(maxsize=4_096, typed=True)
def _ending(*parts: int | str) -> bytes:
    """How names end: with the same few seats and items in every step of every episode."""
    return "".join([f"\x1f{part!r}" for part in parts]).encode()


def _spelled(seed: int, purpose: str, parts: Sequence[int | str]) -> str:
    return "\x1f".join([repr(int(seed)), purpose, *map(repr, parts)])


def generator(seed: int, purpose: str, *parts: int | str) -> np.random.Generator:
    """A NumPy generator (Philox, whose key is the stream's name)."""
    open_stream, philox = _opener()
    opened: np.random.Generator = open_stream(philox(_Name(key(seed, purpose, *parts))))
    return opened


def reopen(stream: np.random.Generator, key: int) -> None:
    """Turn a generator that `generator` made into the one of another key, at its beginning.

    A third of the time of a new one, for those who read many streams one after the other.
    """
    name = _Name(key).generate_state(2, None)
    state = _beginning()
    stream.bit_generator.state = {**state, "state": {**state["state"], "key": name}}


@cache
def _opener() -> tuple[Any, Any]:
    """NumPy's generator and its Philox, which takes names from now on."""
    import numpy as np

    np.random.bit_generator.ISeedSequence.register(_Name)
    return np.random.Generator, np.random.Philox


@cache
def _beginning() -> dict[str, Any]:
    """The state of a stream of which nothing was drawn, of whatever name."""
    _, philox = _opener()
    state: dict[str, Any] = philox(_Name(0)).state
    return state


@cache
def _reader() -> Callable[[bytes], Any]:
    """Reads words of 64 bits."""
    import numpy as np

    return partial(np.frombuffer, dtype=np.uint64)


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
        read: NDArray[np.uint64] = _reader()(self._key.to_bytes(16, "little"))
        return read


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
