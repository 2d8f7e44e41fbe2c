"""Several wordings of one prompt, which say the same: a factor of a study, not a taste.

How models play may hang on how they were asked, so a result that is to hold for a model is an
average over wordings. Every phrase of a prompt exists in `WORDINGS` forms with the same facts in
them; the first is the one that small models were tried with.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from market.rng import draws

#: How many wordings there are of every prompt.
WORDINGS = 3

#: One phrase in all its wordings; `{names}` stand for facts.
Phrase = tuple[str, str, str]


class Wording:
    """Phrases in one of their wordings.

    Args:
        phrases: All phrases by name.
        number: Which wording, from 0.
    """

    def __init__(self, phrases: Mapping[str, Phrase], number: int) -> None:
        self._phrases = phrases
        self._number = number

    def text(self, phrase: str) -> str:
        """A phrase with its braces."""
        return self._phrases[phrase][self._number]

    def __call__(self, phrase: str, **facts: object) -> str:
        """A phrase with its facts filled in. Facts are never read as phrases themselves."""
        return self._phrases[phrase][self._number].format(**facts)


def wording_of(choice: int | Literal["rotate"], seed: int, seat: str) -> int:
    """The wording that a seat is asked in, the same for a whole episode.

    Args:
        choice: A wording, or `rotate` for one drawn per episode and seat.
        seed: Seed of the episode.
        seat: The seat.
    """
    if choice == "rotate":
        return draws(seed, "wording", seat).integer(0, WORDINGS - 1)
    return choice
