"""The best bid of a seat against what the others bid in the round that settled.

To win k units for sure a sealed bid must beat the rivals' units from the (Q - k + 1)-th best down,
with all k of its units: a unit bid lower would itself fall out of the Q that are served. So k units
take one line at the k-th price of the residual supply curve, a tick above the rival it displaces,
or at base while rivals leave units; under pay-your-bid it costs k times that price, under uniform
pricing k times the highest losing one. Several lines win nothing cheaper, and winning by a tie is
left out: both can only make the regret found smaller.

A bid takes units from rivals. Their awards are cleared again without those units by the arena's own
auction; where equal rivals are rationed, its ties are drawn anew, `ORDERS` times, shared out over
the redraws. The seat's own award in the recorded auction is kept, ties won or lost included.

How much to buy of each item is a multiple-choice knapsack under the seat's funds (`knapsack`). The
worth of every quantity is estimated from what the seat would be asked for, at a handful of levels
of displaced rivals; the chosen bid is then valued exactly, like every alternative.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from market.arena.auction import clear
from market.arena.bounds import residual_supply
from market.arena.counterfactual.knapsack import Options, choose
from market.arena.counterfactual.seat import Lot, Seat

#: Orders in which equal rivals are served, where that matters, besides the recorded one.
ORDERS = 4
#: Quantities per item at which the market is looked at anew.
LEVELS = 4
#: Share of what a bid could gain by which the quantities chosen may fall short of the best ones.
_WITHIN = 1e-3

_Integers = NDArray[np.int64]

#: A price, and the units that would sell at it per redraw.
Quote = tuple[int, _Integers]


@dataclass(frozen=True, slots=True, eq=False)
class Menu:
    """What winning k units of an item takes, k being the position.

    Attributes:
        prices: Price per unit to bid.
        stakes: Money that the bid must be covered by.
        paid: Money paid.
        levels: First quantity of each level, from 0.
    """

    prices: _Integers
    stakes: _Integers
    paid: _Integers
    levels: tuple[int, ...]


class Bidding:
    """The alternatives that one seat had in the auction of a step."""

    def __init__(self, seat: Seat) -> None:
        scene = seat.board.scene
        self._seat = seat
        self._board = seat.board
        self._procured = scene.procured
        self._carried = scene.procured.stock[seat.name]
        self._costs = scene.procured.costs[seat.name]
        self.budget = scene.procured.budgets[seat.name]
        items = range(len(scene.rules.items))
        self.menus = [self._menu(item) for item in items]
        self._lots: dict[tuple[int, int], Lot] = {}

    def lot(self, item: int, units: int) -> Lot:
        """What the seat would hold of an item had it won so many units."""
        if (item, units) not in self._lots:
            paid = int(self.menus[item].paid[units])
            held = self._carried[item] + units
            rest = self._seat.rest(item, held, self._costs[item] + paid)
            self._lots[item, units] = Lot(held, paid, rest, self._stocks(item, units))
        return self._lots[item, units]

    def best(self, quote: Callable[[int, Lot], Quote]) -> tuple[list[int], list[int]]:
        """The units to win of each item, and the price to ask for them, for the best on average.

        Args:
            quote: What is asked for an item, given what is held of it, and what would sell.
        """
        options: list[Options] = []
        prices = []
        for item, menu in enumerate(self.menus):
            values = np.empty(len(menu.stakes))
            asked = np.empty(len(menu.stakes), np.int64)
            ends = (*menu.levels[1:], len(menu.stakes))
            for start, end in zip(menu.levels, ends, strict=True):
                most = self._carried[item] + end - 1
                level = self.lot(item, start)
                lot = Lot(most, int(menu.paid[end - 1]), level.rest, level.stocks)
                price, sales = quote(item, lot)
                asked[start:end] = price
                values[start:end] = self._worth(item, price, sales, start, lot.held)
            options.append((menu.stakes, values))
            prices.append(asked)
        gain = sum(float(values.max() - values[0]) for _, values in options)
        picks = choose(options, self.budget, within=_WITHIN * gain)
        return picks, [int(asked[pick]) for asked, pick in zip(prices, picks, strict=True)]

    def _worth(
        self, item: int, price: int, sales: _Integers, start: int, most: int
    ) -> NDArray[np.float64]:
        """What the item brings on average for every quantity of a level, `most` held at its end."""
        held = np.arange(self._carried[item] + start, most + 1)
        paid = self.menus[item].paid[start : start + len(held)]
        rest = self._seat.rests(item, held, self._costs[item] + paid)
        # The sum of min(held, sales) over rows: sales where they are less, else what is held.
        sales = np.sort(sales)
        less = np.searchsorted(sales, held)
        sold = np.concatenate([[0], np.cumsum(sales)])[less] + (len(sales) - less) * held
        worth: NDArray[np.float64] = (price - rest) * (sold / len(sales)) + rest * held - paid
        return worth

    def _menu(self, item: int) -> Menu:
        rules = self._board.rules
        good, tick, cap = rules.items[item], rules.tick, rules.cap(rules.items[item])
        quantity = self._board.scene.offers[good.item]
        rivals = [
            (line.stands, line.price)
            for seat, lines in self._board.lines(item).items()
            for line in lines
            if seat != self._seat.name
        ]
        least = -(-good.base // tick) * tick
        supply = np.array(residual_supply(quantity, good.base, rivals, tick), np.int64)
        losing = np.array(residual_supply(quantity, good.base, rivals), np.int64)
        prices = np.maximum(supply, least)
        units = np.arange(1, quantity + 1)
        usable = (prices * units <= self.budget) & (units <= self._wanted(item))
        if cap is not None:
            usable &= prices <= cap
        most = int(np.count_nonzero(usable))  # prices rise, so the usable ones come first
        units, prices, losing = units[:most], prices[:most], losing[:most]
        stakes = prices * units
        paid = losing * units if rules.pricing == "uniform" else stakes
        left = max(0, quantity - sum(stands for stands, _ in rivals))
        starts = {round(place * (most + 1) / LEVELS) for place in range(LEVELS)} | {0, left + 1}
        return Menu(
            prices=np.r_[0, prices],
            stakes=np.r_[0, stakes],
            paid=np.r_[0, paid],
            levels=tuple(sorted(start for start in starts if start <= most)),
        )

    def _wanted(self, item: int) -> int:
        """More units of an item than this are wanted under no luck."""
        board = self._board
        spans = board.spans[item].tolist()
        return max(int(board.units[row, slice(*span)].sum()) for row, span in enumerate(spans))

    def _stocks(self, item: int, units: int) -> _Integers:
        """Stock of the item, by row and seller, after the seat won so many units."""
        board = self._board
        orders = rival_awards(self._seat, item, units)
        row = np.arange(board.rows)
        # In blocks, so that the halves of a cross-fit do not share their ties.
        order = np.where(row == 0, 0, 1 + (row - 1) * ORDERS // (board.rows - 1))
        order = np.minimum(order, len(orders) - 1)
        carried = [self._procured.stock[seat][item] for seat in board.seats]
        return np.ascontiguousarray(np.array(carried, np.int64) + orders[order])


def rival_awards(seat: Seat, item: int, units: int) -> _Integers:
    """What every seller wins of an item when a seat wins so many units before the rest is served.

    Returns:
        Shape (orders, sellers): one row where no luck is involved, else `ORDERS` + 1, the recorded
        one first. The seat's own column is 0.
    """
    board = seat.board
    good = board.rules.items[item]
    lines = {name: own for name, own in board.lines(item).items() if name != seat.name}
    left = {good.item: board.scene.offers[good.item] - units}
    columns = {name: column for column, name in enumerate(board.seats) if name in lines}
    drawn: set[str] = set()

    def cleared(order: int) -> list[int]:
        def luck(name: str, rival: str) -> int:
            drawn.add(rival)
            return board.bid_luck(order, name, rival)

        awards = clear(lines, left, board.terms, luck).awards
        won = [0] * len(board.seats)
        for name, column in columns.items():
            won[column] = sum([units for units, _ in awards[name]])
        return won

    rows: Sequence[list[int]] = [cleared(0)]
    if len(drawn) > 1:
        rows = [*rows, *(cleared(order) for order in range(1, ORDERS + 1))]
    return np.array(rows, np.int64)
