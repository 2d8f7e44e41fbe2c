"""Says what its options say: the measuring stick of known answers and of single changes."""

from __future__ import annotations

from dataclasses import dataclass

from market.arena.policies.merchant import Merchant
from market.arena.policies.plans import Line, Ware
from market.environment import Decision


@dataclass
class Fixed(Merchant):
    """Sells at a multiple of base; bids given lines, or an equal share at base plus `premium`.

    Attributes:
        multiple: Price of sale in multiples of base.
        bids: Lines `{"item", "quantity", "price"}` for every round, sent as they are, funds and
            rules unheeded. None bids for an equal share instead.
    """

    multiple: float = 1.25
    bids: list[Line] | None = None

    def bid(self, decision: Decision) -> list[Line]:
        """The given lines, or a share."""
        return super().bid(decision) if self.bids is None else self.bids

    def price(self, ware: Ware, cost: int) -> int:  # noqa: ARG002
        """The given multiple of base."""
        return ware.nearest(ware.base * self.multiple)
