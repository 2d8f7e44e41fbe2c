"""Orders under way: paid at once, promised soon, delivered when the supplier likes."""

from __future__ import annotations

from dataclasses import dataclass

from market import rng
from market.vending.rules import VendingRules


@dataclass(frozen=True, slots=True)
class Order:
    """One order line.

    Attributes:
        number: Its number among the operator's, from 1.
        product: The product, as a position in the catalogue.
        units: Units ordered.
        cost: What was paid, fen.
        day: The day of ordering.
        promised: The day on which it should arrive.
        arrives: The day on which it will; hidden until then.
    """

    number: int
    product: int
    units: int
    cost: int
    day: int
    promised: int
    arrives: int


class Orders:
    """The orders of one operator.

    Args:
        rules: The rules.
        seed: Seed of luck.
    """

    def __init__(self, rules: VendingRules, seed: int) -> None:
        self._rules = rules
        self._seed = seed
        self._due: dict[int, list[Order]] = {}
        self.placed: list[Order] = []
        self.units_under_way = 0
        self.cost_under_way = 0

    def place(self, product: int, code: str, units: int, cost: int, day: int) -> Order:
        """Order units of a product; its time depends on seed, day and product alone."""
        uniform = rng.draws(self._seed, "lead time", day, code).uniform()
        order = Order(
            number=len(self.placed) + 1,
            product=product,
            units=units,
            cost=cost,
            day=day,
            promised=day + self._rules.lead_promised,
            arrives=day + int(self._rules.lead_time.at(uniform)),
        )
        self.placed.append(order)
        self._due.setdefault(order.arrives, []).append(order)
        self.units_under_way += units
        self.cost_under_way += cost
        return order

    def arrive(self, day: int) -> list[Order]:
        """The orders that arrive on a day, in the order of placing; called once a day."""
        arrived = self._due.pop(day, [])
        self.units_under_way -= sum(order.units for order in arrived)
        self.cost_under_way -= sum(order.cost for order in arrived)
        return arrived

    def waiting(self) -> list[Order]:
        """The orders that have not been delivered, the latest first."""
        found = [order for orders in self._due.values() for order in orders]
        return sorted(found, key=lambda order: -order.number)

    def under_way(self, product: int) -> int:
        """Units of a product that are under way."""
        return sum(
            order.units
            for orders in self._due.values()
            for order in orders
            if order.product == product
        )
