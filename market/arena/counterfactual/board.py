"""A recorded step under all its redraws, in arrays: who comes, and whom they see first.

It is drawn once and shared by the seats (`seat`), whose alternatives are all tried on it.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from market.arena.attention import sizes, weights
from market.arena.auction import Line, Terms
from market.arena.counterfactual.redraws import redraw_seed
from market.arena.counterfactual.scene import Scene
from market.arena.procurement import terms_of
from market.arena.retail import seller_luck
from market.arena.selling import Selling
from market.arena.storefront import PriceReason, Storefront
from market.rng import generator, key

#: Similarities with each persona, in 1e-6.
Row = tuple[int, ...]

_Integers = NDArray[np.int64]
_Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class Queue:
    """The buyers of one item, redraw by redraw and within one by arrival.

    Attributes:
        starts: First buyer of each redraw, and one past the last of all.
        places: Position of each among the buyers of all items, row by row.
        units: Units wanted.
        limits: Highest acceptable price, negative for none.
        lucks: Word that orders equally cheap sellers.
    """

    starts: _Integers
    places: _Integers
    units: _Integers
    limits: _Integers
    lucks: NDArray[np.uint64]


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
        self.holding = [rules.holding(item) for item in rules.items]
        self._bid_luck: dict[tuple[int, str, str], int] = {}
        self._queues: dict[int, Queue] = {}
        self._lines: dict[int, dict[str, tuple[Line, ...]]] = {}
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

    @cached_property
    def terms(self) -> Terms:
        """The rules of the auction."""
        return terms_of(self.rules)

    def lines(self, item: int) -> dict[str, tuple[Line, ...]]:
        """The lines for an item that stood in the auction, by seat."""
        if item not in self._lines:
            name = self.rules.items[item].item
            found = {
                seat: tuple(line for line in lines if line.item == name and line.stands)
                for seat, lines in self.scene.procured.lines.items()
            }
            self._lines[item] = {seat: own for seat, own in found.items() if own}
        return self._lines[item]

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

    def queue(self, item: int) -> Queue:
        """The buyers of an item under every luck."""
        if item not in self._queues:
            first, end = self.spans[item].T
            buyers = np.arange(self.units.shape[1])
            of = (first[:, None] <= buyers) & (buyers < end[:, None])
            self._queues[item] = Queue(
                starts=np.concatenate([[0], np.cumsum(end - first)]),
                places=np.flatnonzero(of),
                units=self.units[of],
                limits=self.limits[of],
                lucks=self.lucks[of],
            )
        return self._queues[item]

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
