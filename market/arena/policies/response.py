"""How much sells at which price, learned from the public history of all retailers.

Every retailer's prices and sales are public after the step, so each step is an experiment with as
many prices as there are retailers. They are pooled per tier of goods: the units that an offer
sold, in equal shares of the item's supply, by its price in multiples of base. A rival that sold
out may have been able to sell more: the estimate is low where stock was.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

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
        self._prospects: dict[tuple[str, int, int, float], list[tuple[float, float, float]]] = {}

    def observe(
        self, market: Mapping[str, Json], wares: Mapping[str, Ware], retailers: int
    ) -> None:
        """Add a step of public history."""
        last = len(self.multiples) - 1
        of = {item: self._of(ware.tier) for item, ware in wares.items()}
        for item, k, sold in experiments(market, wares, retailers):
            if k > last:
                k = last
            shares, offers = of[item]
            shares[k] += sold
            offers[k] += 1
        self._expected.clear()
        self._prospects.clear()

    def expected(self, tier: str) -> list[float]:
        """Equal shares that an offer is expected to sell, per class of prices."""
        known = self._expected.get(tier)
        if known is None:
            known = [sold / offers for sold, offers in zip(*self._of(tier), strict=True)]
            self._expected[tier] = known
        return known

    def prospects(
        self, tier: str, base: int, share: int, top: float
    ) -> list[tuple[float, float, float]]:
        """What an offer of goods can be expected to do, per class of prices.

        Args:
            tier: Of the goods.
            base: Their base price.
            share: Units of an equal share.
            top: The highest multiple of base.

        Returns:
            Multiple of base, price, and units sold.
        """
        known = self._prospects.get((tier, base, share, top))
        if known is None:
            known = self._prospects[tier, base, share, top] = [
                (multiple, multiple * base, shares * share)
                for multiple, shares in zip(self.multiples, self.expected(tier), strict=True)
                if multiple <= top
            ]
        return known

    def _of(self, tier: str) -> tuple[list[float], list[int]]:
        """Shares sold and offers made, per class of prices."""
        if tier not in self._seen:
            self._seen[tier] = self._believed.copy(), [1] * len(self._believed)
        return self._seen[tier]


#: An offer that was made: the item, the class of its price, and the equal shares that it sold.
Experiment = tuple[str, int, float]


def experiments(
    market: Mapping[str, Json], wares: Mapping[str, Ware], retailers: int
) -> list[Experiment]:
    """The offers of a step of public history."""
    global _last
    if _last[0] is not market or _last[1] is not wares or _last[2] != retailers:
        _last = market, wares, retailers, _experiments(market, wares, retailers)
    return _last[3]


#: A step of history, wares and retailers, and the offers: the same for all seats of one process.
_last: tuple[Any, Any, int, list[Experiment]] = None, None, 0, []


def _experiments(
    market: Mapping[str, Json], wares: Mapping[str, Ware], retailers: int
) -> list[Experiment]:
    of = {item: (ware.base, ware.share(retailers) or 1) for item, ware in wares.items()}
    found = []
    for shop in market["retailers"].values():
        sold = shop["sold"]
        for item, price in shop["prices"].items():
            base, share = of[item]
            k = round((price / base - 1) / WIDTH)
            found.append((item, k if k > 0 else 0, sold.get(item, 0) / share))
    return found
