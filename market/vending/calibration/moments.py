"""How far units scatter around what was expected of them, by moments.

Given its mean u and the day's crowd, a product's sales vary by f u; the crowd, of mean 1 and
variance c, is shared by all products of a machine. So a pair's square error is f u + c u^2 in the
mean, and that of a machine's total U is the sum of all f u, and c U^2.
"""

from __future__ import annotations

import numpy as np

from market.vending.calibration.records import Floats, Records

#: What the distributions of the simulator take: dispersions above 1, and not without bound.
DISPERSIONS = (1.01, 10.0)
#: Highest variance of a crowd.
CROWD = 4.0
#: Units of expected sales at which a product's own dispersion counts as much as that of all.
TRUST = 200.0
#: Rounds in which crowds and dispersions are told apart.
ROUNDS = 4


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


def tastes(sold: Floats, expected: Floats, variance: float, dispersion: float) -> float:
    """The variance of the single tastes around 1 that explains how far pairs miss their means.

    A pair that sold n of u expected has (n - u)^2 = f u + v u^2 in the mean. Each counts by the
    square of its precision under the variance of before.

    Args:
        sold: (pairs) units.
        expected: (pairs) units without tastes.
        variance: The variance of before.
        dispersion: f.
    """
    weight = 1 / (dispersion + variance * expected) ** 2
    excess = weight * ((sold - expected) ** 2 - dispersion * expected)
    return float(np.clip(excess.sum() / max((weight * expected**2).sum(), 1e-12), 0.0, CROWD))


def _over(numerator: Floats, denominator: Floats) -> Floats:
    found: Floats = np.divide(
        numerator, denominator, out=np.zeros_like(numerator), where=denominator > 0
    )
    return found
