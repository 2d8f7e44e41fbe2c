"""What the planner does each morning: visits, loads and orders, from the stock that it sees.

    visit   a machine whose shortfall of today, against what the warehouse can fill it to, is above
            what a day of its best cycle costs (`plan.py`), and whose refill gains more than the fee
            until the next visit or the end
    load    up to the plan, the machine that gains most first where there is too little for all
    order   up to the newsvendor quantile: every machine full, and demand over the lead time at
            the quantile u / (u + rent), where u is what a unit more on a shelf would bring a day

It remembers nothing: what it does follows from the plans, the day and the stock.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from market.environment import Json
from market.vending.demand import Ints
from market.vending.planning.drain import present, units_left
from market.vending.planning.knowledge import Knowledge
from market.vending.planning.plan import Plan, plan
from market.vending.world import Floats

#: The arguments of a view, and one of its rows.
Shown = tuple[Mapping[str, Json], Mapping[str, Json]]


@dataclass(frozen=True, slots=True)
class Stock:
    """What a morning's views show. Arrays are in the order of machines (s) and catalogue (p).

    Attributes:
        shelves: (s, p) units on the shelves that are not expired.
        warehouse: (p) units in the warehouse that are not expired.
        under_way: (p) units ordered and not delivered.
        cleared: (s) machines in which something expired, which are visited in any case.
    """

    shelves: Ints
    warehouse: Ints
    under_way: Ints
    cleared: frozenset[int]


@dataclass(frozen=True, slots=True)
class Load:
    """Units of a product for a machine, both as positions, and its price in fen."""

    machine: int
    product: int
    units: int
    price: int


class Control:
    """The plans of all machines, and what follows from them on a morning."""

    def __init__(self, knowledge: Knowledge) -> None:
        self._knows = knowledge
        rules, demand = knowledge.rules, knowledge.demand
        visits = knowledge.usual_visits.tolist()
        self.plans = [plan(rules, demand, site, mean) for site, mean in enumerate(visits)]
        self._goal = self._ordered_up_to()

    def seen(
        self,
        machines: Sequence[str],
        products: Mapping[str, int],
        shelves: Iterable[Shown],
        warehouse: Iterable[Shown],
        orders: Iterable[Shown],
    ) -> Stock:
        """What views show, as it is once products that expired are cleared from machines.

        Args:
            machines: All machines.
            products: Positions in the catalogue.
            shelves: Arguments and rows of `view_machine`.
            warehouse: Those of `view_warehouse`.
            orders: Those of `view_orders`.
        """
        place = {name: i for i, name in enumerate(machines)}
        on_shelves = np.zeros((len(machines), len(products)), np.int64)
        stored, under_way = np.zeros((2, len(products)), np.int64)
        cleared = set()
        for made, row in shelves:
            machine, product = place[made["machine"]], products[row["product"]]
            if row["expired"]:
                cleared.add(machine)
                stored[product] += row["units"] - row["expired"]
            else:
                on_shelves[machine, product] = row["units"]
        for _, row in warehouse:
            stored[products[row["product"]]] += row["units"] - row["expired"]
        for _, row in orders:
            under_way[products[row["product"]]] += row["quantity"]
        return Stock(on_shelves, stored, under_way, frozenset(cleared))

    def loads(self, day: int, today: Mapping[str, Json], stock: Stock) -> list[Load]:
        """What to load this morning.

        Args:
            day: The day.
            today: What is known of it.
            stock: What there is.
        """
        crowding = self._knows.crowding(today).tolist()
        warehouse = stock.warehouse.copy()
        wishes = []
        for machine, its in enumerate(self.plans):
            shelf = stock.shelves[machine, its.products]
            filled = shelf + np.clip(its.units - shelf, 0, warehouse[its.products])
            gain = self._profits(its, filled) - self._profits(its, shelf)
            due = machine in stock.cleared
            if due or self._pays(its, shelf, filled, float(gain.sum()), crowding[machine], day):
                wishes.append((float(gain.sum()) * crowding[machine], machine))
        found: list[Load] = []
        for _, machine in sorted(wishes, reverse=True):
            its = self.plans[machine]
            lacking = its.units - stock.shelves[machine, its.products]
            units = np.clip(lacking, 0, warehouse[its.products])
            warehouse[its.products] -= units
            rows = zip(its.products.tolist(), units.tolist(), its.prices.tolist(), strict=True)
            found += [Load(machine, product, n, price) for product, n, price in rows if n]
        return found

    def orders(self, stock: Stock) -> list[tuple[int, int]]:
        """(product, units) to order, those that earn most for their money first."""
        there = stock.shelves.sum(axis=0) + stock.warehouse + stock.under_way
        lacking = np.maximum(0, self._goal - there)
        worth = np.argsort(-self._worth, kind="stable").tolist()
        return [(product, int(lacking[product])) for product in worth if lacking[product]]

    def _pays(
        self, its: Plan, shelf: Ints, filled: Ints, gain: float, crowding: float, day: int
    ) -> bool:
        """Whether a visit today is due, and worth its fee until the next one or the end."""
        days = min(its.cycle, self._knows.rules.days - day + 1)
        k = self._knows.rules.demand.presence
        margin = its.prices - self._knows.demand.world.catalogue.cost[its.products]
        more = [
            float(np.sum((start - units_left(start.astype(float), its.demand, days, k)) * margin))
            for start in (shelf, filled)
        ]
        fee = 100 * self._knows.rules.visit_fee
        return gain * crowding > its.due and more[1] - more[0] > fee

    def _profits(self, its: Plan, units: Ints) -> Floats:
        """Expected gross profit of each product on a mean day, fen."""
        world, rules = self._knows.demand.world, self._knows.rules
        volume = world.catalogue.volume[its.products]
        empty, k = rules.demand.empty_appeal, rules.demand.presence
        fullness = np.sum(units * volume) / max(1, np.sum(its.units * volume))
        drawn = (empty + (1 - empty) * fullness) * its.demand * present(units.astype(float), k)
        margin = its.prices - world.catalogue.cost[its.products]
        found: Floats = drawn * margin
        return found

    def _ordered_up_to(self) -> Ints:
        """(p) units on shelves, in the warehouse and under way that orders restore."""
        from scipy.special import ndtri

        knows, world = self._knows, self._knows.demand.world
        goods, k = world.catalogue, knows.rules.demand.presence
        full, mean, spread, scarcity, worth = np.zeros((5, len(goods)))
        lead = knows.rules.lead_time
        times, chances = np.array(lead.values), np.array(lead.probabilities)
        days = 1 + float(times @ chances)
        uncertain = float(times**2 @ chances) - (days - 1) ** 2
        for machine, its in enumerate(self.plans):
            of = its.products
            units = its.units.astype(float)
            sold = (units - units_left(units, its.demand, its.cycle, k)) / its.cycle
            full[of] += its.units
            mean[of] += sold * days
            spread[of] += sold * days * world.dispersion[of]
            spread[of] += sold**2 * (days * world.crowds[machine] + uncertain)
            scarcity[of] = np.maximum(scarcity[of], its.scarcity * goods.volume[of])
            worth[of] += sold * (its.prices - goods.cost[of])
        self._worth = worth / np.maximum(full * goods.cost, 1)
        level = scarcity / np.maximum(scarcity + 100 * knows.rules.rent, 1e-9)
        safety = ndtri(np.clip(level, 0.5, 0.995)) * np.sqrt(spread)
        goal: Ints = np.ceil(full + mean + safety).astype(np.int64)
        return goal
