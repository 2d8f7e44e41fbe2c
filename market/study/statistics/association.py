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
    blocks: dict[Hashable, list[float]] = {}
    left_out: Counter[str] = Counter()
    missing = 0
    for block, x, y in episodes:
        a, b = _known(x, y)
        missing += len(x) - len(a)
        reason = _undefined(a, b)
        if reason is None:
            blocks.setdefault(block, []).append(_correlation(a, b, "spearman"))
        else:
            left_out[reason] += 1
    estimate = _bounded(mean([fmean(own) for own in blocks.values()], level, seed))
    if not blocks:
        why = "; ".join(f"{reason} in {count}" for reason, count in left_out.items())
        words = f"defined in no episode: {why}" if why else "no episodes"
        estimate = Estimate.missing(words, level=level)
    return Within(estimate, sum(map(len, blocks.values())), dict(left_out), missing)


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
        raise ValueError("values must be finite numbers, or None where undefined")
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
