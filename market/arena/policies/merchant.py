"""A plain merchant: an equal share of supply a little above base, sold at a price of its own."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass

from market.arena.policies import plans
from market.arena.policies.plans import Ware
from market.arena.policies.script import Script
from market.arena.policies.slogans import GENERIC
from market.environment import Decision


@dataclass
class Merchant(Script):
    """Fills its stock up to a share of each item's supply and prices everything it holds.

    Most scripts are merchants that differ in one respect and override one of these methods.

    Attributes:
        premium: Fraction of the base price added to it for bids.
        appetite: Stock wanted of each item, in equal shares of supply.
        slogan: What it says every step.
    """

    premium: float = 0.02
    appetite: float = 1.0
    slogan: str = GENERIC

    def bid(self, decision: Decision) -> list[plans.Line]:
        """Fill stock up to what is wanted of each item."""
        stock = decision.observation.private["stock"]
        retailers = decision.observation.rules["retailers"]
        wanted, offer, lines = self.wanted, self.offer, []
        for item, ware in self.wares.items():
            quantity = wanted(ware, retailers)
            if item in stock:
                quantity -= stock[item]["units"]
            if quantity > 0:
                lines.append((item, quantity, offer(ware)))
        return plans.order(decision, lines)

    def prices(self, decision: Decision) -> dict[str, int]:
        """Price everything held."""
        costs = plans.unit_costs(decision.observation.private["stock"])
        price, wares = self.price, self.wares
        return {item: price(wares[item], cost) for item, cost in costs.items()}

    def words(self, decision: Decision) -> str:  # noqa: ARG002
        """Say the same every step."""
        return self.slogan

    def wanted(self, ware: Ware, retailers: int) -> int:
        """Units of an item to hold when retail opens."""
        return int(ware.share(retailers) * self.appetite)

    def offer(self, ware: Ware) -> int:
        """What to bid for a unit."""
        return ware.bid(ware.base * (1 + self.premium))

    @abstractmethod
    def price(self, ware: Ware, cost: int) -> int:
        """What to ask for a unit of some cost."""
