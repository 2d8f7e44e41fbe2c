"""One operator: warehouse, machines, orders, books, notebook, and the fixed part of a day.

morning   deliveries arrive; batches that reach their age expire; fixed fee and rent
...       the seat acts (`mutations.py`)
evening   sales settle, with fines for what had expired; visit fees settle; the books close
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass

from market.environment import Event
from market.money import ConservationError
from market.vending import accounts, events
from market.vending.accounts import Accounts, Closing
from market.vending.batches import Stock
from market.vending.demand import Ints, Shelf
from market.vending.machines import Machines
from market.vending.money import fen
from market.vending.orders import Order, Orders
from market.vending.rules import VendingRules
from market.vending.world import World

#: Most days that views look back.
LONGEST_WINDOW = 30


@dataclass(frozen=True, slots=True)
class Sale:
    """What one product sold in one machine on one day.

    Attributes:
        product: The product, as a position in the catalogue.
        units: Units sold, at least 1.
        revenue: Money taken, fen.
        cost: Cost of the unexpired ones, fen.
    """

    product: int
    units: int
    revenue: int
    cost: int


#: The sales of a day, by machine.
SalesDay = dict[int, list[Sale]]


@dataclass(slots=True)
class Counts:
    """Running counts of an operator.

    Attributes:
        received: Units delivered.
        wasted: Units that expired or were discarded unexpired.
        sold: Units sold.
        calls: Tool calls.
        refused: Items and calls that were refused.
    """

    received: int = 0
    wasted: int = 0
    sold: int = 0
    calls: int = 0
    refused: int = 0


class Operator:
    """The business of one seat.

    Args:
        seat: The seat.
        rules: The rules.
        world: The world.
        luck: Seed of luck.
    """

    def __init__(self, seat: str, rules: VendingRules, world: World, luck: int) -> None:
        self.seat, self.rules, self.world = seat, rules, world
        self.accounts = Accounts(fen(rules.cash))
        self.orders = Orders(rules, luck)
        self.warehouse = Stock()
        self.warehouse_units = 0
        self.machines = Machines(rules, world)
        self.notes = ""
        self.counts = Counts()
        self.day, self.turn = 0, 0
        self.arrived: list[Order] = []
        self.sales: deque[SalesDay] = deque(maxlen=LONGEST_WINDOW)
        self.events: list[Event] = []
        self._expiring: dict[int, set[int]] = {}
        self._before = Counts()

    def code(self, product: int) -> str:
        """The code of a product."""
        return self.world.catalogue.codes[product]

    def cost(self, product: int, units: int) -> int:
        """What units of a product cost, fen."""
        return self.world.catalogue[product].cost * units

    def waste(self, product: int, units: int) -> None:
        """Write off units that were good until now."""
        self.counts.wasted += units
        self.accounts.write_off(self.cost(product, units))

    def morning(self, day: int) -> None:
        """Begin a day."""
        self.day, self.turn = day, 0
        self.arrived = self.orders.arrive(day)
        for order in self.arrived:
            self._receive(order)
        for product in sorted(self._expiring.pop(day, ())):
            self._expire(product)
        self.accounts.pay("fixed", fen(self.rules.fixed_fee))
        self.accounts.pay("rent", fen(self.rules.rent) * self.warehouse_units)

    def evening(self, shelf: Shelf, sold: Ints) -> Closing:
        """Settle a day.

        Args:
            shelf: What was on the shelves.
            sold: Units sold of each.
        """
        self.sales.append(self._sell(shelf, sold))
        fee = fen(self.rules.visit_fee)
        for machine in sorted(self.machines.touched):
            self.accounts.pay("visits", fee)
            code = self.world.machines[machine]
            self.events.append(events.Visited(self.day, self.turn, self.seat, code, fee))
        self._check()
        closing = self.accounts.close(self.day)
        self._report(closing)
        self.machines.touched = set()
        return closing

    def _receive(self, order: Order) -> None:
        life = self.world.catalogue[order.product].shelf_life
        expires, code = self.day + life, self.code(order.product)
        self.warehouse.add(order.product, (expires, order.units))
        self.warehouse_units += order.units
        self._expiring.setdefault(expires, set()).add(order.product)
        self.counts.received += order.units
        self.accounts.move(code, accounts.UNDER_WAY, accounts.WAREHOUSE, order.units, "delivery")
        late = self.day - order.promised
        self.events.append(
            events.Delivered(
                self.day, 0, self.seat, order.number, code, order.units, late, expires
            )
        )  # fmt: skip

    def _expire(self, product: int) -> None:
        places: list[tuple[str | None, Stock]] = [(None, self.warehouse)]
        places += zip(self.world.machines, self.machines.stocks, strict=True)
        for machine, stock in places:
            units = stock.expiring(product, self.day)
            if units:
                self.waste(product, units)
                row = (machine, self.code(product), units, self.cost(product, units))
                self.events.append(events.Expired(self.day, 0, self.seat, *row))

    def _sell(self, shelf: Shelf, sold: Ints) -> SalesDay:
        day: SalesDay = {}
        by_product: dict[int, int] = {}
        revenue = cost = 0
        fine = fen(self.rules.fine)
        chosen = sold.nonzero()[0]
        columns = (shelf.sites, shelf.products, shelf.prices, sold)
        rows = zip(*(column[chosen].tolist() for column in columns), strict=True)
        for machine, product, price, units in rows:
            batches = self.machines.take(machine, product, units)
            good = sum(n for expires, n in batches if expires > self.day)
            sale = Sale(product, units, price * units, self.cost(product, good))
            day.setdefault(machine, []).append(sale)
            by_product[product] = by_product.get(product, 0) + units
            revenue += sale.revenue
            cost += sale.cost
            if good < units:
                due = fine * (units - good)
                self.accounts.pay("fines", due)
                row = (self.world.machines[machine], self.code(product), units - good, due)
                self.events.append(events.Fined(self.day, self.turn, self.seat, *row))
        for product, units in by_product.items():
            self.counts.sold += units
            self.accounts.move(
                self.code(product), accounts.SHELVES, accounts.CUSTOMERS, units, "sale"
            )
        self.accounts.earn(revenue, cost)
        return day

    def _check(self) -> None:
        """Hold the stock against the ledger, and the machines against their volume.

        Raises:
            market.money.ConservationError: If they differ.
        """
        codes, stored = self.world.catalogue.codes, self.warehouse.totals()
        self.accounts.expect(
            accounts.WAREHOUSE, ((codes[product], units) for product, units in stored.items())
        )
        on_shelves = zip(codes, self.machines.units.sum(0).tolist(), strict=True)
        self.accounts.expect(accounts.SHELVES, on_shelves)
        volumes = self.machines.volumes().tolist()
        if sum(stored.values()) != self.warehouse_units or volumes != self.machines.used:
            raise ConservationError(f"{self.seat}: stock and its counts differ")
        if max(volumes) > self.rules.volume:
            raise ConservationError(f"{self.seat}: a machine is fuller than full")

    def _report(self, closing: Closing) -> None:
        before, now = self._before, self.counts
        self._before = Counts(now.received, now.wasted, now.sold, now.calls, now.refused)
        self.events.append(
            events.DayClosed(
                self.day,
                self.turn,
                self.seat,
                revenue=closing.revenue,
                cost_of_goods=closing.cost_of_goods,
                write_offs=closing.write_offs,
                orders=closing.orders,
                rent=closing.rent,
                fixed=closing.fixed,
                visits=closing.visits,
                fines=closing.fines,
                profit=closing.profit,
                cash=closing.cash,
                net_assets=closing.net_assets,
                shelf_units=int(self.machines.units.sum()),
                warehouse_units=self.warehouse_units,
                units_under_way=self.orders.units_under_way,
                sold=now.sold - before.sold,
                wasted=now.wasted - before.wasted,
                calls=now.calls - before.calls,
                refused=now.refused - before.refused,
            )
        )
