"""The best set of products of a given size, where customers choose by a logit.

A set S earns per visit

    l(S) = sum over S of A m / (A_outside + sum over S of A)

with A the attraction and m the margin of a product. A ratio of sums is greatest at the l for
which the best value of sum over S of A (m - l), less l A_outside, is 0 (W. Dinkelbach, "On
nonlinear fractional programming", 1967). For a given l the best set of a size are the products
with the largest A (m - l), and its own ratio is the next l: it grows to the greatest within a few
steps, and the set is exact (P. Rusmevichientong, Z.-J. M. Shen, D. B. Shmoys, "Dynamic assortment
optimization with a multinomial logit choice model and capacity constraint", 2010).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from market.vending.demand import Ints
from market.vending.world import Floats


@dataclass(frozen=True, slots=True)
class Assortment:
    """A set of products.

    Attributes:
        products: Their positions, in order.
        value: Expected gross profit per visit, in the money of the margins.
    """

    products: Ints
    value: float


def best(pull: Floats, margin: Floats, outside: float, size: int) -> Assortment:
    """The set of a size that earns most per visit.

    Args:
        pull: (p) attraction of each product, not negative.
        margin: (p) price less cost of each; prices are given.
        outside: Attraction of buying nothing and of what others offer; above 0.
        size: Products of the set, from 0 to p. All of them are taken, also when fewer earn more.

    Raises:
        ValueError: If there are fewer products.
    """
    if not 0 <= size <= len(pull):
        raise ValueError(f"a set of {size} products of {len(pull)}")
    chosen = _largest(pull * margin, size)
    value = worth(pull[chosen], margin[chosen], outside)
    while True:
        better = _largest(pull * (margin - value), size)
        reached = worth(pull[better], margin[better], outside)
        # Not above what was reached but for rounding: l is the greatest.
        if reached <= value + 1e-12 * abs(value):
            return Assortment(np.sort(chosen), value)
        chosen, value = better, reached


def worth(pull: Floats, margin: Floats, outside: float) -> float:
    """Expected gross profit per visit of a set with these attractions and margins."""
    return float(np.sum(pull * margin) / (outside + np.sum(pull)))


def _largest(score: Floats, size: int) -> Ints:
    found: Ints = np.argpartition(-score, size - 1)[:size] if size else np.zeros(0, np.int64)
    return found
