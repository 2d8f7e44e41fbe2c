"""Intervals of means and ratios, from one number per block.

Below 30 blocks a mean has Student's t interval: right at any number of blocks where they are about
normal, and hurt by skew. From 30 blocks it has the bootstrap-t (studentised bootstrap; Efron and
Tibshirani 1993, chapter 12.5), whose tails may differ and which takes skew into account. Either
can be asked for. A ratio of means has Fieller's interval (Fieller 1954), which knows when the
denominator may be zero: then no ratio is ruled out, and the interval is undefined.

Means that do not vary have an interval of no width: the blocks say that nothing is random.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import isfinite, sqrt
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from market.rng import generator
from market.study.statistics.estimates import Estimate

Method = Literal["t", "bootstrap-t"]

#: From here on a mean has the bootstrap-t unless asked otherwise.
MANY_BLOCKS = 30
DRAWS = 1_999
#: Numbers drawn at a time, so that a study of many blocks does not fill the memory.
_AT_ONCE = 2_000_000


def mean(
    blocks: Sequence[float], level: float = 0.95, seed: int = 0, method: Method | None = None
) -> Estimate:
    """The mean of independent blocks.

    Args:
        blocks: One number per block.
        level: Confidence.
        seed: Seed of the resampling.
        method: "t" or "bootstrap-t"; by the number of blocks if None.

    Raises:
        ValueError: If a block is no finite number.
    """
    values = finite(blocks)
    if not len(values):
        return Estimate.missing("no blocks", level=level)
    value = float(values.mean())
    if len(values) == 1:
        return Estimate.missing("one block does not vary", value=value, blocks=1, level=level)
    if not np.ptp(values):
        value = float(values[0])
        return Estimate(value, value, value, len(values), method or "t", level)
    if (method or ("t" if len(values) < MANY_BLOCKS else "bootstrap-t")) == "t":
        half = t_quantile((1 + level) / 2, len(values) - 1) * standard_error(values)
        return Estimate(value, value - half, value + half, len(values), "t", level)
    return _bootstrap_t(values, level, seed)


def ratio(
    numerators: Sequence[float], denominators: Sequence[float], level: float = 0.95
) -> Estimate:
    """The ratio of two means, paired by block.

    The ends are the roots in r of (a - r b)^2 = t^2 (saa - 2 r sab + r^2 sbb), with a and b the
    means and s their covariances. The interval is bounded only if b differs from 0 at this level.

    Args:
        numerators: One number per block.
        denominators: One per block, in the same order.
        level: Confidence.

    Raises:
        ValueError: If a number is not finite or the lengths differ.
    """
    a, b = finite(numerators), finite(denominators)
    n = len(a)
    if n != len(b):
        raise ValueError(f"{n} numerators and {len(b)} denominators: blocks must be paired")
    if not n:
        return Estimate.missing("no blocks", level=level)
    over, under = float(a.mean()), float(b.mean())
    if under == 0:
        return Estimate.missing("the denominator is zero", blocks=n, level=level)
    value = over / under
    if n == 1:
        return Estimate.missing("one block does not vary", value=value, blocks=1, level=level)
    (saa, sab), (_, sbb) = np.cov(a, b) / n
    quantile = t_quantile((1 + level) / 2, n - 1) ** 2
    square = under**2 - quantile * sbb
    if square <= 0:
        reason = "the denominator cannot be told from zero"
        return Estimate.missing(reason, value=value, blocks=n, level=level)
    middle = (over * under - quantile * sab) / square
    reach = sqrt(max(0.0, middle**2 - (over**2 - quantile * saa) / square))
    # Rounding must not leave the value out where nothing varies.
    low, high = min(middle - reach, value), max(middle + reach, value)
    return Estimate(value, float(low), float(high), n, "Fieller", level)


def finite(values: Sequence[float]) -> NDArray[np.float64]:
    """The values as an array.

    Raises:
        ValueError: If one is no finite number: what is undefined is left out by who knows why.
    """
    array = np.asarray(values, dtype=np.float64)
    if not np.isfinite(array).all():
        raise ValueError("blocks must be finite numbers; leave undefined ones out and say so")
    return array


def standard_error(values: NDArray[np.float64]) -> float:
    """Standard deviation of the sample over the root of its size; two values at least."""
    return float(values.std(ddof=1)) / sqrt(len(values))


def t_quantile(probability: float, freedom: int) -> float:
    """The quantile of Student's t."""
    from scipy.special import stdtrit

    return float(stdtrit(freedom, probability))


def resamples(rng: np.random.Generator, size: int, draws: int) -> Iterator[NDArray[np.int64]]:
    """Places of `size` things drawn with replacement, `draws` times: rows, some at a time."""
    at_once = max(1, _AT_ONCE // size)
    for start in range(0, draws, at_once):
        yield rng.integers(0, size, (min(at_once, draws - start), size))


def _bootstrap_t(values: NDArray[np.float64], level: float, seed: int) -> Estimate:
    n = len(values)
    value, error = float(values.mean()), standard_error(values)
    rng = generator(seed, "statistics", "bootstrap-t")
    parts = []
    for places in resamples(rng, n, DRAWS):
        drawn = values[places]
        gaps = drawn.mean(axis=1) - value
        errors = drawn.std(axis=1, ddof=1) / sqrt(n)
        # A resample that does not vary lies infinitely many errors away: it widens, as it should.
        with np.errstate(divide="ignore", invalid="ignore"):
            parts.append(np.where(errors > 1e-12 * error, gaps / errors, np.copysign(np.inf, gaps)))
    tails = [(1 - level) / 2, (1 + level) / 2]
    lower, upper = np.quantile(np.concatenate(parts), tails, method="inverted_cdf")
    low, high = value - float(upper) * error, value - float(lower) * error
    if not (isfinite(low) and isfinite(high)):
        reason = "too few blocks differ for a bootstrap"
        return Estimate.missing(reason, value=value, blocks=n, level=level)
    return Estimate(value, low, high, n, "bootstrap-t", level)
