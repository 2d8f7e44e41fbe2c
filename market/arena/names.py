"""Public names of retailers, drawn per episode: no name carries a reputation to the next."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache

from market.rng import draws

_CONSONANTS = "bdfgklmnprstvz"
_VOWELS = "aeiou"


def public_names(seats: Sequence[str], seed: int) -> dict[str, str]:
    """A short name per seat, keyed by seat id: leaving a seat out leaves the others' names.

    (Except where two draws meet and the later seat draws again.)
    """
    return dict(_drawn(tuple(seats), seed))


@lru_cache(maxsize=8)
def _drawn(seats: tuple[str, ...], seed: int) -> Mapping[str, str]:
    """As `public_names`; the cells of a study play one after the other on a seed."""
    syllables = 2 if len(seats) <= 500 else 4
    names: dict[str, str] = {}
    taken: set[str] = set()
    for seat in seats:
        stream = draws(seed, "public name", seat)
        while True:
            letters = (
                stream.choice(_CONSONANTS) + stream.choice(_VOWELS) for _ in range(syllables)
            )
            name = "".join(letters).capitalize()
            if name not in taken:
                break
        taken.add(name)
        names[seat] = name
    return names
