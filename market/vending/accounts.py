"""The books of one operator: a ledger of money and units, and the days it closed.

Money may run below zero: fees, rent, visits and fines are due whatever there is. Each evening
three accounts of the same thing are held against each other: the ledger's balances, its
movements, and

    cash = start - orders - rent - fixed - visits - fines + revenue
    growth of net assets = revenue - cost of goods - write-offs - rent - fixed - visits - fines
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from market.money import ConservationError, Ledger

MONEY = "money"
#: Where money and units of the operator are.
CASH, UNDER_WAY, WAREHOUSE, SHELVES = "cash", "under way", "warehouse", "shelves"
#: The world outside.
OWNER, SUPPLIER, CREDITORS, CUSTOMERS, SCRAP = (
    "#owner", "#supplier", "#creditors", "#customers", "#scrap",
)  # fmt: skip
#: What money is paid for.
COSTS = ("orders", "rent", "fixed", "visits", "fines")


@dataclass(frozen=True, slots=True)
class Closing:
    """The accounts of one day, money in fen.

    Attributes:
        day: The day.
        revenue: Taken from customers.
        cost_of_goods: Cost of the units sold; expired ones were written off before.
        write_offs: Cost of units that expired or were discarded unexpired.
        orders: Paid to the supplier.
        rent: Warehouse rent.
        fixed: Fixed fee.
        visits: Visit fees.
        fines: Fines for expired units sold.
        cash: Money in the evening.
        net_assets: Cash and unexpired units at cost, wherever they are.
    """

    day: int
    revenue: int
    cost_of_goods: int
    write_offs: int
    orders: int
    rent: int
    fixed: int
    visits: int
    fines: int
    cash: int
    net_assets: int

    @property
    def profit(self) -> int:
        """Growth of net assets in the day."""
        return (
            self.gross_profit - self.write_offs - self.rent - self.fixed - self.visits - self.fines
        )

    @property
    def gross_profit(self) -> int:
        """Revenue less cost of goods."""
        return self.revenue - self.cost_of_goods


class Accounts:
    """Money, units by place, and the value of what is unexpired.

    Args:
        start: Money at the start, fen.
    """

    def __init__(self, start: int) -> None:
        self._ledger = Ledger((OWNER, SUPPLIER, CREDITORS, CUSTOMERS, SCRAP), overdraft=(MONEY,))
        self._ledger.move(MONEY, OWNER, CASH, start, "start")
        self._start = start
        self._totals = dict.fromkeys((*COSTS, "revenue"), 0)
        self._today = dict.fromkeys((*COSTS, "revenue", "cost of goods", "write-offs"), 0)
        self.inventory = 0
        """Unexpired units at cost, on shelves, in the warehouse and under way, fen."""
        self.closings: list[Closing] = []

    @property
    def cash(self) -> int:
        """Money, fen."""
        return self._ledger.balance(CASH, MONEY)

    @property
    def net_assets(self) -> int:
        """Cash and unexpired units at cost, fen."""
        return self.cash + self.inventory

    def pay(self, cause: str, amount: int) -> None:
        """Pay one of `COSTS`."""
        target = SUPPLIER if cause == "orders" else CREDITORS
        self._ledger.move(MONEY, CASH, target, amount, cause)
        self._totals[cause] += amount
        self._today[cause] += amount
        if cause == "orders":
            self.inventory += amount

    def earn(self, revenue: int, cost_of_goods: int) -> None:
        """Take money for units that cost so much."""
        self._ledger.move(MONEY, CUSTOMERS, CASH, revenue, "revenue")
        self._totals["revenue"] += revenue
        self._today["revenue"] += revenue
        self._today["cost of goods"] += cost_of_goods
        self.inventory -= cost_of_goods

    def write_off(self, cost: int) -> None:
        """Units of this cost are worth nothing from now on."""
        self._today["write-offs"] += cost
        self.inventory -= cost

    def move(self, product: str, source: str, target: str, units: int, cause: str) -> None:
        """Move units of a product."""
        self._ledger.move(product, source, target, units, cause)

    def expect(self, place: str, units: Iterable[tuple[str, int]]) -> None:
        """Hold units of products that lie at a place against the ledger.

        Raises:
            market.money.ConservationError: If they differ.
        """
        self._ledger.expect_all(place, units)

    def close(self, day: int) -> Closing:
        """Check the books and close the day.

        Raises:
            market.money.ConservationError: If they contradict each other.
        """
        self._ledger.settle()
        totals, today = self._totals, self._today
        paid = sum(totals[cause] for cause in COSTS)
        self._ledger.expect(CASH, MONEY, self._start - paid + totals["revenue"])
        closing = Closing(
            day=day,
            revenue=today["revenue"],
            cost_of_goods=today["cost of goods"],
            write_offs=today["write-offs"],
            orders=today["orders"],
            rent=today["rent"],
            fixed=today["fixed"],
            visits=today["visits"],
            fines=today["fines"],
            cash=self.cash,
            net_assets=self.net_assets,
        )
        before = self.closings[-1].net_assets if self.closings else self._start
        if closing.net_assets - before != closing.profit:
            raise ConservationError(
                f"day {day}: net assets grew by {closing.net_assets - before}, but the profit is "
                f"{closing.profit}"
            )
        self.closings.append(closing)
        self._today = dict.fromkeys(today, 0)
        return closing
