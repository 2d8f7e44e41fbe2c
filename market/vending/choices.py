"""How good an operator's choices were in expectation: products, prices, and who has which.

    assortment         expected gross profit of the stocked set over that of the best set of as
                       many products, at reference prices and full presence
    pricing regret     what the best price of each stocked product, all others fixed, would have
                       added to its machine's expected gross profit, summed over the products
    reassignment gap   what permuting the stocked sets between machines would have added, as a
                       share; an assignment problem, posed every 30 days

Rivals count where prices are judged, since prices answer to them, and nowhere else. All is said of
visits that are expected: the day's crowd is luck. Sums run in a fixed order, and figures are
rounded where they are told, so that no processor's last bit is in a record.
"""

from __future__ import annotations

import numpy as np

from market.vending import assortment
from market.vending.demand import MOST, UNIT, Demand, Ints, Shelf
from market.vending.distributions import PLACES
from market.vending.rules import VendingRules
from market.vending.world import Floats

#: Days on which the stocked sets are permuted.
CHECKPOINTS = (30, 60, 90, 120, 150, 180)
#: Steps to a best price: each about doubles the digits that are right.
STEPS = 6
#: Decimal places of what is told.
DECIMALS = 6
#: Why a figure of what was stocked is undefined.
NOTHING = "nothing was on a shelf"


class Choices:
    """Running sums over the days of one operator.

    Args:
        rules: The rules.
        demand: The true demand.
    """

    def __init__(self, rules: VendingRules, demand: Demand) -> None:
        world = demand.world
        self._demand, self._cap = demand, rules.price_cap
        self._pull = np.minimum(world.appeal, MOST)
        self._margin = (world.catalogue.reference - world.catalogue.cost).astype(float)
        self._outside = demand.outside / UNIT
        self._visits = np.round(world.traffic * world.week.sum(1) / 7, PLACES)
        self._best: dict[tuple[int, int], float] = {}
        self._machine_days = self._stocked_days = self._unjudged_days = 0
        self._assortment = self._regret = 0.0
        self._gaps: list[float] = []
        self._checked = 0
        self._no_gap = NOTHING

    def add(self, day: int, shelf: Shelf, attraction: Ints, totals: Ints, traffic: Floats) -> None:
        """Take in a day.

        Args:
            day: The day.
            shelf: What was on the shelves when sales began.
            attraction: Attraction of each product on the shelf, in units of 1e-9.
            totals: (s) sums of all attractions, outside and rivals' included, in these units.
            traffic: (s) expected visits.
        """
        shares = self._shares(shelf)
        self._machine_days += len(shares)
        self._stocked_days += len(set(shelf.sites.tolist()))
        self._unjudged_days += shares.count(None)
        self._assortment += sum(share for share in shares if share is not None)
        if len(shelf.sites):
            regret = pricing_regret(self._demand, self._cap, shelf, attraction, totals)
            visits = traffic * self._demand.drawn_by_fullness(shelf.fullness)
            self._regret += sum((visits * regret).tolist())
        if day in CHECKPOINTS:
            self._checked += 1
            gap = self._gap(shelf)
            self._gaps += [] if gap is None else [gap]
            if len(shelf.sites):
                self._no_gap = "nothing that was on a shelf was expected to earn anything"

    @property
    def assortment(self) -> float | str:
        """Mean over machines and days; an empty machine scores 0.

        A stocked one is left out where no set of the size earns anything; why there is no mean
        where that is so of all.
        """
        if 0 < self._stocked_days == self._unjudged_days:
            return "no set of as many products earns anything"
        return round(self._assortment / (self._machine_days - self._unjudged_days), DECIMALS)

    @property
    def regret(self) -> float | str:
        """Mean per day and machine with anything in it, CNY; why not where there is none."""
        if not self._stocked_days:
            return NOTHING
        return round(self._regret / 100 / self._stocked_days, DECIMALS)

    @property
    def gap(self) -> float | str:
        """Mean over the checkpoints with stock that earns; why not where there is none."""
        if not self._checked:
            return f"the episode ends before day {CHECKPOINTS[0]}"
        if not self._gaps:
            return self._no_gap
        return round(sum(self._gaps) / len(self._gaps), DECIMALS)

    def _shares(self, shelf: Shelf) -> list[float | None]:
        """(s) the worth of each stocked set over that of the best of its size.

        0 where a machine is empty, None where the best earns nothing.
        """
        found: list[float | None] = [0.0] * len(self._visits)
        worths = self._worths(shelf, shelf.sites)
        sizes = np.bincount(shelf.sites, minlength=len(found)).tolist()
        for site, size in enumerate(sizes):
            if size:
                if (site, size) not in self._best:
                    self._best[site, size] = assortment.best(
                        self._pull[site], self._margin, self._outside, size
                    ).value
                best = self._best[site, size]
                found[site] = float(worths[site]) / best if best > 0 else None
        return found

    def _worths(self, shelf: Shelf, sites: Ints | int) -> Floats:
        """(s) gross profit per visit of each machine's stocked set, fen, were it at some sites."""
        pull, n = self._pull[sites, shelf.products], len(self._visits)
        profit = np.bincount(shelf.sites, pull * self._margin[shelf.products], n)
        worths: Floats = profit / (self._outside + np.bincount(shelf.sites, pull, n))
        return worths

    def _gap(self, shelf: Shelf) -> float | None:
        """The share that the best permutation adds; None where what is stocked earns nothing."""
        from scipy.optimize import linear_sum_assignment

        worth = np.array([self._worths(shelf, site) for site in range(len(self._visits))])
        profit = worth * self._visits[:, None]
        now = sum(profit.diagonal().tolist())
        if now <= 0:
            return None
        rows, columns = linear_sum_assignment(profit, maximize=True)
        return max(0.0, float(sum(profit[rows, columns].tolist()) / now - 1))


def pricing_regret(
    demand: Demand, cap: float, shelf: Shelf, attraction: Ints, totals: Ints
) -> Floats:
    """(s) expected gross profit per visit that best single prices would add, summed, fen.

    A product at price p attracts A(p); with R the profit and Q the attraction of everything else,
    its machine's profit per visit is (R + A(p) (p - cost)) / (Q + A(p)). Where that is l, the
    best price for l is cost + reference / b + l (Dinkelbach's step), within what is allowed.

    Args:
        demand: The true demand.
        cap: Highest price, in multiples of the reference.
        shelf: What is on the shelves.
        attraction: Attraction of each product on the shelf, in units of 1e-9.
        totals: (s) sums of all attractions at the sites, in these units.
    """
    goods, sites, products = demand.world.catalogue, shelf.sites, shelf.products
    n = len(demand.world.machines)
    cost, reference = goods.cost[products], goods.reference[products]
    pull = attraction / UNIT
    profit = np.bincount(sites, pull * (shelf.prices - cost), n)[sites]
    total = (totals / UNIT)[sites]
    others, others_pull = profit - pull * (shelf.prices - cost), total - pull
    now = reached = profit / total
    full = demand.world.appeal[sites, products] * demand.presence(shelf.units)
    sensitivity = demand.world.sensitivity[sites]
    with np.errstate(divide="ignore"):
        markup = reference / sensitivity
    for _ in range(STEPS):
        price = np.clip(cost + markup + reached, 1, reference * cap)
        then = np.minimum(full * demand.response(sites, products, price), MOST)
        reached = np.maximum(reached, (others + then * (price - cost)) / (others_pull + then))
    gains = np.bincount(sites, reached - now, n)
    return gains.astype(float)
