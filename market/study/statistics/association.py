"""Correlations: within an episode, and between groups.

The two answer different questions and are never mixed. *Within*: among those who met in one market,
does who had more of a metric earn more? Spearman's correlation of each episode, averaged within its
block, then over blocks; the interval is that of the mean of blocks. *Between*: do groups (models)
that have more of it on average earn more on average? One correlation over the groups' means, each
group one point, whatever its number of episodes.

A single correlation has an interval by Fisher's z. For Spearman's the variance of z is
(1 + r^2/2)/(n - 3) (Bonett and Wright 2000), for Pearson's 1/(n - 3). A constant side orders
nothing: the correlation is undefined, not 0.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from math import atanh, sqrt, tanh
from statistics import NormalDist, fmean
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from market.study.statistics.estimates import Estimate
from market.study.statistics.intervals import mean

Kind = Literal["spearman", "pearson"]
Values = Sequence[float | None]

FEW_PAIRS = "fewer than 3 pairs"
FIRST_CONSTANT = "the first side is constant"
SECOND_CONSTANT = "the second side is constant"
#: Correlations nearer to 1 than this are 1 but for rounding.
_ROUNDING = 1e-12
_FINITE = "values must be finite numbers, or None where undefined"


@dataclass(frozen=True, slots=True)
class Within:
    """A correlation within episodes.

    Attributes:
        estimate: Its mean over blocks.
        episodes: Episodes in which it is defined.
        left_out: Episodes in which it is not, by reason.
        missing: Pairs of values that were left out because one side is None.
    """

    estimate: Estimate
    episodes: int
    left_out: Mapping[str, int]
    missing: int


def correlation(x: Values, y: Values, level: float = 0.95, kind: Kind = "spearman") -> Estimate:
    """One correlation of independent pairs; pairs with a None are left out.

    Args:
        x: One side.
        y: The other, in the same order.
        level: Confidence.
        kind: "spearman" (of ranks, ties at their mean rank) or "pearson".

    Raises:
        ValueError: If the sides differ in length.
    """
    a, b = _known(x, y)
    n = len(a)
    reason = _undefined(a, b)
    if reason is not None:
        return Estimate.missing(reason, blocks=n, level=level)
    r = _correlation(a, b, kind)
    if n < 4:
        reason = "fewer than 4 pairs"
    elif abs(r) > 1 - _ROUNDING:
        reason = "a perfect correlation has no interval by Fisher's z"
    if reason is not None:
        return Estimate.missing(reason, value=r, blocks=n, level=level)
    spread = (1 + r * r / 2 if kind == "spearman" else 1.0) / (n - 3)
    reach = NormalDist().inv_cdf((1 + level) / 2) * sqrt(spread)
    return Estimate(r, tanh(atanh(r) - reach), tanh(atanh(r) + reach), n, "Fisher z", level)


def within(
    episodes: Iterable[tuple[Hashable, Values, Values]], level: float = 0.95, seed: int = 0
) -> Within:
    """Spearman's correlation within each episode, averaged over blocks.

    Args:
        episodes: The block, and both sides in the same order of seats. A seat with a None is left
            out of its episode; an episode in which a side is constant is left out and counted.
        level: Confidence.
        seed: Seed of the resampling.

    Raises:
        ValueError: If the sides of an episode differ in length.
    """
    blocks: list[Hashable] = []
    sides: list[tuple[NDArray[np.float64], NDArray[np.float64]]] = []
    for block, x, y in episodes:
        if len(x) != len(y):
            raise ValueError("the sides of an episode differ in length")
        blocks.append(block)
        sides.append((np.array(x, dtype=np.float64), np.array(y, dtype=np.float64)))
    codes = np.repeat(np.arange(len(sides)), [len(x) for x, _ in sides])
    empty = np.empty(0)
    a = np.concatenate([empty, *(x for x, _ in sides)])
    b = np.concatenate([empty, *(y for _, y in sides)])
    return within_columns(blocks, codes, a, b, level, seed)


def within_columns(
    blocks: Sequence[Hashable],
    episodes: NDArray[np.intp],
    x: NDArray[np.float64],
    y: NDArray[np.float64],
    level: float = 0.95,
    seed: int = 0,
) -> Within:
    """The same as `within`, of long columns.

    Args:
        blocks: The block of each episode.
        episodes: Shape (n,): for each seat, the position of its episode in `blocks`.
        x: Shape (n,): one side; not a number where it is undefined.
        y: Shape (n,): the other.
        level: Confidence.
        seed: Seed of the resampling.

    Raises:
        ValueError: If a value is infinite.
    """
    if np.isinf(x).any() or np.isinf(y).any():
        raise ValueError(_FINITE)
    known = ~(np.isnan(x) | np.isnan(y))
    missing = len(x) - int(known.sum())
    order = np.argsort(episodes[known], kind="stable")
    code, x, y = episodes[known][order], x[known][order], y[known][order]
    pairs = np.bincount(code, minlength=len(blocks))
    a, b = _group_ranks(code, pairs, x), _group_ranks(code, pairs, y)

    def sums(values: NDArray[np.float64]) -> NDArray[np.float64]:
        return np.asarray(np.bincount(code, values, len(blocks)), dtype=np.float64)

    # Ranks of n values have the mean (n + 1) / 2, and no scatter exactly where all are equal.
    middle = (pairs[code] + 1) / 2
    first, second = sums((a - middle) ** 2), sums((b - middle) ** 2)
    reasons = np.select(
        [pairs < 3, first == 0, second == 0], [FEW_PAIRS, FIRST_CONSTANT, SECOND_CONSTANT], ""
    )
    with np.errstate(invalid="ignore", divide="ignore"):
        found = np.clip(sums((a - middle) * (b - middle)) / np.sqrt(first * second), -1.0, 1.0)
    by_block: dict[Hashable, list[float]] = {}
    for at in np.flatnonzero(reasons == "").tolist():
        by_block.setdefault(blocks[at], []).append(float(found[at]))
    left_out = Counter(str(reason) for reason in reasons if reason)
    estimate = _bounded(mean([fmean(own) for own in by_block.values()], level, seed))
    if not by_block:
        why = "; ".join(f"{reason} in {count}" for reason, count in left_out.items())
        words = f"defined in no episode: {why}" if why else "no episodes"
        estimate = Estimate.missing(words, level=level)
    return Within(estimate, sum(map(len, by_block.values())), dict(left_out), missing)


def _group_ranks(
    groups: NDArray[np.intp], sizes: NDArray[np.intp], values: NDArray[np.float64]
) -> NDArray[np.float64]:
    """The rank of each value within its group, from 1, ties at their mean rank.

    Args:
        groups: Shape (n,): the group of each value, ascending.
        sizes: Values of each group.
        values: Shape (n,).
    """
    order = np.lexsort((values, groups))
    ordered = values[order]
    fresh = np.ones(len(values), dtype=bool)  # where another value, or another group, begins
    fresh[1:] = (ordered[1:] != ordered[:-1]) | (groups[1:] != groups[:-1])
    begins = np.append(np.flatnonzero(fresh), len(values))
    ties = np.cumsum(fresh) - 1
    starts = (np.cumsum(sizes) - sizes)[groups]
    ranks = np.empty(len(values))
    ranks[order] = (begins[ties] + begins[ties + 1] - 1) / 2 - starts + 1
    return ranks


def between(
    groups: Mapping[Hashable, tuple[Values, Values]], level: float = 0.95, kind: Kind = "spearman"
) -> Estimate:
    """The correlation of groups' means, one point per group.

    Args:
        groups: Both sides of each group; a group without a value on a side is left out.
        level: Confidence.
        kind: "spearman" or "pearson".

    Returns:
        The correlation; its blocks are the groups.
    """
    points = [(_mean(x), _mean(y)) for x, y in groups.values()]
    return correlation([x for x, _ in points], [y for _, y in points], level, kind)


def _bounded(estimate: Estimate) -> Estimate:
    """An interval of a mean knows nothing of the range of a correlation."""
    if estimate.low is None or estimate.high is None:
        return estimate
    return replace(estimate, low=max(-1.0, estimate.low), high=min(1.0, estimate.high))


def _mean(values: Values) -> float | None:
    known = [value for value in values if value is not None]
    return fmean(known) if known else None


def _known(x: Values, y: Values) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    pairs = [(a, b) for a, b in zip(x, y, strict=True) if a is not None and b is not None]
    sides = np.array(pairs, dtype=np.float64).reshape(-1, 2)
    if not np.isfinite(sides).all():
        raise ValueError(_FINITE)
    return sides[:, 0], sides[:, 1]


def _undefined(a: NDArray[np.float64], b: NDArray[np.float64]) -> str | None:
    if len(a) < 3:
        return FEW_PAIRS
    if not np.ptp(a):
        return FIRST_CONSTANT
    return None if np.ptp(b) else SECOND_CONSTANT


def _correlation(a: NDArray[np.float64], b: NDArray[np.float64], kind: Kind) -> float:
    if kind == "spearman":
        from scipy.stats import rankdata

        a, b = rankdata(a), rankdata(b)
    a, b = a - a.mean(), b - b.mean()
    r = float(a @ b) / sqrt(float(a @ a) * float(b @ b))
    return max(-1.0, min(1.0, r))
