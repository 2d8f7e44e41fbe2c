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
