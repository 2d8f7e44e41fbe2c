"""Fits the simulator's demand to sales: alternating ratios of what was sold and what was expected.

The expected sales of product p in machine m on day d are those of `market/vending/demand.py`:

    traffic_m x week x A_mp r_mpd / (outside + sum over what m offers that day of A r)
    A_mp = popularity_p x preference (site type, subcategory) x taste_mp
    r    = exp(-b (price / reference - 1))

Each round multiplies one factor after the other by units sold over units expected, which is the
likelihood's own step for a multiplicative Poisson model, until nothing moves. Tastes of single
pairs are drawn towards 1 as far as their scatter says (gamma prior, `moments.tastes`), and a pair
counts for its product by its precision, so that one large machine does not decide for all.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from market.vending.calibration import moments, offers
from market.vending.calibration.records import Floats, Ints, Records

#: Most rounds, and the change of log popularity at which they end.
ROUNDS, SETTLED = 200, 1e-5
#: Units at which a weekday's own factor counts as much as 1.
TRUST = 20.0
#: Dispersion of sales, and variance of tastes, while nothing better is known.
DISPERSION, TASTES = 1.5, 0.3


@dataclass(frozen=True, slots=True)
class Assumed:
    """What sales alone cannot say.

    Attributes:
        outside: Attraction of buying nothing, in products of mean popularity.
        sensitivity: b, the response to price.
        country: Two letters of the country whose public holidays count as such; None for none.
    """

    outside: float = 300.0
    sensitivity: float = 2.0
    country: str | None = None


@dataclass(frozen=True, slots=True)
class Fit:
    """A fitted world.

    Attributes:
        records: What it was fitted to.
        assumed: What was taken for granted.
        sold: (products) whether there were sales; of others nothing is known.
        reference: (products) the median price of a unit.
        popularity: (products) with mean 1 over those sold.
        taste: (machines, products) the site's preference, and its own taste where it had them.
        traffic: (machines) mean visits per day.
        week: (machines, 8) traffic factors of weekdays from Monday, of mean 1, and of holidays.
        crowd: (machines) variance of the crowd.
        dispersion: (products) variance over mean of sales.
    """

    records: Records
    assumed: Assumed
    sold: NDArray[np.bool_]
    reference: Floats
    popularity: Floats
    taste: Floats
    traffic: Floats
    week: Floats
    crowd: Floats
    dispersion: Floats

    def expected(self, offered: Floats, slots: Ints) -> Floats:
        """(pairs, days) expected units of the pairs that it was fitted to.

        Args:
            offered: (pairs, days) response to price; 0 where a product is not offered.
            slots: (days) weekday, or `offers.HOLIDAY`.
        """
        machine, product = self.records.machine, self.records.product
        pull = (self.popularity[product] * self.taste[machine, product])[:, None] * offered
        share = pull / (self.assumed.outside + self.records.by_machine(pull))[machine]
        found: Floats = (self.traffic[:, None] * self.week[:, slots])[machine] * share
        return found


def fit(records: Records, assumed: Assumed) -> Fit:
    """Fit a world to records.

    Raises:
        market.vending.calibration.records.CalibrationError: If nobody keeps the holidays of the
            country.
    """
    fitting = _Fitting(records, assumed)
    for _ in range(ROUNDS):
        if fitting.round() < SETTLED:
            break
    return fitting.found()


class _Fitting:
    """The factors between two rounds."""

    def __init__(self, records: Records, assumed: Assumed) -> None:
        machine, product = records.machine, records.product
        self._records, self._assumed = records, assumed
        types, self._types = _positions(records.site_types)
        kinds, self._kinds = _positions(records.subcategories)
        self._type, self._kind = types, kinds
        self._group = types[machine] * self._kinds + kinds[product]
        self._slots = offers.slots(records.first, range(records.days), assumed.country)
        self._reference = offers.references(records)
        self._offered = offers.listed(records) * offers.response(
            records.price, self._reference[product], assumed.sensitivity
        )
        self._sold = records.units.sum(1)
        self._sold_by_machine = records.by_machine(records.units)
        n = len(records.products)
        self._known = np.bincount(product, self._sold, n) > 0
        self._popularity = self._known.astype(float)
        self._preference = np.ones(self._types * self._kinds)
        self._taste, self._tastes = np.ones(len(self._sold)), TASTES
        self._week = np.ones((self._types, offers.HOLIDAY + 1))
        self._traffic = np.ones(len(records.machines))

    def round(self) -> float:
        """Move every factor once; how far popularity moved, as the largest change of its log."""
        plain = self._scaled() / self._taste
        weight = 1 / (DISPERSION + self._tastes * plain)
        moved = self._moved(self._group, weight, plain, len(self._preference))
        self._preference *= moved
        # A kind's mean over types belongs to the popularity of its products, a type's mean over
        # kinds to its traffic; left free, traffic and tastes would run away from each other.
        by_type = self._preference.reshape(self._types, -1)
        by_type = by_type / by_type.mean(1, keepdims=True)
        self._popularity *= by_type.mean(0)[self._kind]
        self._preference = (by_type / by_type.mean(0)).ravel()
        plain *= moved[self._group]
        moved = self._moved(self._records.product, weight, plain, len(self._popularity))
        self._popularity *= moved
        self._popularity /= self._popularity[self._known].mean()
        plain *= moved[self._records.product]
        self._tastes = moments.tastes(self._sold, plain, self._tastes, DISPERSION)
        self._taste = (self._tastes * self._sold + DISPERSION) / (self._tastes * plain + DISPERSION)
        machine, n = self._records.machine, len(self._records.machines)
        level = np.bincount(machine, self._taste * plain, n) / np.bincount(machine, plain, n)
        self._taste /= level[machine]
        return float(np.abs(np.log(moved[self._known])).max())

    def found(self) -> Fit:
        """The fit, with what is left as scatter."""
        records = self._records
        taste = self._preference.reshape(self._types, -1)[self._type][:, self._kind]
        taste[records.machine, records.product] *= self._taste
        found = Fit(
            records=records,
            assumed=self._assumed,
            sold=self._known,
            reference=self._reference,
            popularity=self._popularity,
            taste=taste,
            traffic=self._traffic,
            week=self._week[self._type],
            crowd=np.zeros(len(records.machines)),
            dispersion=np.full(len(records.products), DISPERSION),
        )
        expected = found.expected(self._offered, self._slots)
        crowd, dispersion = moments.scatter(records, expected)
        return replace(found, crowd=crowd, dispersion=dispersion)

    def _scaled(self) -> Floats:
        """Expected units of each pair, once traffic and weekdays have moved."""
        records = self._records
        pull = self._popularity[records.product] * self._preference[self._group] * self._taste
        pulls = pull[:, None] * self._offered
        share = pulls / (self._assumed.outside + records.by_machine(pulls))[records.machine]
        by_machine = records.by_machine(share)
        visits = self._week[self._type][:, self._slots]
        self._traffic = self._sold_by_machine.sum(1) / (visits * by_machine).sum(1)
        by_machine *= self._traffic[:, None]
        sold, meant = self._by_slot(self._sold_by_machine), self._by_slot(by_machine)
        self._week = (sold + TRUST) / (meant + TRUST)
        self._week /= self._week[:, : offers.HOLIDAY].mean(1, keepdims=True)
        visits = self._traffic[:, None] * self._week[self._type][:, self._slots]
        found: Floats = (visits[records.machine] * share).sum(1)
        return found

    def _by_slot(self, values: Floats) -> Floats:
        """(types, 8) sums of (machines, days)."""
        found = np.zeros((self._types, offers.HOLIDAY + 1))
        np.add.at(found, (self._type[:, None], self._slots[None, :]), values)
        return found

    def _moved(self, group: Ints, weight: Floats, expected: Floats, n: int) -> Floats:
        """Units sold over units expected of each group, each pair by its weight; 1 without any."""
        sold = np.bincount(group, weight * self._sold, n)
        meant = np.bincount(group, weight * expected, n)
        return np.divide(sold, meant, out=np.ones(n), where=meant > 0)


def _positions(names: tuple[str, ...]) -> tuple[Ints, int]:
    known = sorted(set(names))
    return np.array([known.index(name) for name in names]), len(known)
