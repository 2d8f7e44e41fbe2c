"""Zero intelligence without a budget constraint (Gode and Sunder 1993, ZI-U).

D. K. Gode and S. Sunder, "Allocative Efficiency of Markets with Zero-Intelligence Traders",
Journal of Political Economy 101(1): a ZI-U trader draws its bids and asks uniformly from the
whole range of prices, whatever a unit is worth to it or has cost.
"""

from __future__ import annotations

from dataclasses import dataclass

from market.arena.policies import plans
from market.arena.policies.plans import Ware
from market.arena.policies.script import Script
from market.arena.policies.slogans import GENERIC
from market.environment import Decision


@dataclass
class ZIUnconstrained(Script):
    """Bids and asks uniformly from base to cap, for an equal share of supply.

    It may buy dear and sell cheap. Its funds still bind: the budget of the literature is the
    value of a unit, and the market gives no credit.

    Attributes:
        ceiling: Highest bid and price in multiples of base, where the market has no cap.
        appetite: Stock wanted of each item, in equal shares of supply.
        slogan: What it says every step.
    """

    ceiling: float = 3.0
    appetite: float = 1.0
    slogan: str = GENERIC

    def bid(self, decision: Decision) -> list[plans.Line]:
        """Fill stock up to the appetite, each item at a drawn price."""
        draws = self.draws(decision)
        stock = decision.observation.private["stock"]
        retailers = decision.observation.rules["retailers"]
        return plans.order(
            decision,
            [
                (
                    item,
                    int(ware.share(retailers) * self.appetite) - plans.units(stock, item),
                    ware.bid(draws.integer(ware.base, self.most(ware))),
                )
                for item, ware in self.wares.items()
            ],
        )

    def prices(self, decision: Decision) -> dict[str, int]:
        """A drawn price for everything held."""
        draws = self.draws(decision)
        out = {}
        for item, cost in plans.unit_costs(decision.observation.private["stock"]).items():
            ware = self.wares[item]
            least, top = self.least(ware, cost), ware.top(self.ceiling)
            out[item] = ware.ask(draws.integer(min(least, top), top))
        return out

    def words(self, decision: Decision) -> str:  # noqa: ARG002
        """Say the same every step."""
        return self.slogan

    def most(self, ware: Ware) -> int:
        """Highest bid that may be drawn."""
        return ware.top(self.ceiling)

    def least(self, ware: Ware, cost: int) -> int:  # noqa: ARG002
        """Lowest price of sale that may be drawn for units of some cost."""
        return ware.base
