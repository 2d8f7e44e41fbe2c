"""Price competition with ample stock (Bertrand): undercut by one until nothing is left to earn."""

from __future__ import annotations

from dataclasses import dataclass

from market.arena.policies import plans
from market.arena.policies.script import Script
from market.environment import Decision


@dataclass
class Bertrand(Script):
    """Refills its stock at base each step and undercuts the cheapest rival by one tick.

    It starts at a multiple of base and never asks less than unit cost + 1, where two of its kind
    meet in the end (the equilibrium of J. Bertrand, 1883, on a grid of prices).

    Attributes:
        start: Price of sale where no rival's is known, in multiples of base.
        refill: Units of each item to hold when retail opens.
    """

    start: float = 1.5
    refill: int = 500

    def __post_init__(self) -> None:
        """Prepare memory."""
        super().__post_init__()
        self.rivals: dict[str, int] = {}

    def learn(self, decision: Decision) -> None:
        """Note the cheapest price of any rival per item."""
        if decision.observation.public.get("market") is not None:
            self.rivals = plans.cheapest_rivals(decision.observation)

    def bid(self, decision: Decision) -> list[plans.Line]:
        """Refill at base."""
        stock = decision.observation.private["stock"]
        return plans.order(
            decision,
            [
                (item, self.refill - plans.units(stock, item), ware.bid(ware.base))
                for item, ware in self.wares.items()
            ],
        )

    def prices(self, decision: Decision) -> dict[str, int]:
        """Start high, then undercut."""
        out = {}
        for item, cost in plans.unit_costs(decision.observation.private["stock"]).items():
            ware, rival = self.wares[item], self.rivals.get(item)
            out[item] = (
                ware.ask(ware.base * self.start) if rival is None else ware.undercut(rival, cost)
            )
        return out

    def words(self, decision: Decision) -> str:  # noqa: ARG002
        """Say nothing."""
        return ""
