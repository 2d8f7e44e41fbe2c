"""What a step does to the books: stock is won, goods are sold or redeemed, costs are paid."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from market.arena.books import Books
from market.arena.procurement import Round, bid_volume
from market.arena.selling import RetailOutcome
from market.arena.storefront import Storefront

#: Cost of the goods sold, by seat and position of the item.
Costs = dict[tuple[str, int], int]


def book_awards(books: Books, cleared: Round) -> None:
    """Book what the settling round awarded, and what was bid for."""
    bases = {item.item: item.base for item in books.items}
    position = {item: index for index, item in enumerate(bases)}
    for seat, lines in cleared.lines.items():
        tally = books.accounts[seat].tally
        tally.bid_units, tally.bid_value = bid_volume(lines, bases)
        awards = zip(lines, cleared.clearing.awards[seat], strict=True)
        won = [(position[line[0]], units, paid) for line, (units, paid) in awards if units]
        if won:
            books.procure_all(seat, won)


def book_redemption(books: Books, values: Mapping[str, Mapping[str, int]], units_each: int) -> None:
    """Redeem stock at private values, as far as its owners want it."""
    for seat, account in books.accounts.items():
        for index, item in enumerate(books.items):
            units = min(account.units[index], units_each)
            if units:
                books.sell(seat, index, units, units * values[seat][item.item])


def book_sales(books: Books, outcome: RetailOutcome, fronts: Mapping[str, Storefront]) -> Costs:
    """Book what retail brought, and return what the goods had cost."""
    costs = {}
    items = [item.item for item in books.items]
    for seat, sold in outcome.seats.items():
        tally = books.accounts[seat].tally
        tally.attempts, tally.failed = sold.attempts, sold.failed
        tally.match_sum, tally.match_buyers = sold.match_sum, sold.match_buyers
        prices, goods = fronts[seat].prices, []
        for index, (asked, units, _) in sold.offers.items():
            tally.asked += asked
            if units:
                goods.append((index, units, units * prices[items[index]]))
        for (index, _, _), cost in zip(goods, books.sell_all(seat, goods), strict=True):
            costs[seat, index] = cost
    return costs


def book_costs(books: Books, holding: Sequence[int], fixed: int) -> None:
    """Charge everybody in the market for its stock, at a cost per unit of each item, and more."""
    for seat, account in books.accounts.items():
        if account.inside:
            due = sum(units * cost for units, cost in zip(account.units, holding, strict=True))
            books.charge(seat, due, fixed)
