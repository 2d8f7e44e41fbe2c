"""How much sells at which price, learned from the public history of all retailers.

Every retailer's prices and sales are public after the step, so each step is an experiment with as
many prices as there are retailers. They are pooled per tier of goods: the units that an offer
sold, in equal shares of the item's supply, by its price in multiples of base. A rival that sold
out may have been able to sell more: the estimate is low where stock was.
"""

from __future__ import annotations

from collections.abc import Mapping

from market.arena.policies.plans import Ware
from market.environment import Json

#: Width of a class of prices, in multiples of base.
WIDTH = 0.1


class Response:
    """Expected units per offer, in equal shares, for each class of prices and tier.

    Before anything was seen, an equal share is believed to sell at base and nothing at the highest
    price, with a straight line in between. The belief counts as one offer in each class.

    Args:
        highest: Highest price to know about, in multiples of base.
    """

    def __init__(self, highest: float) -> None:
        last = max(1, round((highest - 1) / WIDTH))
        #: The multiple of base that stands for each class of prices.
        self.multiples = [1 + WIDTH * k for k in range(last + 1)]
        self._believed = [1 - k / last for k in range(last + 1)]
        self._seen: dict[str, tuple[list[float], list[int]]] = {}
        self._expected: dict[str, list[float]] = {}

    def observe(
        self, market: Mapping[str, Json], wares: Mapping[str, Ware], retailers: int
    ) -> None:
        """Add a step of public history."""
        last = len(self.multiples) - 1
        of = {
            item: (*self._of(ware.tier), ware.base, ware.share(retailers) or 1)
            for item, ware in wares.items()
        }
        for shop in market["retailers"].values():
            sold = shop["sold"]
            for item, price in shop["prices"].items():
                shares, offers, base, share = of[item]
                k = round((price / base - 1) / WIDTH)
                if k < 0:
                    k = 0
                elif k > last:
                    k = last
                shares[k] += sold.get(item, 0) / share
                offers[k] += 1
        self._expected.clear()

    def expected(self, tier: str) -> list[float]:
        """Equal shares that an offer is expected to sell, per class of prices."""
        known = self._expected.get(tier)
        if known is None:
            known = [sold / offers for sold, offers in zip(*self._of(tier), strict=True)]
            self._expected[tier] = known
        return known

    def _of(self, tier: str) -> tuple[list[float], list[int]]:
        """Shares sold and offers made, per class of prices."""
        if tier not in self._seen:
            self._seen[tier] = self._believed.copy(), [1] * len(self._believed)
        return self._seen[tier]
