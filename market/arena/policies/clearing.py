"""Learns clearing prices: wins an equal share as cheaply as it can and adds a fixed mark-up."""

from __future__ import annotations

from dataclasses import dataclass

from market.arena.policies.learned_bids import LearnedBids
from market.arena.policies.plans import Ware


@dataclass
class Clearing(LearnedBids):
    """Bids what was enough to win and sells at a fixed mark-up on base.

    The mark-up is on base and not on cost, so that dear goods are not priced out of the market;
    but it never asks less than unit cost + 1.

    Attributes:
        markup: Fraction of base added to it for the price of sale.
    """

    markup: float = 0.25

    def price(self, ware: Ware, cost: int) -> int:
        """The mark-up on base, or just above cost."""
        return ware.ask(max(ware.base * (1 + self.markup), cost + ware.tick))
