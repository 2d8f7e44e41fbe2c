"""One seat's part in a board: who considers it, what it sells, and what that brings.

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
from typing import Any

import numpy as np
from numpy.typing import NDArray

from market.arena.attention import sizes, weights
from market.arena.counterfactual import residual
from market.arena.counterfactual.board import Board, Row
from market.arena.rules import Salvage

#: Relative difference of weights that rounding makes.
_SAME = 1e-5

_Integers = NDArray[np.int64]
_Floats = NDArray[np.float64]


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
class Rivals:
    """Which rivals of a seat buyers consider, with it and without it.

    Attributes:
        keys: Their keys, shape (rows, buyers, sellers).
        inner: Highest key considered besides the seat, shape (rows, buyers).
        outer: Highest key considered without it.
        tours: Per item in which order buyers go to them (`residual.tours`).
    """

    keys: _Floats
    inner: _Floats
    outer: _Floats
    tours: dict[int, tuple[NDArray[np.int16], NDArray[np.int16]]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, eq=False)
class Hearing:
    """Who considers a seat under one slogan.

    Attributes:
        inside: Whether a buyer does, shape (rows, buyers).
        rivals: Whom it considers else.
    """

    inside: NDArray[np.bool_]
    rivals: Rivals


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
    _asked: dict[int, _Integers] = field(default_factory=dict)
    _rivalry: Rivals | None = None

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
        worth -= self.board.holding[item]
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
        board, queue = self.board, self.board.queue(item)
        out = np.empty(len(stocks[rows]), np.int64)
        kernel: Any = residual.sold_at
        kernel(
            *self._market(item, said, rows), stocks[rows], queue.lucks, board.words[rows],
            self.column, price, held, out,
        )  # fmt: skip
        return out

    def curve(
        self, item: int, candidates: _Integers, stocks: _Integers, said: Row,
        rows: slice = slice(None),
    ) -> _Integers:  # fmt: skip
        """Units asked at each price, shape (rows, candidates); 0 at a rival's price."""
        out = np.empty((len(stocks[rows]), len(candidates)), np.int64)
        kernel: Any = residual.asked_curve
        kernel(*self._market(item, said, rows), stocks[rows], candidates, out)
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
        rivals = self._rivals()
        if np.allclose(weight[rivals], board.weight[rivals], rtol=_SAME, atol=0.0):
            self._rivalry = self._rivalry or Rivals(board.keys, *self._thresholds(board.keys))
            rivalry = self._rivalry
        else:
            keys = np.full(board.times.shape, np.inf)
            for rival in rivals:
                keys[:, :, rival] = board.times[:, :, rival] / weight[rival][board.persona]
            rivalry = Rivals(keys, *self._thresholds(keys))
        own = board.times[:, :, self.column] / weight[self.column][board.persona]
        return Hearing(own <= rivalry.outer, rivalry)

    def _market(self, item: int, said: Row, rows: slice) -> Any:
        """The arrays that both kernels begin with."""
        hearing, queue = self.hearing(said), self.board.queue(item)
        start, stop, _ = rows.indices(self.board.rows)
        return (
            queue.starts[start : stop + 1], queue.places, queue.units, queue.limits,
            *self._tours(item, hearing.rivals), hearing.inside.ravel(), self._prices(item),
        )  # fmt: skip

    def _tours(self, item: int, rivals: Rivals) -> tuple[NDArray[np.int16], NDArray[np.int16]]:
        if item not in rivals.tours:
            board, queue = self.board, self.board.queue(item)
            ladder, rungs = self.ladder(item)
            tour = np.zeros((len(queue.places), len(ladder)), np.int16)
            count = np.zeros(len(queue.places), np.int16)
            keys = rivals.keys.reshape(-1, len(board.seats))
            inner, outer = rivals.inner.ravel(), rivals.outer.ravel()
            residual.tours(
                queue.starts, queue.places, queue.lucks, keys, inner, outer, ladder, rungs,
                board.words, tour, count,
            )  # fmt: skip
            rivals.tours[item] = tour, count
        return rivals.tours[item]

    def _prices(self, item: int) -> _Integers:
        """Prices of the rivals that buyers go to; 0 of everybody else."""
        if item not in self._asked:
            ladder, rungs = self.ladder(item)
            self._asked[item] = np.zeros(len(self.board.seats), np.int64)
            self._asked[item][ladder] = rungs
        return self._asked[item]

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
