"""Zero intelligence in the auction alone, where the value of a unit is told (Gode and Sunder)."""

from __future__ import annotations

from dataclasses import dataclass

from market.arena.policies import plans
from market.arena.policies.script import Script
from market.environment import Decision


@dataclass
class ZIInduced(Script):
    """Bids uniformly for one unit of each item: up to its value, or up to the top of the range.

    Attributes:
        constrained: Whether it never bids above its value (ZI-C), or does so freely (ZI-U).
        highest: Top of the range of ZI-U, whole money, where the market has no lower cap.
        demand: Units wanted of each item.
    """

    constrained: bool = True
    highest: int = 10_000
    demand: int = 1

    def bid(self, decision: Decision) -> list[plans.Line]:
        """Draw a bid per item; none where the value is below the base price."""
        draws = self.draws(decision)
        wanted = []
        for item, value in decision.observation.private["values"].items():
            ware = self.wares[item]
            top = value if self.constrained else self.highest
            price = draws.integer(0, top)
            if price >= ware.base:
                wanted.append((item, self.demand, ware.bid(price)))
        return plans.order(decision, wanted)

    def prices(self, decision: Decision) -> dict[str, int]:  # noqa: ARG002
        """Sell nothing: stock is redeemed."""
        return {}

    def words(self, decision: Decision) -> str:  # noqa: ARG002
        """Say nothing."""
        return ""
