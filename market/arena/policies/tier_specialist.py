"""Deals in one class of goods only, and in more of it than the others."""

from __future__ import annotations

from dataclasses import dataclass

from market.arena.policies.markup import Markup
from market.arena.policies.plans import Ware
from market.environment import Decision


@dataclass
class TierSpecialist(Markup):
    """Trades like `markup`, in the items of one tier.

    Attributes:
        tier: The tier; empty draws one for the episode.
    """

    appetite: float = 3.0
    tier: str = ""

    def __post_init__(self) -> None:
        """Prepare memory."""
        super().__post_init__()
        self.dealt_in = self.tier

    def learn(self, decision: Decision) -> None:
        """Settle on a tier."""
        if not self.dealt_in:
            tiers = sorted({ware.tier for ware in self.wares.values()})
            self.dealt_in = self.draws(decision, "tier").choice(tiers)

    def wanted(self, ware: Ware, retailers: int) -> int:
        """Nothing of another tier."""
        return super().wanted(ware, retailers) if ware.tier == self.dealt_in else 0
