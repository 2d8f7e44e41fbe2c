"""Fits the simulator's demand to sales.

The expected sales of product p in machine m on day d are those of `market/vending/demand.py`:

    traffic_m x week x A_mp r_mpd / (outside + sum over what m offers that day of A r)
    A_mp = popularity_p x preference (type, kind) x alignment (type, p) x own_mp
    r    = exp(-b (price / reference - 1)) x presence

Each round moves traffic and weekdays by units sold over units expected, then all attractions at
once (`effects.py`), until nothing moves. Where records tell the stock, presence is known, and a
product that sold out counts with the units that it would have sold in the mean. Scatter is measured
at the end, and the fit repeated with it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from market.vending.calibration import moments, offers
from market.vending.calibration.effects import Effects
from market.vending.calibration.records import Floats, Ints, Records

#: Most rounds, and the change of log attractions at which they end.
ROUNDS, SETTLED = 60, 1e-4
#: Units at which a weekday's own factor counts as much as 1.
TRUST = 20.0
#: Dispersion of sales while nothing better is known, and how often scatter is measured.
DISPERSION, PASSES = 1.5, 2
#: Standard deviations that stock exceeds expected sales by at least where scatter is measured.
AMPLE = 4.0


@dataclass(frozen=True, slots=True)
class Assumed:
    """What sales alone cannot say.

    Attributes:
        outside: Attraction of buying nothing, in products of mean popularity.
        sensitivity: b, the response to price.
        presence: k, where stock is known: n units attract by 1 - exp(-n / k).
        country: Two letters of the country whose public holidays count as such; None for none.
    """

    outside: float = 300.0
    sensitivity: float = 2.0
    presence: float = 3.0
    country: str | None = None


@dataclass(frozen=True, slots=True)
class Fit:
    """A fitted world.

    Attributes:
        records: What it was fitted to.
        assumed: What was taken for granted.
        sold: (products) whether there were sales; of others nothing is known.
        reference: (products) the median price of a unit.
        popularity: (products) what they attract at a site without tastes, with mean 1 over those
            sold.
        taste: (machines, products) the tastes of its type, and its own where it sold them.
        spreads: Standard deviation of the logarithms of popularity and of each family of tastes
            (`effects.Effects.spreads`).
        traffic: (machines) mean visits per day.
        week: (machines, 8) traffic factors of weekdays from Monday, of mean 1, and of holidays.
        crowd: (machines) variance of the crowd.
        dispersion: (products) variance over mean of sales.
        kept: (pairs) units sold over units that would have been, had nothing sold out.
    """

    records: Records
    assumed: Assumed
    sold: NDArray[np.bool_]
    reference: Floats
    popularity: Floats
    taste: Floats
    spreads: Mapping[str, float]
    traffic: Floats
    week: Floats
    crowd: Floats
    dispersion: Floats
    kept: Floats

    @property
    def running(self) -> NDArray[np.bool_]:
        """(machines) whether there were sales; of others nothing is known."""
        found: NDArray[np.bool_] = np.bincount(
            self.records.machine, minlength=len(self.records.machines)
        ).astype(bool)
        return found

    @property
    def attraction(self) -> Floats:
        """(products) popularity times the geometric mean of all sites' tastes.

        It is what sales determine without any prior; how much of it is popularity and how much
        the tastes of just these types and sites is a matter of their spreads.
        """
        found: Floats = self.popularity * np.exp(np.log(self.taste).mean(0))
        return found

    def expected(self, offered: Floats, slots: Ints) -> Floats:
        """(pairs, days) expected units of the pairs that it was fitted to.

        Args:
            offered: (pairs, days) response to price and presence; 0 where a product is not
                offered.
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
        market.vending.calibration.table.CalibrationError: If nobody keeps the holidays of the
            country.
    """
    fitting = _Fitting(records, assumed)
    for _ in range(PASSES):
        for _ in range(ROUNDS):
            if fitting.round() < SETTLED:
                break
        fitting.measure()
    return fitting.found()


class _Fitting:
    """The factors between two rounds."""

    def __init__(self, records: Records, assumed: Assumed) -> None:
        self._records, self._assumed = records, assumed
        self._effects = Effects(records)
        self._slots = offers.slots(records.first, range(records.days), assumed.country)
        self._reference = offers.references(records)
        self._offered = offers.offered(
            records, self._reference, assumed.sensitivity, assumed.presence
        )
        self._sold_out = offers.sold_out(records)
        self._demanded = records.units
        n, machines = len(records.products), len(records.machines)
        self._known = np.bincount(records.product, records.units.sum(1), n) > 0
        self._pull = np.ones(len(records.machine))
        self._week = np.ones((self._effects.types, offers.HOLIDAY + 1))
        self._traffic = np.ones(machines)
        self._crowd, self._dispersion = np.zeros(machines), np.full(n, DISPERSION)

    def round(self) -> float:
        """Move every factor once; how far a log attraction moved at most."""
        records = self._records
        pulls = self._pull[:, None] * self._offered
        # (pairs, days) the share of visits that a product of attraction 1 would have.
        share = self._offered / (self._assumed.outside + records.by_machine(pulls))[records.machine]
        self._visited(records.by_machine(self._pull[:, None] * share))
        expected = self._visits()[records.machine] * share
        dispersion = self._dispersion[records.product]
        if self._sold_out.any():
            self._demanded = moments.uncensored(
                records.units, self._sold_out, self._pull[:, None] * expected, dispersion
            )
        moved = self._effects.step(self._demanded.sum(1), expected.sum(1), dispersion)
        logs = self._popularity()[records.product]
        self._pull = np.exp(logs + self._effects.tastes()[records.machine, records.product])
        return moved

    def measure(self) -> None:
        """Measure what is left as scatter."""
        records, expected = self._records, self.found().expected(self._offered, self._slots)
        if records.stock is not None:
            # Days on which stock hardly limits sales; chosen by what was known in the morning.
            spread = np.sqrt(self._dispersion[records.product][:, None] * expected)
            ample = records.stock > expected + AMPLE * spread
            records, expected = replace(records, units=records.units * ample), expected * ample
        self._crowd, self._dispersion = moments.scatter(records, expected)

    def found(self) -> Fit:
        """The fit."""
        return Fit(
            records=self._records,
            assumed=self._assumed,
            sold=self._known,
            reference=self._reference,
            popularity=np.exp(self._popularity()) * self._known,
            taste=np.exp(self._effects.tastes()),
            spreads=self._effects.spreads,
            traffic=self._traffic,
            week=self._week[self._effects.type],
            crowd=self._crowd,
            dispersion=self._dispersion,
            kept=self._records.units.sum(1) / self._demanded.sum(1),
        )

    def _popularity(self) -> Floats:
        """(products) log popularity; that of those sold has mean 1."""
        logs = self._effects.logs["popularity"]
        found: Floats = logs - np.log(np.exp(logs[self._known]).mean())
        return found

    def _visits(self) -> Floats:
        """(machines, days) mean visits."""
        found: Floats = self._traffic[:, None] * self._week[self._effects.type][:, self._slots]
        return found

    def _visited(self, share: Floats) -> None:
        """Move traffic and weekdays, given the (machines, days) share of visits that buy."""
        demanded = self._records.by_machine(self._demanded)
        visits = self._week[self._effects.type][:, self._slots]
        meant = (visits * share).sum(1)
        self._traffic = np.divide(demanded.sum(1), meant, out=np.zeros_like(meant), where=meant > 0)
        meant_by_slot = self._by_slot(self._traffic[:, None] * share)
        self._week = (self._by_slot(demanded) + TRUST) / (meant_by_slot + TRUST)
        level = self._week[:, : offers.HOLIDAY].mean(1)
        self._week /= level[:, None]
        self._traffic *= level[self._effects.type]

    def _by_slot(self, values: Floats) -> Floats:
        """(types, 8) sums of (machines, days)."""
        found = np.zeros((self._effects.types, offers.HOLIDAY + 1))
        np.add.at(found, (self._effects.type[:, None], self._slots[None, :]), values)
        return found
