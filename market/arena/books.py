"""The books of the retailers (law 3): funds, stock at average cost, and what each step brought.

Every movement also goes through a double-entry ledger, and after each step the two are compared.
The supplier, the buyers, the owners, the costs and the salvage dealer are outside accounts.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import NamedTuple

from market.arena.fields import exact
from market.arena.rules import Item, Salvage
from market.money import Ledger

MONEY = "money"
SUPPLIER, BUYERS, OWNERS, COSTS, DEALER, DEFAULT, CARRIER = (
    "#supplier", "#buyers", "#owners", "#costs", "#dealer", "#default", "#carrier",
)  # fmt: skip


@dataclass(slots=True)
class Tally:
    """What one step brought to one retailer; the fields are those of `metrics.SeatStep`."""

    revenue: int = 0
    cost_of_goods: int = 0
    holding: int = 0
    fixed: int = 0
    write_down: int = 0
    liquidated: int = 0
    shortfall: int = 0
    sold: int = 0
    won: int = 0
    spend: int = 0
    won_value: int = 0
    bid_units: int = 0
    bid_value: int = 0
    attempts: int = 0
    failed: int = 0
    asked: int = 0
    match_sum: int = 0
    match_buyers: int = 0

    @property
    def profit(self) -> int:
        """Profit of the step. A shortfall was due but never paid."""
        return (
            self.revenue - self.cost_of_goods - self.holding - self.fixed
            + self.liquidated + self.shortfall - self.write_down
        )  # fmt: skip


@dataclass(slots=True)
class Account:
    """One retailer's funds and stock.

    Attributes:
        seat: Its seat.
        funds: Money.
        units: Units held, per item.
        cost: What those units cost, per item.
        profit: Profit of all closed steps.
        sold: Units sold in all steps.
        solvent: False once it could not pay; it never comes back.
        inside: Whether it is in the market: not before it enters, nor once it left.
        tally: The step under way.
    """

    seat: str
    funds: int
    units: list[int]
    cost: list[int]
    profit: int = 0
    sold: int = 0
    solvent: bool = True
    inside: bool = True
    tally: Tally = field(default_factory=Tally)


class Closing(NamedTuple):
    """How one retailer stands at the end of a step, and what the step brought.

    Attributes:
        tally: What the step brought.
        funds: Money.
        stock: Units held.
        net_worth: Funds, and stock at the lesser of average cost and base price.
        solvent: False once it could not pay.
        inside: Whether it is in the market.
        stranded: Whether it is there, holds nothing and can afford nothing.
    """

    tally: Tally
    funds: int
    stock: int
    net_worth: int
    solvent: bool
    inside: bool
    stranded: bool


class Books:
    """The accounts of all retailers and the ledger they must agree with."""

    def __init__(
        self,
        seats: Sequence[str],
        items: Sequence[Item],
        funds: int,
        terminal: Salvage | str,
        later: Collection[str] = (),
    ) -> None:
        self.items = items
        self.funds = funds
        self.accounts = {
            seat: Account(seat, funds, [0] * len(items), [0] * len(items)) for seat in seats
        }
        self._salvage = exact(terminal.salvage if isinstance(terminal, Salvage) else 1.0)
        self._at_cost = not isinstance(terminal, Salvage)
        self._names = [item.item for item in items]
        self._bases = [item.base for item in items]
        self._cheapest = min(self._bases)
        self.ledger = Ledger((SUPPLIER, BUYERS, OWNERS, COSTS, DEALER, DEFAULT, CARRIER))
        for seat in seats:
            if seat in later:
                account = self.accounts[seat]
                account.funds, account.inside = 0, False
            else:
                self.ledger.move(MONEY, OWNERS, seat, funds, "initial funds")

    def enter(self, seat: str) -> None:
        """Book the funds of a retailer that comes later."""
        account = self.accounts[seat]
        account.funds, account.inside = self.funds, True
        self.ledger.move(MONEY, OWNERS, seat, self.funds, "initial funds")

    def leave(self, seat: str) -> None:
        """Sell off all stock of a retailer that leaves at salvage. It keeps its funds."""
        account = self.accounts[seat]
        self._liquidate(account, sum(account.cost) + 1)
        account.inside = False

    def procure(self, seat: str, item: int, units: int, paid: int) -> None:
        """Book units won in the auction and what was paid for them."""
        self.procure_all(seat, [(item, units, paid)])

    def procure_all(self, seat: str, won: Iterable[tuple[int, int, int]]) -> None:
        """Book all that a retailer won at once: positions of items, units, and what was paid."""
        account, names, bases = self.accounts[seat], self._names, self._bases
        held, cost, goods = account.units, account.cost, []
        spent = count = value = 0
        for item, units, paid in won:
            held[item] += units
            cost[item] += paid
            spent += paid
            count += units
            value += units * bases[item]
            goods.append((names[item], units))
        tally = account.tally
        account.funds -= spent
        tally.spend += spent
        tally.won += count
        tally.won_value += value
        self.ledger.move_all(SUPPLIER, seat, "procurement", goods)
        self.ledger.move(MONEY, seat, SUPPLIER, spent, "procurement")

    def ship(self, seat: str, source: int, target: int, units: int, fee: int) -> None:
        """Book units moved from one linked market to another; the fee is part of their cost."""
        account, move = self.accounts[seat], self.ledger.move
        cost = self._release(account, source, units)
        account.funds -= fee
        account.units[target] += units
        account.cost[target] += cost + fee
        move(MONEY, seat, CARRIER, fee, "transport")
        move(self._names[source], seat, CARRIER, units, "transport")
        move(self._names[target], CARRIER, seat, units, "transport")

    def sell(self, seat: str, item: int, units: int, revenue: int) -> int:
        """Book a sale and return the cost of the goods."""
        return self.sell_all(seat, [(item, units, revenue)])[0]

    def sell_all(self, seat: str, goods: Iterable[tuple[int, int, int]]) -> list[int]:
        """Book all sales of a retailer at once: positions of items, units and revenue.

        Returns:
            The cost of the goods, sale by sale.
        """
        account, names = self.accounts[seat], self._names
        taken, costs, sold, count = 0, [], [], 0
        for item, units, revenue in goods:
            costs.append(self._release(account, item, units))
            taken += revenue
            count += units
            sold.append((names[item], units))
        tally = account.tally
        account.funds += taken
        account.sold += count
        tally.cost_of_goods += sum(costs)
        tally.sold += count
        tally.revenue += taken
        self.ledger.move_all(seat, BUYERS, "sale", sold)
        self.ledger.move(MONEY, BUYERS, seat, taken, "sale")
        return costs

    def charge(self, seat: str, holding: int, fixed: int) -> None:
        """Take the costs of the step; sell stock at salvage if funds do not cover them.

        A retailer that still cannot pay leaves the market with nothing.
        """
        account = self.accounts[seat]
        due = holding + fixed
        account.tally.holding += holding
        account.tally.fixed += fixed
        if due > account.funds:
            self._liquidate(account, due - account.funds)
        paid = min(due, account.funds)
        account.funds -= paid
        self.ledger.move(MONEY, seat, COSTS, paid, "costs")
        if paid < due:
            account.tally.shortfall = due - paid
            account.solvent = account.inside = False
            self.ledger.move(MONEY, DEFAULT, COSTS, due - paid, "default")

    def write_down(self) -> None:
        """Book, in the last step, the cost of all stock less its terminal value."""
        for account in self.accounts.values():
            for item, units in enumerate(account.units):
                cost = account.cost[item]
                account.tally.write_down += cost - self._terminal_value(item, units, cost)

    def close_step(self) -> dict[str, Closing]:
        """End the step: check every account against the ledger and say how each one stands.

        Raises:
            market.money.ConservationError: If money or goods came from or went to nowhere.
        """
        closings = {}
        for seat, account in self.accounts.items():
            self.ledger.expect(seat, MONEY, account.funds)
            for item, units in zip(self._names, account.units, strict=True):
                self.ledger.expect(seat, item, units)
            account.profit += account.tally.profit
            stock = sum(account.units)
            closings[seat] = Closing(
                tally=account.tally,
                funds=account.funds,
                stock=stock,
                net_worth=self._net_worth(account),
                solvent=account.solvent,
                inside=account.inside,
                stranded=account.inside and not stock and account.funds < self._cheapest,
            )
            account.tally = Tally()
        self.ledger.check()
        return closings

    def _net_worth(self, account: Account) -> int:
        worth = account.funds
        for base, units, cost in zip(self._bases, account.units, account.cost, strict=True):
            market = base * units
            worth += cost if cost < market else market
        return worth

    def _release(self, account: Account, item: int, units: int) -> int:
        """Take units from stock at average cost; the remainder of the division stays."""
        held = account.units[item]
        cost = account.cost[item] * units // held if units else 0
        account.units[item] = held - units
        account.cost[item] -= cost
        return cost

    def _liquidate(self, account: Account, needed: int) -> None:
        """Sell stock at salvage, cheapest items first, until `needed` is raised or all is gone."""
        by_price = sorted(range(len(self.items)), key=lambda index: self.items[index].base)
        for index in by_price:
            held, pool = account.units[index], account.cost[index]
            if needed <= 0:
                return
            if not held:
                continue
            value = partial(self._salvage_value, index, held=held, pool=pool)
            units = 1 + bisect_left(range(1, held), needed, key=value)
            proceeds = value(units)
            cost = self._release(account, index, units)
            account.funds += proceeds
            account.tally.liquidated += proceeds - cost
            needed -= proceeds
            self.ledger.move(MONEY, DEALER, account.seat, proceeds, "liquidation")
            self.ledger.move(self.items[index].item, account.seat, DEALER, units, "liquidation")

    def _salvage_value(self, item: int, units: int, held: int, pool: int) -> int:
        cost = pool * units // held
        return int(self._salvage * min(cost, self.items[item].base * units))

    def _terminal_value(self, item: int, units: int, cost: int) -> int:
        if self._at_cost or not units:
            return cost
        return self._salvage_value(item, units, units, cost)
