"""A recorded step under one luck, drawn once and settled under any words.

Who comes, how long each seller takes to catch a buyer's eye, and how ties break do not hang on what
is said. So they are drawn once, and for other words only the rest is settled again, with the
arena's own parts: sales are those of `redraws.settle`, in a fraction of its time. Answers and stock
are as recorded.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from market.arena import retail
from market.arena.attention import BUYERS_AT_ONCE, first_by_time, sizes, weights
from market.arena.buyers import Buyers
from market.arena.counterfactual.board import Row
from market.arena.counterfactual.redraws import redraw_seed, step_profit
from market.arena.counterfactual.scene import Scene
from market.arena.selling import ItemOutcome, RetailOutcome, SeatOutcome, Selling
from market.rng import generator

_Integers = NDArray[np.int64]
_Floats = NDArray[np.float64]


class Shops:
    """What is the same under every luck: who is open, at which prices, with which stock.

    Attributes:
        scene: The step.
        sellers: Those who are open.
        said: Similarities of what each of them says.
        prices: Shape (items, sellers); 0 for no offer.
        stock: Units held, shape (items, sellers).
    """

    def __init__(self, scene: Scene) -> None:
        rules, nothing = scene.rules, (0,) * len(scene.rules.personas)
        fronts = {seat: front for seat, front in scene.fronts.items() if front.prices}
        self.scene = scene
        self.sellers = tuple(fronts)
        self.said: tuple[Row, ...] = tuple(
            tuple(scene.similarities.get(front.slogan, nothing)) for front in fronts.values()
        )
        shape = len(rules.items), len(fronts)
        posted = [front.prices for front in fronts.values()]
        prices = [[own.get(item.item, 0) for own in posted] for item in rules.items]
        self.prices: _Integers = np.array(prices, np.int64).reshape(shape)
        stock = [scene.stock[seat] for seat in fronts]
        self.stock: _Integers = np.array(stock, np.int64).reshape(shape[::-1]).T
        self._profits: dict[tuple[str, bytes], int] = {}

    def weights(self, said: Sequence[Row]) -> _Floats:
        """Weights of the sellers, of shape (sellers, personas), if each says something else."""
        rules = self.scene.rules
        sensitivities = [persona.sensitivity for persona in rules.personas.values()]
        return weights(said, sensitivities, rules.attention.tau)

    def profits(self, sales: retail.Sales, buyers: Buyers) -> dict[str, int]:
        """Profit of the step of everybody who was asked for prices, as `step_profit` books it."""
        return {seat: self.profit(seat, sales, buyers) for seat in self.scene.fronts}

    def profit(self, seat: str, sales: retail.Sales, buyers: Buyers) -> int:
        """The same of one seat; what was sold before is not booked again."""
        column = self.sellers.index(seat) if seat in self.sellers else None
        sold = np.zeros(0, np.int64) if column is None else sales.sold[:, column]
        known = seat, sold.tobytes()
        if known not in self._profits:
            offers = {
                item: ItemOutcome(units, units, 0)
                for item, units in enumerate(sold.tolist())
                if self.prices[item, column]
            }
            outcome = SeatOutcome(bool(offers), offers, 0, 0, 0, 0, 0)
            alone = RetailOutcome({seat: outcome}, buyers, (), (), False)
            self._profits[known] = step_profit(self.scene, alone, seat)
        return self._profits[known]


class Crowd:
    """The buyers of a step under one luck.

    Args:
        shops: Where they go.
        redraw: Which luck (`redraws`).

    Attributes:
        buyers: Who comes.
    """

    def __init__(self, shops: Shops, redraw: int) -> None:
        scene, sellers = shops.scene, shops.sellers
        rules, seed = scene.rules, redraw_seed(scene.seed, redraw)
        self._shops = shops
        self.buyers, favour = Selling(rules, seed, scene.clientele).meet(scene.step, sellers)
        self._luck = retail.seller_luck(seed, scene.step, sellers)
        patience = [
            rules.attention.rho if persona.rho is None else persona.rho
            for persona in rules.personas.values()
        ]
        size = sizes(patience, rules.attention.k_max, len(sellers))
        self._last = np.array(size) - 1
        self._times: _Floats | None = None
        if min(size) < len(sellers):
            times = np.empty((len(sellers), len(self.buyers)))
            for row, seat in zip(times, sellers, strict=True):
                generator(seed, "attention", scene.step, seat).standard_exponential(out=row)
            if favour is not None:
                times /= favour
            self._times = times

    def sales(self, weight: _Floats) -> retail.Sales:
        """What sellers of these weights sell, from the stock that they opened with."""
        prices = self._shops.prices
        sales = retail.Sales.none(*prices.shape)
        if not prices.shape[1]:
            return sales
        stock = self._shops.stock.copy()
        for start in range(0, len(self.buyers), BUYERS_AT_ONCE):
            span = slice(start, min(start + BUYERS_AT_ONCE, len(self.buyers)))
            part = self.buyers.part(span)
            if self._times is None:
                seen = np.ones((prices.shape[1], len(part)), np.bool_)
            else:
                seen = first_by_time(self._times[:, span].copy(), weight, self._last, part.persona)
            retail.settle(part, seen, prices, stock, self._luck, sales)
        return sales
