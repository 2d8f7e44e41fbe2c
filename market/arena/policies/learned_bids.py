"""Bids that learn what it takes to win: just above the last price to win, and no more."""

from __future__ import annotations

from dataclasses import dataclass

from market.arena.policies.merchant import Merchant
from market.arena.policies.plans import Ware
from market.environment import Decision, Json


@dataclass
class LearnedBids(Merchant):
    """A merchant that bids what the last round has shown to be enough.

    Where the market tells prices to win, it bids one increment above an item's, or base if units
    were left. Where it tells nothing, it feels its way: one increment more after a line that was
    not served in full, one less after one that was.

    Attributes:
        increment: Step of bids as a fraction of base, at least one tick.
        limit: Highest bid in multiples of base.
    """

    increment: float = 0.01
    limit: float = 1.15

    def __post_init__(self) -> None:
        """Prepare memory."""
        super().__post_init__()
        self.enough: dict[str, int] = {}

    def learn(self, decision: Decision) -> None:
        """Note what would have been enough in the round just cleared."""
        public = decision.observation.public
        if "clearing" not in public:
            return
        if public["clearing"] is None:
            self._feel(decision.observation.private["bids"])
            return
        wares, enough = self.wares, self.enough
        for item, told in public["clearing"].items():
            ware = wares[item]
            scarce = told["asked"] > ware.quantity
            enough[item] = told["price_to_win"] + (self.step(ware) if scarce else 0)

    def offer(self, ware: Ware) -> int:
        """What was enough, within the limit."""
        enough = self.enough.get(ware.item)
        if enough is None:
            return super().offer(ware)
        most = self.most(ware)
        return ware.bid(enough if enough <= most else most)

    def most(self, ware: Ware) -> float:
        """The highest bid it is ready to make."""
        return ware.base * self.limit

    def step(self, ware: Ware) -> int:
        """One increment in whole money."""
        return max(ware.tick, int(ware.base * self.increment))

    def _feel(self, lines: list[Json]) -> None:
        for line in lines:
            if line["reason"] is None and line["quantity"]:
                ware = self.wares[line["item"]]
                served = line["awarded"] >= line["quantity"]
                self.enough[ware.item] = line["price"] + (-1 if served else 1) * self.step(ware)
