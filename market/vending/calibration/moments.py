"""How far units scatter around what was expected of them, by moments, and how many were missed.

Given its mean u and the day's crowd, a product's sales vary by f u; the crowd, of mean 1 and
variance c, is shared by all products of a machine. So a pair's square error is f u + c u^2 in the
mean, and that of a machine's total U is the sum of all f u, and c U^2.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.stats import nbinom

from market.vending.calibration.records import Floats, Records

#: What the distributions of the simulator take: dispersions above 1, and not without bound.
DISPERSIONS = (1.01, 10.0)
#: Highest variance of a crowd.
CROWD = 4.0
#: Units of expected sales at which a product's own dispersion counts as much as that of all.
TRUST = 200.0
#: Rounds in which crowds and dispersions are told apart.
ROUNDS = 4
#: Least probability of having sold out.
LEAST = 1e-12


def scatter(records: Records, expected: Floats) -> tuple[Floats, Floats]:
    """The variance of each machine's crowd and the dispersion of each product.

    Args:
        records: What was sold.
        expected: (pairs, days) what was expected.

    Returns:
        (machines) variances and (products) dispersions; those of products that were never sold
        are that of all.
    """
    mean, n = expected.sum(1), len(records.products)
    square_of_mean = (expected**2).sum(1)
    error = ((records.units - expected) ** 2).sum(1)
    total = records.by_machine(expected)
    total_error = ((records.by_machine(records.units) - total) ** 2).sum(1)
    mass = np.bincount(records.product, mean, n)
    dispersion, pooled = np.full(n, 1.5), 1.5
    for _ in range(ROUNDS):
        own = np.bincount(
            records.machine, mean * dispersion[records.product], len(records.machines)
        )
        crowd = _over(total_error - own, (total**2).sum(1)).clip(0.0, CROWD)
        left = error - crowd[records.machine] * square_of_mean
        pooled = float(np.clip(left.sum() / max(mean.sum(), 1e-12), *DISPERSIONS))
        of_product = np.bincount(records.product, left, n)
        dispersion = ((of_product + TRUST * pooled) / (mass + TRUST)).clip(*DISPERSIONS)
    return crowd, dispersion


def uncensored(
    units: Floats, sold_out: NDArray[np.bool_], expected: Floats, dispersion: Floats
) -> Floats:
    """(pairs, days) units, and where they sold out the mean of what would have been sold.

    Of a negative binomial X of mean u and size r, given that it is n at least, that is
    u P(Y >= n - 1) / P(X >= n), with Y of size r + 1 and the same odds.

    Args:
        units: (pairs, days) units sold.
        sold_out: (pairs, days) whether these were all.
        expected: (pairs, days) u.
        dispersion: (pairs) variance over mean.
    """
    pair, _ = np.nonzero(sold_out)
    sold, mean = units[sold_out], expected[sold_out]
    odds = 1 / dispersion[pair]
    size = mean * odds / (1 - odds)
    least = np.maximum(nbinom.sf(sold - 1, size, odds), LEAST)
    found = units.copy()
    found[sold_out] = np.maximum(sold, mean * nbinom.sf(sold - 2, size + 1, odds) / least)
    return found


def _over(numerator: Floats, denominator: Floats) -> Floats:
    found: Floats = np.divide(
        numerator, denominator, out=np.zeros_like(numerator), where=denominator > 0
    )
    return found
