"""A scene under all its redraws, in arrays, and one seat's part in it.

Items separate. A buyer wants one item, and whom it considers depends on who is open and on what is
said, not on prices or stock. So what a seat earns is a sum over items of what each brings at its
price and stock, given who considers the seat. `Seat` values such parts one by one and keeps them:
alternatives that agree on an item share the work.

What is valued is the step's gain in net worth as far as the seat can change it, in money:

    price x sold + (rest - holding) x left - paid

`rest` is what a unit left over is worth: before the last step the base price, at which the supplier
offers another one (what `net_worth` in the standings counts, as nobody buys below base); in the
last step what `terminal_stock` makes of it. Accounts carry stock at its average cost instead, and a
step could look better there by burying a bad purchase in unsold stock. Fixed cost is the same for
all alternatives; liquidation, which meets only who has no money, is left out.

Who is open stays as recorded, except that the seat itself may open or close. A rival that lost its
stock to the seat's bid still stands there with its prices, and is passed by.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from market.arena.attention import sizes, weights
from market.arena.counterfactual import residual
from market.arena.counterfactual.redraws import redraw_seed
from market.arena.counterfactual.scene import Scene
from market.arena.retail import seller_luck
from market.arena.rules import Salvage
from market.arena.selling import Selling
from market.arena.storefront import PriceReason, Storefront
from market.rng import generator, key

Row = tuple[int, ...]
#: Relative difference of weights that rounding makes.
_SAME = 1e-5

_Integers = NDArray[np.int64]
_Floats = NDArray[np.float64]


class Board:
    """Who comes, whom they see first and how they break ties, in every redraw.

    Arrays have a row per redraw, of which row 0 is the recorded luck; buyers are ordered by item
    and within it by arrival.

    Args:
        scene: The recorded step.
        redraws: How many besides the recorded one.
    """

    def __init__(self, scene: Scene, redraws: int) -> None:
        rules = scene.rules
        self.scene = scene
        self.rules = rules
        self.seats = tuple(scene.fronts)
        self.rows = redraws + 1
        self.prices = [asked(scene, seat) for seat in self.seats]
        self.open = [bool(front.prices) for front in scene.fronts.values()]
        self.nothing: Row = (0,) * len(rules.personas)
        self.said = [
            tuple(scene.similarities.get(front.slogan, self.nothing))
            for front in scene.fronts.values()
        ]
        self.sensitivities = [persona.sensitivity for persona in rules.personas.values()]
        self.patience = [
            rules.attention.rho if persona.rho is None else persona.rho
            for persona in rules.personas.values()
        ]
        self._bid_luck: dict[tuple[int, str, str], int] = {}
        self._draw()

    def _draw(self) -> None:
        scene, rules, sellers = self.scene, self.rules, len(self.seats)
        shape = (self.rows, rules.buyers)
        self.units, self.limits = np.empty(shape, np.int64), np.empty(shape, np.int64)
        self.lucks, self.persona = np.empty(shape, np.uint64), np.empty(shape, np.int64)
        self.spans = np.empty((len(rules.items), self.rows, 2), np.int64)
        self.words = np.empty((self.rows, sellers), np.uint64)
        self.times = np.zeros((*shape, sellers))
        choosy = min(sizes(self.patience, rules.attention.k_max, sellers)) < sellers
        for row in range(self.rows):
            seed = redraw_seed(scene.seed, row)
            selling = Selling(rules, seed, scene.clientele)
            buyers, favour = selling.meet(scene.step, self.seats)
            order = np.argsort(buyers.item, kind="stable")
            ends = np.searchsorted(buyers.item[order], np.arange(len(rules.items) + 1))
            self.spans[:, row, 0], self.spans[:, row, 1] = ends[:-1], ends[1:]
            self.units[row], self.limits[row] = buyers.units[order], buyers.limit[order]
            self.lucks[row], self.persona[row] = buyers.luck[order], buyers.persona[order]
            self.words[row] = seller_luck(seed, scene.step, self.seats)
            for column, seat in enumerate(self.seats if choosy else ()):
                stream = generator(seed, "attention", scene.step, seat)
                times = stream.standard_exponential(rules.buyers)
                if favour is not None:
                    times /= favour[column]
                self.times[row, :, column] = times[order]

    @cached_property
    def weight(self) -> _Floats:
        """Recorded weights, shape (sellers, personas); 0 for a seller who is closed."""
        table = np.zeros((len(self.seats), len(self.sensitivities)))
        table[self.open] = weights(
            [row for row, is_open in zip(self.said, self.open, strict=True) if is_open],
            self.sensitivities,
            self.rules.attention.tau,
        )
        return table

    @cached_property
    def keys(self) -> _Floats:
        """Times over weights, shape (rows, buyers, sellers); infinite for who is closed."""
        keys = np.full(self.times.shape, np.inf)
        for column in np.flatnonzero(self.open):
            keys[:, :, column] = self.times[:, :, column] / self.weight[column][self.persona]
        return keys

    def bid_luck(self, redraw: int, item: str, seat: str) -> int:
        """The number by which a seat is served among equal bids for an item."""
        known = redraw, item, seat
        if known not in self._bid_luck:
            scene = self.scene
            self._bid_luck[known] = key(
                redraw_seed(scene.seed, redraw), "ties", scene.step, scene.procured.round, item,
                seat,
            )  # fmt: skip
        return self._bid_luck[known]

    def ladder(self, item: int, seat: int) -> tuple[_Integers, _Integers]:
        """The rivals of a seat that price an item, cheapest first, and their prices."""
        rivals = [
            (prices[item], column)
            for column, prices in enumerate(self.prices)
            if prices[item] and self.open[column] and column != seat
        ]
        rivals.sort()
        return (
            np.array([column for _, column in rivals], np.int64),
            np.array([price for price, _ in rivals], np.int64),
        )

    def stock(self, item: int) -> _Integers:
        """Recorded stock of an item by seller."""
        return np.array([self.scene.stock[seat][item] for seat in self.seats], np.int64)


def asked(scene: Scene, seat: str) -> list[int]:
    """A seat's price per item, 0 for none.

    A price that was refused only because the seat did not hold the item counts: with stock it
    would have stood.
    """
    front: Storefront = scene.fronts[seat]
    stated = {
        line.item: line.price for line in front.refused if line.reason is PriceReason.NOT_HELD
    }
    prices = []
    for item in scene.rules.items:
        price = front.prices.get(item.item, 0)
        if not price:
            price, cap = stated.get(item.item, 0), scene.rules.cap(item)
            valid = price > 0 and price % scene.rules.tick == 0 and (cap is None or price <= cap)
            price = price if valid else 0
        prices.append(price)
    return prices


@dataclass(frozen=True, slots=True, eq=False)
class Lot:
    """What a seat holds of an item when retail opens, and what rivals do.

    Attributes:
        held: Units.
        paid: Money paid for those bought in this step.
        rest: What a unit left over is worth, less the cost of keeping it.
        stocks: Units by row and seller; the seat's own column is not read.
    """

    held: int
    paid: int
    rest: float
    stocks: _Integers


@dataclass(frozen=True, slots=True, eq=False)
class Hearing:
    """Who considers a seat under one slogan.

    Attributes:
        inside: Whether a buyer does, shape (rows, buyers).
        bar: Highest key of the rivals it considers besides.
        keys: Keys of the rivals, shape (rows, buyers, sellers).
    """

    inside: NDArray[np.bool_]
    bar: _Floats
    keys: _Floats


@dataclass(slots=True, eq=False)
class Seat:
    """One seat of a board.

    Attributes:
        board: The board.
        column: Its position among the sellers.
    """

    board: Board
    column: int
    _hearings: dict[Row, Hearing] = field(default_factory=dict)
    _ladders: dict[int, tuple[_Integers, _Integers]] = field(default_factory=dict)
    _bars: tuple[_Floats, _Floats] | None = None

    @property
    def name(self) -> str:
        """Its seat id."""
        return self.board.seats[self.column]

    @property
    def said(self) -> Row:
        """Similarities of its recorded slogan."""
        return self.board.said[self.column]

    def recorded_lot(self, item: int) -> Lot:
        """What the seat held of an item."""
        board, scene = self.board, self.board.scene
        held, cost = scene.stock[self.name][item], scene.costs[self.name][item]
        paid = cost - scene.procured.costs[self.name][item]
        stocks = np.broadcast_to(board.stock(item), (board.rows, len(board.seats)))
        return Lot(held, paid, self.rest(item, held, cost), stocks)

    def rest(self, item: int, held: int, cost: int) -> float:
        """Worth of a unit left over, of so many held that cost so much, less holding cost."""
        return float(self.rests(item, np.array([held]), np.array([cost]))[0])

    def rests(self, item: int, held: _Integers, cost: _Integers) -> _Floats:
        """The same for several amounts at once."""
        rules = self.board.rules
        good = rules.items[item]
        worth: _Floats = np.full(len(held), float(good.base))
        if self.board.scene.last:
            worth = (cost / np.maximum(held, 1)).astype(np.float64)
            terminal = rules.terminal_stock
            if isinstance(terminal, Salvage):
                np.minimum(worth, good.base, out=worth)
                worth *= terminal.salvage
        worth -= rules.holding(good)
        return worth

    def payoff(self, item: int, price: int, lot: Lot, said: Row) -> _Floats:
        """What an item brings at a price, per row; a price of 0 is no offer."""
        sold: _Integers = np.zeros(self.board.rows, np.int64)
        if price and lot.held:
            sold = self.sold(item, price, lot.held, lot.stocks, said)
        margin, kept = price - lot.rest, lot.rest * lot.held - lot.paid
        return margin * sold.astype(np.float64) + kept

    def sold(
        self, item: int, price: int, held: int, stocks: _Integers, said: Row,
        rows: slice = slice(None),
    ) -> _Integers:  # fmt: skip
        """Units sold at a price, per row."""
        own = stocks[rows].copy()
        own[:, self.column] = held
        out = np.empty(len(own), np.int64)
        kernel: Any = residual.sold_at
        kernel(*self._market(item, said, rows), own, self.column, price, out)
        return out

    def curve(
        self, item: int, candidates: _Integers, stocks: _Integers, said: Row,
        rows: slice = slice(None),
    ) -> _Integers:  # fmt: skip
        """Units asked at each price, shape (rows, candidates); 0 at a rival's price."""
        stocks = np.ascontiguousarray(stocks[rows])
        out = np.empty((len(stocks), len(candidates)), np.int64)
        kernel: Any = residual.asked_curve
        kernel(*self._market(item, said, rows), stocks, candidates, out)
        return out

    def ladder(self, item: int) -> tuple[_Integers, _Integers]:
        """The rivals that price an item, cheapest first, and their prices."""
        if item not in self._ladders:
            self._ladders[item] = self.board.ladder(item, self.column)
        return self._ladders[item]

    def hearing(self, said: Row) -> Hearing:
        """Who considers the seat if it is open and says something of these similarities."""
        if said not in self._hearings:
            self._hearings[said] = self._heard(said)
        return self._hearings[said]

    def _heard(self, said: Row) -> Hearing:
        board = self.board
        if board.open[self.column] and said == self.said:
            weight = board.weight
        else:
            weight = self._weights(said)
        keys = board.keys
        rivals = self._rivals()
        if np.allclose(weight[rivals], board.weight[rivals], rtol=_SAME, atol=0.0):
            inner, outer = self._bars = self._bars or self._thresholds(keys)
        else:
            keys = np.full(board.times.shape, np.inf)
            for rival in rivals:
                keys[:, :, rival] = board.times[:, :, rival] / weight[rival][board.persona]
            inner, outer = self._thresholds(keys)
        own = board.times[:, :, self.column] / weight[self.column][board.persona]
        inside = own <= outer
        return Hearing(inside, np.where(inside, inner, outer), keys)

    def _market(self, item: int, said: Row, rows: slice) -> Any:
        """The arrays that both kernels begin with."""
        board, hearing = self.board, self.hearing(said)
        ladder, rungs = self.ladder(item)
        return (
            board.spans[item, rows], board.units[rows], board.limits[rows], board.lucks[rows],
            hearing.keys[rows], hearing.bar[rows], hearing.inside[rows], ladder, rungs,
            board.words[rows],
        )  # fmt: skip

    def _rivals(self) -> list[int]:
        return [i for i in np.flatnonzero(self.board.open).tolist() if i != self.column]

    def _thresholds(self, keys: _Floats) -> tuple[_Floats, _Floats]:
        board = self.board
        sellers = len(self._rivals()) + 1
        size = np.array(sizes(board.patience, board.rules.attention.k_max, sellers))
        inner, outer = np.empty(board.persona.shape), np.empty(board.persona.shape)
        residual.bars(keys, self.column, size[board.persona], inner, outer)
        return inner, outer

    def _weights(self, said: Row) -> _Floats:
        """Weights of all sellers when the seat says something else.

        Weights are relative to the best seller. They are put back on the scale of the recorded
        ones, so that rivals keep their keys wherever rounding and the least weight allow it.
        """
        board, rivals = self.board, self._rivals()
        order = [self.column, *rivals]
        table = np.zeros_like(board.weight)
        table[order] = weights(
            [said, *(board.said[rival] for rival in rivals)],
            board.sensitivities,
            board.rules.attention.tau,
        )
        if rivals:
            best = np.array(rivals)[board.weight[rivals].argmax(axis=0)]
            persona = np.arange(len(said))
            table *= board.weight[best, persona] / table[best, persona]
        return table


def columns(board: Board, seats: Sequence[str] | None) -> list[Seat]:
    """The seats of a board that are asked for; all where None."""
    return [
        Seat(board, column)
        for column, name in enumerate(board.seats)
        if seats is None or name in seats
    ]
