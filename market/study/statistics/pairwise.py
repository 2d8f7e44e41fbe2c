"""Differences of players, and which of many are real.

A difference of two players is taken within blocks, so what a block does to both cancels. A single
one is tested by sign flips (see `flips`), a family of them by the step-down of Romano and Wolf,
which holds the chance of any false finding at the level for whatever dependence there is. With few
blocks p-values have a floor: none is below 2/2^n.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import combinations

import numpy as np

from market.study.statistics.estimates import Estimate
from market.study.statistics.flips import DRAWS, Floats, p_values
from market.study.statistics.intervals import finite, mean


@dataclass(frozen=True, slots=True)
class Pair:
    """One player against another.

    Attributes:
        first: Number of a player.
        second: Number of another, a greater one.
        difference: Mean over blocks of the score of the first less that of the second, with an
            interval of this difference by itself.
        p: Two-sided p-value of this pair by itself; None if they share no block.
        adjusted: P-value with the error over all pairs held; None likewise.
    """

    first: int
    second: int
    difference: Estimate
    p: float | None
    adjusted: float | None


@dataclass(frozen=True, slots=True)
class Pairwise:
    """All pairs of some players.

    Attributes:
        players: Their number.
        pairs: Every pair once, in order.
    """

    players: int
    pairs: tuple[Pair, ...]

    def between(self, first: int, second: int) -> Pair:
        """Two different players, from the first one's side."""
        low, high = sorted((first, second))
        if not 0 <= low < high < self.players:
            raise ValueError(f"no pair ({first}, {second}) among {self.players} players")
        pair = self.pairs[low * (2 * self.players - low - 1) // 2 + high - low - 1]
        return pair if first < second else _turned(pair)


def sign_flip(differences: Sequence[float], seed: int = 0) -> float:
    """Two-sided p-value of differences being symmetric about zero; exact up to 14 blocks.

    No blocks, or differences that are all zero, give 1: nothing speaks against.

    Args:
        differences: One per block.
        seed: Seed of the random flips beyond 14 blocks.

    Raises:
        ValueError: If a difference is not finite.
    """
    return float(p_values(finite(differences)[:, None], seed).raw[0])


def romano_wolf(differences: Floats, seed: int = 0, draws: int = DRAWS) -> Floats:
    """Two-sided p-values with the family-wise error held, one per hypothesis.

    Args:
        differences: Blocks x hypotheses; NaN where a block says nothing on a hypothesis.
        seed: Seed of the random flips beyond 14 blocks.
        draws: Their number.

    Raises:
        ValueError: If a difference is infinite or the array does not have two axes.
    """
    return p_values(differences, seed, draws=draws).adjusted


def matrix(scores: Floats, level: float = 0.95, seed: int = 0, draws: int = DRAWS) -> Pairwise:
    """Every pair of players: difference, interval, p-values.

    Args:
        scores: Blocks x players; NaN where a player has no score in a block. A pair is compared
            in the blocks that both have.
        level: Confidence of the intervals.
        seed: Seed of whatever is drawn.
        draws: Random flips beyond 14 blocks.

    Raises:
        ValueError: If a score is infinite or the array does not have two axes.
    """
    if scores.ndim != 2:
        raise ValueError(f"scores are blocks x players, not {scores.ndim} axes")
    players = scores.shape[1]
    names = list(combinations(range(players), 2))
    if not names:
        return Pairwise(players, ())
    gaps = differences(scores)
    found = p_values(gaps, seed, draws=draws)
    pairs = []
    for place, (first, second) in enumerate(names):
        own = gaps[:, place]
        shared = own[~np.isnan(own)]
        if len(shared):
            difference = mean(shared.tolist(), level, seed)
            p, adjusted = float(found.raw[place]), float(found.adjusted[place])
            pairs.append(Pair(first, second, difference, p, adjusted))
        else:
            missing = Estimate.missing("no block has both players", level=level)
            pairs.append(Pair(first, second, missing, None, None))
    return Pairwise(players, tuple(pairs))


def differences(scores: Floats) -> Floats:
    """Blocks x pairs, the pairs in the order of `itertools.combinations`."""
    first, second = np.triu_indices(scores.shape[1], k=1)
    gaps: Floats = scores[:, first] - scores[:, second]
    return gaps


def _turned(pair: Pair) -> Pair:
    seen = pair.difference
    value, low, high = (None if x is None else -x for x in (seen.value, seen.high, seen.low))
    difference = replace(seen, value=value, low=low, high=high)
    return replace(pair, first=pair.second, second=pair.first, difference=difference)
