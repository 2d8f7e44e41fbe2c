"""Best prices where customers choose by a logit whose attraction falls exponentially with price.

A product at price p attracts A exp(-b (p / reference - 1)), and a machine earns per visit

    l = sum of attraction (p - cost) / (A_outside + sum of attractions)

Setting the derivative in one price to 0 gives p - cost - reference / b = l: the adjusted mark-up of
a product equals what a visit is worth. Where all prices are free, it is the same for all products;
where one is, l is that machine's profit with that price. Both are fixed points, reached from
below by Dinkelbach's steps (`assortment.py`): l to prices, prices to l.

With A = A_outside = 1, b = 2 and cost 0.6 of reference the best price is 1.349 of reference; with
A_outside large it is cost + reference / b.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from market.vending.world import Floats

#: l no longer grows once a step adds less than this share of it.
SETTLED = 1e-13


@dataclass(frozen=True, slots=True)
class Offers:
    """Products in one machine; arrays have one entry per product.

    Attributes:
        pull: Attraction at the reference price.
        cost: Unit cost.
        reference: Reference price, in the same money.
        sensitivity: b of the site.
        cap: Highest price allowed.
        outside: Attraction of buying nothing and of what others offer; above 0.
    """

    pull: Floats
    cost: Floats
    reference: Floats
    sensitivity: float
    cap: Floats
    outside: float

    def attraction(self, prices: Floats) -> Floats:
        """The attraction of each product at its price."""
        found: Floats = self.pull * np.exp(-self.sensitivity * (prices / self.reference - 1))
        return found

    def prices_at(self, value: float | Floats) -> Floats:
        """The best prices where a visit is worth so much: one worth, or one per product."""
        with np.errstate(divide="ignore"):
            markup = self.reference / self.sensitivity
        found: Floats = np.minimum(self.cap, self.cost + markup + value)
        return found


def together(offers: Offers) -> tuple[Floats, float]:
    """The best prices of all products at once, and the gross profit per visit."""
    value, prices = 0.0, offers.prices_at(0.0)
    while True:
        pull = offers.attraction(prices)
        reached = float(np.sum(pull * (prices - offers.cost)) / (offers.outside + np.sum(pull)))
        if reached <= value * (1 + SETTLED):
            return prices, value
        value, prices = reached, offers.prices_at(reached)


def alone(offers: Offers, prices: Floats) -> tuple[Floats, Floats]:
    """The best price of each product with all others as posted, and the profit per visit with it.

    Args:
        offers: The products.
        prices: Posted prices.
    """
    pull = offers.attraction(prices)
    others = np.sum(pull * (prices - offers.cost)) - pull * (prices - offers.cost)
    room = offers.outside + np.sum(pull) - pull
    # What a visit is worth without the product: its best price is above cost and this.
    value = others / room
    best = offers.prices_at(value)
    while True:
        pull = offers.attraction(best)
        reached = (others + pull * (best - offers.cost)) / (room + pull)
        if np.all(reached <= value + SETTLED * np.abs(value)):
            return best, value
        value = np.maximum(value, reached)
        best = offers.prices_at(value)
