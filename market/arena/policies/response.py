"""How much sells at which price, learned from the public history of all retailers.

Every retailer's prices and sales are public after the step, so each step is an experiment with as
many prices as there are retailers. They are pooled per tier of goods: the units that an offer
sold, in equal shares of the item's supply, by its price in multiples of base. A rival that sold
out may have been able to sell more: the estimate is low where stock was.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from market.arena.policies.plans import Ware
from market.environment import Json

#: Width of a class of prices, in multiples of base.
WIDTH = 0.1


class Response:
    """Expected units per offer, in equal shares, for each class of prices and tier."""

    def __init__(self, highest: float, choke: float, belief: float) -> None:
        """Begin with a belief.

        Args:
            highest: Highest multiple of base to know about.
            choke: Multiple at which nothing is believed to sell; a share is at base, and the
                belief is linear in between.
            belief: Weight of that belief, in offers observed.
        """
        classes = max(1, round((highest - 1) / WIDTH) + 1)
        #: The multiple of base that stands for each class of prices.
        self.multiples = [1 + WIDTH * k for k in range(classes)]
        self._belief = belief
        self._prior = [
            belief * max(0.0, (choke - m) / max(choke - 1, WIDTH)) for m in self.multiples
        ]
        self._sold: dict[str, list[float]] = {}
        self._offers: dict[str, list[int]] = {}

    def observe(
        self, market: Mapping[str, Json], wares: Mapping[str, Ware], retailers: int
    ) -> None:
        """Add a step of public history."""
        last = len(self.multiples) - 1
        tables = {}
        for item, ware in wares.items():
            sold = self._sold.setdefault(ware.tier, [0.0] * (last + 1))
            offers = self._offers.setdefault(ware.tier, [0] * (last + 1))
            tables[item] = (sold, offers, 1 / (WIDTH * ware.base), ware.share(retailers) or 1)
        first = 1 / WIDTH - 0.5
        for shop in market["retailers"].values():
            units = shop["sold"]
            for item, price in shop["prices"].items():
                sold, offers, scale, share = tables[item]
                k = int(price * scale - first)
                k = 0 if k < 0 else last if k > last else k
                offers[k] += 1
                sold[k] += units.get(item, 0) / share

    def expected(self, tier: str) -> Sequence[float]:
        """Expected shares sold per class of prices; neighbouring classes count half."""
        prior, belief = self._prior, self._belief
        if tier not in self._sold:
            return [p / belief if belief else 0.0 for p in prior]
        sold = [0.0, *self._sold[tier], 0.0]
        offers = [0, *self._offers[tier], 0]
        return [
            (prior[k] + sold[k + 1] + (sold[k] + sold[k + 2]) / 2)
            / (belief + offers[k + 1] + (offers[k] + offers[k + 2]) / 2 or 1)
            for k in range(len(prior))
        ]
