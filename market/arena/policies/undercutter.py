"""Undercuts the cheapest rival of the last step by one tick, as long as it earns something."""

from __future__ import annotations

from dataclasses import dataclass

from market.arena.policies import plans
from market.arena.policies.markup import Markup
from market.arena.policies.plans import Ware
from market.environment import Decision


@dataclass
class Undercutter(Markup):
    """Buys like `markup` and asks one tick less than the cheapest rival did in the last step.

    It never asks less than unit cost + 1, and the mark-up applies where no rival had the item.
    """

    def __post_init__(self) -> None:
        """Prepare memory."""
        super().__post_init__()
        self.rivals: dict[str, int] = {}

    def learn(self, decision: Decision) -> None:
        """Note the cheapest price of any rival per item."""
        if decision.observation.public.get("market") is not None:
            self.rivals = plans.cheapest_rivals(decision.observation)

    def price(self, ware: Ware, cost: int) -> int:
        """Undercut, but not below unit cost + 1."""
        rival = self.rivals.get(ware.item)
        return super().price(ware, cost) if rival is None else ware.undercut(rival, cost)
