"""The plan of one machine: what it holds after a visit, at what prices, and how often to come.

For a time between visits, plan and demand are found in turn: given what a visitor is worth (l), how
many products compete for it (D) and how full the machine is, each product has its best price (equal
adjusted mark-up) and sells as `drain.py` says, and units are placed greedily; from what is placed
follow l, D and fullness. Of all times between visits the one that earns most a day, the fee of the
visit paid, is kept. It costs

    (shortfall against a machine just filled, summed over the cycle, + fee) / days

a day, and a machine is due when the shortfall of the coming day alone is more than that.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from market.vending.demand import UNIT, Demand, Ints
from market.vending.planning.drain import present, units_left
from market.vending.pricing import Offers
from market.vending.rules import VendingRules
from market.vending.world import Floats

#: Days between visits that are considered.
CYCLES = range(1, 15)
#: Rounds after which plan and demand agree.
ROUNDS = 6
#: Products that are considered, in slots of the machine.
CANDIDATES = 3
#: Visits a day that are taken for none.
LEAST_VISITS = 1e-9
#: Units of a product that are considered, at most.
MOST_UNITS = 60


@dataclass(frozen=True, slots=True)
class Plan:
    """The plan of one machine; arrays have one entry per product, in order of the catalogue.

    Attributes:
        products: What it holds.
        units: Units after a visit.
        prices: Prices, whole fen.
        demand: Mean units sold on a mean day in a full machine, were the product fully present.
        cycle: Days between visits.
        profit: Gross profit a day less visit fees, fen.
        due: Shortfall of a mean day beyond which a visit pays, fen.
        scarcity: What one more unit of volume would bring a day, fen.
    """

    products: Ints
    units: Ints
    prices: Ints
    demand: Floats
    cycle: int
    profit: float
    due: float
    scarcity: float


def plan(rules: VendingRules, demand: Demand, site: int, visits: float) -> Plan:
    """The best plan of the machine at a site.

    Args:
        rules: The rules.
        demand: The true demand.
        site: The site.
        visits: Mean visits to the site per day.
    """
    cycles = [_Cycle(rules, demand, site, visits, days).plan() for days in CYCLES]
    return max(cycles, key=lambda found: found.profit)


class _Cycle:
    """The plan for a given time between visits."""

    def __init__(
        self, rules: VendingRules, demand: Demand, site: int, visits: float, days: int
    ) -> None:
        goods = demand.world.catalogue
        self._rules, self._days, self._visits = rules, days, visits
        self._k, self._empty = rules.demand.presence, rules.demand.empty_appeal
        self._fee = 100 * rules.visit_fee
        offers = self._offers(demand, site, np.arange(len(goods)))
        prices = offers.prices_at(0.0)
        worth = offers.attraction(prices) * (prices - goods.cost)
        self._products = np.sort(np.argsort(-worth, kind="stable")[: CANDIDATES * rules.slots])
        self._offers_of = self._offers(demand, site, self._products)
        self._volume = goods.volume[self._products]
        self._life = np.array([goods[i].shelf_life for i in self._products.tolist()])
        self._dispersion = demand.world.dispersion[self._products]

    def plan(self) -> Plan:
        """Plan and demand in turn, from the worth of a machine that is full."""
        offers, days = self._offers_of, self._days
        value, total, fullness = 0.0, 2 * offers.outside, 1.0
        for _ in range(ROUNDS):
            prices = np.floor(offers.prices_at(value))
            pull = offers.attraction(prices)
            appeal = self._empty + (1 - self._empty) * fullness
            rate = self._visits * appeal * pull / total
            # What a unit of volume brings by making the machine look fuller, a day.
            filling = self._visits * value * (1 - self._empty) / self._rules.volume
            units, scarcity = self._placed(prices - offers.cost - value, rate, filling)
            left = units_left(units.astype(float), rate, days, self._k)
            sold = float(np.sum((units - left) * (prices - offers.cost)))
            # What was sold is what attraction drew: its mean follows without another integral.
            drawn = max(self._visits * appeal, LEAST_VISITS)
            total = offers.outside + total * float(np.sum(units - left)) / days / drawn
            fullness = float(np.sum((units + left) * self._volume)) / 2 / self._rules.volume
            value = sold / days / drawn
        taken = np.flatnonzero(units)
        full = self._empty + (1 - self._empty) * float(np.sum(units * self._volume)) / (
            self._rules.volume
        )
        shown = pull * present(units.astype(float), self._k)
        first = self._visits * full / (offers.outside + float(np.sum(shown)))
        best = first * float(np.sum(shown * (prices - offers.cost)))
        return Plan(
            products=self._products[taken],
            units=units[taken],
            prices=prices[taken].astype(np.int64),
            demand=(first * pull)[taken],
            cycle=days,
            profit=(sold - self._fee) / days,
            due=best - (sold - self._fee) / days,
            scarcity=scarcity,
        )

    def _offers(self, demand: Demand, site: int, products: Ints) -> Offers:
        world, goods = demand.world, demand.world.catalogue
        references = goods.reference[products]
        return Offers(
            pull=world.appeal[site, products],
            cost=goods.cost[products].astype(float),
            reference=references.astype(float),
            sensitivity=float(world.sensitivity[site]),
            cap=np.array([float(self._rules.highest_price(each)) for each in references.tolist()]),
            outside=demand.outside / UNIT,
        )

    def _placed(self, margin: Floats, rate: Floats, filling: float) -> tuple[Ints, float]:
        """Units of each candidate: the most valuable next unit per volume, until all is full.

        Args:
            margin: Price less cost and the worth of a visit, of each.
            rate: Demand of each were it fully present.
            filling: Worth of a unit of volume in use, a day.

        Returns:
            The units, and the worth of the last unit of volume, a day.
        """
        counts = np.arange(MOST_UNITS + 1.0)
        left = units_left(counts, rate[:, None], self._days, self._k)
        sold = (counts - left) * margin[:, None] / self._days
        shown = filling * self._volume[:, None] * (counts + left) / 2
        gain = np.diff(sold + shown, axis=1) - self._wasted(rate)
        gain /= self._volume[:, None]
        kept = np.argsort(-gain[:, 0], kind="stable")[: self._rules.slots]
        order = np.argsort(-gain[kept], axis=None, kind="stable")
        rows, gains = kept[order // MOST_UNITS], gain[kept].ravel()[order]
        fits = (np.cumsum(self._volume[rows]) <= self._rules.volume) & (gains > 0)
        units: Ints = np.bincount(rows[fits], minlength=len(rate))
        return units, float(gains[fits].min(initial=np.inf))

    def _wasted(self, rate: Floats) -> Floats:
        """(candidates, units) cost a day of keeping an n-th unit that may expire unsold.

        It does if fewer than n are sold in what is left of a batch's life after a cycle in the
        warehouse; their number is taken for normal.
        """
        from scipy.special import ndtr

        counts = np.arange(1.0, MOST_UNITS + 1)
        life = np.maximum(1, self._life - self._days)
        mean = (rate * life)[:, None] * present(counts, self._k)
        deviation = np.sqrt(mean * self._dispersion[:, None])
        unsold = ndtr((counts - 0.5 - mean) / np.maximum(deviation, 1e-9))
        found: Floats = unsold * (self._offers_of.cost / life)[:, None]
        return found
