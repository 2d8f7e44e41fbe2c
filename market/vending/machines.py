"""The machines of one operator: slots, volume, prices and what stands on the shelves."""

from __future__ import annotations

import numpy as np

from market.vending.batches import Batch, Stock
from market.vending.demand import Ints, Shelf
from market.vending.rules import VendingRules
from market.vending.world import World


class Machines:
    """One machine per site. Arrays are (sites, products).

    A slot is taken by listing a product and freed by delisting it: what sold out keeps its slot and
    its price.

    Attributes:
        stocks: The batches in each machine.
        units: Units on the shelves, expired ones included.
        prices: Posted prices, fen; 0 where a product is not listed.
        used: Volume units in use, per machine.
        listed: Slots in use, per machine.
        touched: Machines visited today.
    """

    def __init__(self, rules: VendingRules, world: World) -> None:
        shape = (len(world.machines), len(world.catalogue))
        self._volume, self._slots, self._capacity = (
            world.catalogue.volume,
            rules.slots,
            rules.volume,
        )
        self.stocks = [Stock() for _ in world.machines]
        self.units = np.zeros(shape, np.int64)
        self.prices = np.zeros(shape, np.int64)
        self.used = [0] * len(world.machines)
        self.listed = [0] * len(world.machines)
        self.touched: set[int] = set()

    def price(self, machine: int, product: int) -> int | None:
        """The posted price of a product, fen; None where it is not listed."""
        return int(self.prices[machine, product]) or None

    def products(self, machine: int) -> list[int]:
        """The products listed in a machine, in the order of the catalogue."""
        found: list[int] = np.flatnonzero(self.prices[machine]).tolist()
        return found

    def free_slots(self, machine: int) -> int:
        """Slots that hold no product."""
        return self._slots - self.listed[machine]

    def free_volume(self, machine: int) -> int:
        """Volume units that are free."""
        return self._capacity - self.used[machine]

    def list_at(self, machine: int, product: int, price: int) -> None:
        """List a product, or change its price."""
        if not self.prices[machine, product]:
            self.listed[machine] += 1
        self.prices[machine, product] = price

    def put(self, machine: int, product: int, batches: list[Batch]) -> None:
        """Put units of a listed product on the shelf."""
        for batch in batches:
            self.stocks[machine].add(product, batch)
        self._changed(machine, product, sum(units for _, units in batches))

    def take(
        self, machine: int, product: int, units: int, fresh_on: int | None = None
    ) -> list[Batch]:
        """Take units from the shelf, the first to expire first, as `Stock.take`."""
        batches = self.stocks[machine].take(product, units, fresh_on)
        self._changed(machine, product, -units)
        return batches

    def delist(self, machine: int, product: int) -> list[Batch]:
        """Clear the shelf of a listed product and free its slot; what was on it."""
        batches = self.take(machine, product, self.stocks[machine].units(product))
        self.prices[machine, product] = 0
        self.listed[machine] -= 1
        return batches

    def shelf(self) -> Shelf:
        """What customers see."""
        sites, products = np.nonzero(self.units)
        return Shelf(
            sites=sites,
            products=products,
            units=self.units[sites, products],
            prices=self.prices[sites, products],
            fullness=np.array(self.used) / self._capacity,
        )

    def volumes(self) -> Ints:
        """(s) volume units in use, counted anew from the shelves."""
        found: Ints = self.units @ self._volume
        return found

    def _changed(self, machine: int, product: int, units: int) -> None:
        self.units[machine, product] += units
        self.used[machine] += units * int(self._volume[product])
