"""Sales: the inverse of the negative binomial distribution at each pair's luck.

One generator per (seed, day) draws a matrix of uniforms, sites x catalogue, always whole. Entry
(s, p) is the luck of product p at site s that day, whoever has it there: what is done to one
machine never moves the luck of another, nor does an operator who joins or leaves. As the
distribution with a larger mean lies to the right, more demand never sells less.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from market import rng
from market.vending.demand import Ints
from market.vending.world import Floats

#: Least P(0) that is counted on from: that of a larger mean is soon too small for a float.
LEAST = 1e-300
#: Uniforms are odd multiples of half of this: never 0 or 1, and far from a float's last bit.
GRID = 2.0**-32


def luck(seed: int, day: int, sites: int, products: int) -> Floats:
    """The (s, p) uniforms of a day.

    Args:
        seed: Seed of luck.
        day: The day.
        sites: Sites of the world.
        products: Products of the catalogue.
    """
    drawn = rng.generator(seed, "luck", day).integers(0, 2**32, (sites, products), np.uint32)
    return drawn * GRID + GRID / 2


def sold(mean: Floats, dispersion: Floats, uniform: Floats, stock: Ints) -> Ints:
    """Units sold: the smallest n whose cumulative probability exceeds the uniform, up to stock.

    Sales have the given mean and variance dispersion x mean: negative binomial of size
    mean / (dispersion - 1). Probabilities follow from P(0) = dispersion^-size and
    P(n + 1) = P(n) (size + n) / (n + 1) (1 - 1 / dispersion). Where P(0) is too small for that,
    at means of hundreds, the number is found by halving.

    Args:
        mean: Mean of each.
        dispersion: Variance over mean of each, above 1.
        uniform: Luck of each, in (0, 1).
        stock: Units on the shelf of each.
    """
    size = mean / (dispersion - 1)
    ratio = 1 - 1 / dispersion
    probability = np.exp(-size * np.log(dispersion))
    units = np.zeros(len(mean), np.int64)
    # Those that sell at least one more than counted; they grow few quickly.
    more = (uniform >= probability) & (stock > 0)
    far = np.flatnonzero(more & (probability < LEAST))
    if len(far):
        units[far] = _halved(size[far], dispersion[far], uniform[far], stock[far])
        more[far] = False
    active: NDArray[np.intp] = np.flatnonzero(more)
    size, ratio, uniform = size[active], ratio[active], uniform[active]
    left, probability = stock[active], probability[active]
    reached, n = probability.copy(), 0
    while len(active):
        units[active] += 1
        probability = probability * ((size + n) / (n + 1)) * ratio
        reached = reached + probability
        n += 1
        more = (uniform >= reached) & (left > n)
        active, size, ratio, uniform = active[more], size[more], ratio[more], uniform[more]
        left, probability, reached = left[more], probability[more], reached[more]
    return units


def _halved(size: Floats, dispersion: Floats, uniform: Floats, stock: Ints) -> Ints:
    """Units sold, from the distribution itself: P(at most n) is an incomplete beta function."""
    from scipy.special import betainc

    least, most = np.zeros_like(stock), stock
    while np.any(least < most):
        middle = (least + most) // 2
        above = uniform >= betainc(size, middle + 1.0, 1 / dispersion)
        least = np.where(above & (least < most), middle + 1, least)
        most = np.where(above, most, middle)
    return least
