"""Fixed mark-up: an equal share of supply a little above base, sold at cost plus a fraction."""

from __future__ import annotations

from dataclasses import dataclass

from market.arena.policies.merchant import Merchant
from market.arena.policies.plans import Ware


@dataclass
class Markup(Merchant):
    """Buys up to an equal share of each item and sells at unit cost times 1 + `markup`.

    Attributes:
        markup: Fraction of unit cost added to it for the price of sale.
    """

    markup: float = 0.25

    def price(self, ware: Ware, cost: int) -> int:
        """Unit cost and the mark-up."""
        return ware.ask(cost * (1 + self.markup))
