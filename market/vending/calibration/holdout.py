"""How well a fit foretells the part of the period that it was not fitted to.

Units per machine and day are foretold from what was known at the end of the first part: the fitted
world, with the products and prices of the last day. They are held against two simple forecasts: the
machine's mean of the first part, and persistence, the machine's units of the day before, which is
told the rest of the period as it goes.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from market.vending.calibration import offers
from market.vending.calibration.fit import Assumed, Fit, fit
from market.vending.calibration.records import Floats, Records
from market.vending.calibration.table import CalibrationError

#: Least days of either part.
LEAST = 14
#: Products that a ranking must have at least.
RANKED = 3


@dataclass(frozen=True, slots=True)
class Holdout:
    """Forecasts and what came.

    Attributes:
        fitted: Days of the first part.
        days: Days of the rest.
        wape: Sum of absolute errors over units sold, per machine and day, of the fit.
        wape_naive: The same of the machine's mean.
        wape_persistence: The same of the day before.
        volume: Units foretold over units sold, less 1.
        tvd: Total variation distance of the products' shares of all units: half the sum of
            absolute differences.
        tvd_naive: The same where each machine's mean is spread evenly over what it offers.
        spearman: Rank correlation of the products of a machine, foretold and sold, mean over
            machines of 3 products at least; None where there is none.
    """

    fitted: int
    days: int
    wape: float
    wape_naive: float
    wape_persistence: float
    volume: float
    tvd: float
    tvd_naive: float
    spearman: float | None


def hold_out(records: Records, assumed: Assumed, share: float = 0.8) -> tuple[Fit, Holdout]:
    """Fit a world to the first part of the period, and hold it against the rest.

    Args:
        records: The records.
        assumed: What is taken for granted.
        share: Share of the days that are fitted to.

    Raises:
        CalibrationError: If either part is too short.
    """
    cut = round(records.days * share)
    if min(cut, records.days - cut) < LEAST:
        raise CalibrationError(
            f"the records reach over {records.days} days, of which {cut} are fitted to and "
            f"{records.days - cut} foretold; there must be {LEAST} at least of each."
        )
    found = fit(records.until(cut), assumed)
    return found, _judged(found, records, cut)


def _judged(found: Fit, records: Records, cut: int) -> Holdout:
    part, rest = found.records, records.days - cut
    # The day after the last, for which all that is known is carried on.
    assumed = found.assumed
    offered = offers.carried(
        part, offers.offered(part, found.reference, assumed.sensitivity, assumed.presence)
    )
    slots = offers.slots(records.first, range(cut, records.days), assumed.country)
    foretold = found.expected(np.repeat(offered[:, None], rest, 1), slots) * found.kept[:, None]
    by_machine = records.by_machine(records.units)
    came = by_machine[:, cut:]
    mean = by_machine[:, :cut].mean(1, keepdims=True)

    def wape(forecast: Floats) -> float:
        return float(np.abs(forecast - came).sum() / came.sum())

    n = len(records.products)
    sold = np.zeros((len(records.machines), n))
    np.add.at(sold, (records.machine, records.product), records.units[:, cut:].sum(1))
    meant = np.zeros_like(sold)
    np.add.at(meant, (part.machine, part.product), foretold.sum(1))
    there = offered > 0
    count = np.bincount(part.machine[there], minlength=len(mean))
    even = np.zeros_like(sold)
    pairs = part.machine[there], part.product[there]
    even[pairs] = (mean[:, 0] / np.maximum(count, 1))[part.machine[there]]
    return Holdout(
        fitted=cut,
        days=rest,
        wape=wape(part.by_machine(foretold)),
        wape_naive=wape(np.broadcast_to(mean, came.shape)),
        wape_persistence=wape(by_machine[:, cut - 1 : -1]),
        volume=float(foretold.sum() / came.sum() - 1),
        tvd=_distance(meant.sum(0), sold.sum(0)),
        tvd_naive=_distance(even.sum(0), sold.sum(0)),
        spearman=_ranked(meant, sold),
    )


def _distance(one: Floats, other: Floats) -> float:
    return float(np.abs(one / max(one.sum(), 1e-12) - other / other.sum()).sum() / 2)


def _ranked(meant: Floats, sold: Floats) -> float | None:
    from scipy.stats import spearmanr

    found = []
    for one, other in zip(meant, sold, strict=True):
        there = (one > 0) | (other > 0)
        pair = one[there], other[there]
        if there.sum() >= RANKED and all(np.ptp(each) > 0 for each in pair):
            found.append(float(spearmanr(*pair).statistic))
    return float(np.mean(found)) if found else None
