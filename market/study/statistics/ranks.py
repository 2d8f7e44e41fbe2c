"""Which ranks a player may have (Mogstad, Romano, Shaikh and Wilhelm 2024).

A leaderboard of means looks surer than it is. Each ordered pair is tested one-sided, the error of
all of them together held by step-down: player j is surely better than k only if that test rejects.
The rank of a player then lies between one more than the number of those that are surely better and
the number of those that are not surely worse. With the chosen confidence all sets hold at once, so
they may be read as a whole. A rank is 1 plus the number of players whose true mean is greater.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from market.study.statistics.flips import DRAWS, Floats, p_values
from market.study.statistics.pairwise import differences


@dataclass(frozen=True, slots=True)
class RankSet:
    """The ranks that a player may have, 1 the best.

    Attributes:
        low: The best of them.
        high: The worst.
    """

    low: int
    high: int


def rank_sets(
    scores: Floats, level: float = 0.95, seed: int = 0, draws: int = DRAWS
) -> list[RankSet]:
    """Simultaneous confidence sets for the ranks of all players, in their order.

    Args:
        scores: Blocks x players, more is better; NaN where a player has no score in a block.
        level: Confidence with which all sets hold.
        seed: Seed of the random flips beyond 14 blocks.
        draws: Their number.

    Raises:
        ValueError: If a score is infinite or the array does not have two axes.
    """
    if scores.ndim != 2:
        raise ValueError(f"scores are blocks x players, not {scores.ndim} axes")
    players = scores.shape[1]
    if players < 2:
        return [RankSet(1, 1)] * players
    gaps = differences(scores)
    family = np.concatenate([gaps, -gaps], axis=1)
    # The share of flips is compared with the error without its rounding: 1 - 0.95 is above 0.05.
    error = round(1 - level, 12)
    sure = p_values(family, seed, two_sided=False, draws=draws).adjusted <= error
    better = np.zeros((players, players), dtype=bool)
    first, second = np.triu_indices(players, k=1)
    better[first, second], better[second, first] = np.split(sure, 2)
    return [
        RankSet(1 + int(better[:, player].sum()), players - int(better[player].sum()))
        for player in range(players)
    ]
