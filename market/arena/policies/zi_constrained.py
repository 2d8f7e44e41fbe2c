"""Zero intelligence under a budget constraint (Gode and Sunder 1993, ZI-C).

A ZI-C trader draws uniformly too, but only prices at which it cannot lose: a buyer from the
bottom of the range to the value of the unit to it, a seller from the unit's cost to the top.
The literature's buyers are told what a unit is worth. A retailer is not, so the value stands for
what a unit can be expected to sell for: the mean price that all buyers paid for the item when it
last sold, which is public, and before any sale a multiple of base.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from market.arena.policies.plans import Ware
from market.arena.policies.zi_unconstrained import ZIUnconstrained
from market.environment import Decision, Json


@dataclass
class ZIConstrained(ZIUnconstrained):
    """Bids from base to the expected price of sale and asks from its own unit cost to the cap.

    Attributes:
        expected: Price of sale expected before any was seen, in multiples of base.
    """

    expected: float = 1.25

    def __post_init__(self) -> None:
        """Prepare memory."""
        super().__post_init__()
        self.paid: dict[str, int] = {}

    def learn(self, decision: Decision) -> None:
        """Note the mean price paid per item."""
        market = decision.observation.public.get("market")
        if market is None:
            return
        global _last
        if _last[0] is not market:
            _last = market, _mean_paid(market)
        self.paid |= _last[1]

    def most(self, ware: Ware) -> int:
        """The expected price of sale."""
        return ware.bid(self.paid.get(ware.item, ware.base * self.expected))

    def least(self, ware: Ware, cost: int) -> int:  # noqa: ARG002
        """The unit cost."""
        return cost


#: The market's last step, and what was made of it: the same for all seats of one process.
_last: tuple[Any, dict[str, int]] = None, {}


def _mean_paid(market: Json) -> dict[str, int]:
    """The mean price that buyers paid per item that sold."""
    sold: dict[str, int] = {}
    revenue: dict[str, int] = {}
    for shop in market["retailers"].values():
        prices = shop["prices"]
        for item, units in shop["sold"].items():
            if units:
                sold[item] = sold.get(item, 0) + units
                revenue[item] = revenue.get(item, 0) + units * prices[item]
    return {item: revenue[item] // units for item, units in sold.items()}
