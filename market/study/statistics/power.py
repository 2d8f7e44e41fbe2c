"""What a design can detect, before money is spent.

A difference of two players has a standard deviation over blocks, known from scripts, a pilot or an
earlier run. With n blocks the two-sided t test finds a true difference d with a probability that
the noncentral t distribution gives (n - 1 degrees of freedom, noncentrality d sqrt(n)/deviation).
A sign-flip test has a floor besides: of n blocks no p-value is below 2/2^n, so five blocks never
reject at 5%, whatever the difference.
"""

from __future__ import annotations

from functools import cache, lru_cache
from math import inf, sqrt

import numpy as np
from numpy.typing import NDArray

from market.study.statistics.intervals import t_quantile

Floats = NDArray[np.float64]

#: More blocks than anybody plays.
_MOST = 10_000_000
_NODES = 200


def detectable(
    deviation: float, blocks: int, power: float = 0.8, level: float = 0.95
) -> float | None:
    """The smallest true difference that is found with the given probability.

    Args:
        deviation: Standard deviation of the differences of blocks.
        blocks: Their number.
        power: Probability of finding it.
        level: One minus the error of the two-sided test.

    Returns:
        The difference in the unit of the deviation; None for fewer than two blocks, which detect
        nothing.

    Raises:
        ValueError: If the deviation is negative or a probability is none.
    """
    _check(deviation, power, level)
    return None if blocks < 2 else deviation * _effect(blocks, power, level)


def blocks_needed(
    deviation: float, difference: float, power: float = 0.8, level: float = 0.95
) -> int:
    """The fewest blocks with which a true difference is found with the given probability.

    Args:
        deviation: Standard deviation of the differences of blocks.
        difference: The true difference, not zero.
        power: Probability of finding it.
        level: One minus the error of the two-sided test.

    Raises:
        ValueError: If the difference is zero or not finite, the deviation negative, a probability
            none, or the blocks beyond ten million.
    """
    _check(deviation, power, level)
    if not 0 < abs(difference) < inf:
        raise ValueError(f"a difference of {difference} is not detected with any number of blocks")
    target = abs(difference)

    def found(blocks: int) -> bool:
        return deviation * _effect(blocks, power, level) <= target

    low, high = 1, 2
    while not found(high):
        low, high = high, 2 * high
        if high > _MOST:
            raise ValueError(f"a difference of {difference} needs more than {_MOST:,} blocks")
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if found(middle) else (middle, high)
    return high


def probability(
    deviation: float, blocks: int, difference: float, level: float = 0.95
) -> float | None:
    """The probability of finding a true difference; None for fewer than two blocks.

    Args:
        deviation: Standard deviation of the differences of blocks.
        blocks: Their number.
        difference: The true difference.
        level: One minus the error of the two-sided test.

    Raises:
        ValueError: If the deviation is negative or the level no probability.
    """
    _check(deviation, 0.5, level)
    if blocks < 2:
        return None
    if deviation == 0:
        return float(difference != 0)
    return _power(abs(difference) / deviation, blocks, level)


def floor(blocks: int) -> float:
    """The smallest p-value that a two-sided sign-flip test of some blocks can give: 2/2^n."""
    return min(1.0, 2.0 ** (1 - blocks))


def told(
    deviation: float, blocks: int, power: float = 0.8, level: float = 0.95, comparisons: int = 1
) -> str:
    """What a design can detect, in words.

    Args:
        deviation: Standard deviation of the differences of blocks.
        blocks: Their number.
        power: Probability of finding a difference.
        level: One minus the error that all comparisons together may have.
        comparisons: Number of differences tested at once; the error is shared among them, which
            is the worst that a step-down can come to.

    Raises:
        ValueError: If the deviation is negative, a probability none or nothing is compared.
    """
    if comparisons < 1:
        raise ValueError("nothing is compared")
    error = round(1 - level, 12) / comparisons
    least = detectable(deviation, blocks, power, 1 - error)
    if least is None:
        return "One block detects nothing: how much blocks differ is unknown. Play two at least."
    many = "" if comparisons == 1 else f" ({comparisons:,} comparisons, at most {error:.2g} each)"
    words = (
        f"{blocks} blocks detect a difference of {least:,.4g} with a probability of {power:.0%}"
        f" at an error of {1 - level:.2g}{many}."
    )
    floor_p = floor(blocks)
    if floor_p <= error:
        return words
    needed = next(n for n in range(blocks, 1_000) if floor(n) <= error)
    return (
        f"{words} A sign-flip test of {blocks} blocks has no p-value below 2/2^{blocks} ="
        f" {floor_p:.2g} and finds nothing, whatever the difference: play {needed} blocks at least."
    )


def _power(effect: float, blocks: int, level: float) -> float:
    """Power of the two-sided t test at an effect in standard deviations.

    Given the estimated deviation the mean is normal; the mean over estimated deviations is good to
    1e-6. SciPy's noncentral t is NaN in tails that matter here.
    """
    from scipy.special import ndtr

    deviations, weights = _estimated(blocks - 1)
    critical = t_quantile((1 + level) / 2, blocks - 1) * deviations
    centre = effect * sqrt(blocks)
    return float(weights @ (ndtr(centre - critical) + ndtr(-centre - critical)))


@lru_cache(maxsize=64)
def _estimated(freedom: int) -> tuple[Floats, Floats]:
    """Deviations that may be estimated where the true one is 1, and their weights.

    They are quantiles of the chi distribution, at the nodes of Gauss and Legendre.
    """
    from scipy.special import gammaincinv

    nodes, weights = _nodes()
    return np.sqrt(2 / freedom * gammaincinv(freedom / 2, (nodes + 1) / 2)), weights / 2


@cache
def _nodes() -> tuple[Floats, Floats]:
    nodes, weights = np.polynomial.legendre.leggauss(_NODES)
    return nodes, weights


def _effect(blocks: int, power: float, level: float) -> float:
    """The effect in standard deviations that has the power, by bisection."""
    if power <= 1 - level:
        return 0.0
    low, high = 0.0, 1.0
    while _power(high, blocks, level) < power:
        low, high = high, 2 * high
    while high - low > 1e-9 * high:
        middle = (low + high) / 2
        low, high = (low, middle) if _power(middle, blocks, level) >= power else (middle, high)
    return high


def _check(deviation: float, power: float, level: float) -> None:
    if not 0 <= deviation < inf:
        raise ValueError(f"a standard deviation is 0 or more, not {deviation}")
    if not (0 < power < 1 and 0 < level < 1):
        raise ValueError(f"power and level lie between 0 and 1, not {power} and {level}")
