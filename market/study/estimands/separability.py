"""Which retailers can be told apart.

A leaderboard of means orders everybody, also those whom the games do not tell apart. Per pair there
is the mean difference within seeds, with an interval of this pair by itself, and a p-value that
holds the chance of any false finding over all pairs of a market (Romano and Wolf's step-down).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import numpy as np

from market.study.estimands.effects import SCORE, Measure
from market.study.estimands.finding import Cells, Finding
from market.study.estimands.games import Game, comparable, retailers
from market.study.statistics.estimates import Estimate
from market.study.statistics.pairwise import matrix

_DIFFERENCE = (
    "What {first} gets more than {second}, on the seeds that both played; the interval is of this "
    "pair by itself."
)
_P = "Chance of a difference as large if there were none, with the error over all pairs held."


def separability(games: Iterable[Game], measure: Measure = SCORE) -> Iterator[Finding]:
    """Per market, design and pair of retailers two lines: `difference` and `adjusted p`.

    Only designs that treat all retailers alike count, each by itself, and only markets of several
    retailers.
    """
    for market, mixed in comparable(game for game in games if len(game.company) > 1):
        names = retailers(mixed)
        means = {name: _seeds(name, mixed) for name in names}
        seeds = sorted({seed for own in means.values() for seed in own})
        scores = np.array(
            [[means[name].get(seed, np.nan) for name in names] for seed in seeds], float
        )
        for pair in matrix(scores.reshape(len(seeds), len(names))).pairs:
            first, second = names[pair.first], names[pair.second]
            about = {**market, "first": first, "second": second}
            sentence = _DIFFERENCE.format(first=first, second=second)
            yield Finding(
                "separability", "difference", measure.outcome, about, pair.difference,
                measure.unit, sentence,
            )  # fmt: skip
            reason = "no seed has both" if pair.adjusted is None else "a p-value has no interval"
            blocks = pair.difference.blocks
            p = Estimate.missing(reason, value=pair.adjusted, blocks=blocks)
            yield Finding(
                "separability", "adjusted p", measure.outcome, about, p, "probability", _P
            )


def _seeds(name: str, games: Iterable[Game]) -> dict[int, float]:
    cells = Cells()
    for game in games:
        cells.add(game.seed, game.company, game.of(name))
    return cells.seeds
