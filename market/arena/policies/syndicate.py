"""A seat of an owner that spares the owner's other seats: it asks more, as they gain by that."""

from __future__ import annotations

from dataclasses import dataclass

from market.arena.policies.clearing import Clearing
from market.arena.policies.plans import Ware
from market.environment import Decision


@dataclass
class Syndicate(Clearing):
    """Trades like `clearing`, with a mark-up that grows with the owner's share of the market.

    Who raises a price loses buyers. If they are as likely to go to any other retailer, the part
    D of them, the owner's other seats over all others, stays with the owner and brings the mark-up
    there. That is worth D x mark-up, and asked besides: the upward pricing pressure of a merger
    (Farrell and Shapiro 2010). A seat that is nobody's has D = 0.
    """

    def __post_init__(self) -> None:
        """Prepare memory: the part of lost buyers that stays with the owner."""
        super().__post_init__()
        self.diversion = 0.0

    def learn(self, decision: Decision) -> None:
        """Count the owner's other seats in the market."""
        super().learn(decision)
        sisters = decision.observation.private.get("sisters")
        if sisters is not None:
            others = decision.observation.rules["retailers"] - 1
            self.diversion = len(sisters) / others if others else 0.0

    def price(self, ware: Ware, cost: int) -> int:
        """The mark-up on base and the pressure on it, or just above cost."""
        markup = self.markup * (1 + self.diversion)
        return ware.ask(max(ware.base * (1 + markup), cost + ware.tick))
