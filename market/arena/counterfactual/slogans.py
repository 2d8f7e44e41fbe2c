"""The best slogan of a seat, among all that were said in the run.

Words act through their similarities with the personas and through nothing else, so slogans of equal
similarities are one alternative. Saying nothing is one too. What rivals said stays.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

from market.arena.counterfactual.board import Row
from market.arena.counterfactual.scene import Scene


def seen(scenes: Iterable[Scene]) -> dict[Row, str]:
    """What was said in a run, by its similarities: of equal ones the first in alphabetical order.

    The empty slogan, with no similarity to anything, is among them.
    """
    texts: dict[Row, str] = {}
    known: dict[str, Row] = {}
    for scene in scenes:
        texts[(0,) * len(scene.rules.personas)] = ""
        known.update({text: tuple(row) for text, row in scene.similarities.items()})
    for text in sorted(known):
        texts.setdefault(known[text], text)
    return texts


def best_slogan(
    options: Sequence[Row], worth: Callable[[Row], NDArray[np.float64]], recorded: Row
) -> Row:
    """The slogan that brings most on average.

    Args:
        options: Similarities of what may be said.
        worth: What a slogan brings, per redraw.
        recorded: What is kept where no other brings more.
    """
    best, most = recorded, float(worth(recorded).mean())
    for said in options:
        value = float(worth(said).mean())
        if value > most:
            best, most = said, value
    return best
