"""Plays at random within the rules: valid bids within its funds, valid prices, any slogan."""

from __future__ import annotations

from dataclasses import dataclass

from market.arena.policies import plans
from market.arena.policies.script import Script
from market.arena.policies.slogans import GENERIC, THEMES
from market.environment import Decision

_SLOGANS = (GENERIC, "", *THEMES.values())


@dataclass
class RandomValid(Script):
    """Draws quantities, prices and a slogan, all of them valid.

    Attributes:
        appetite: Most units of an item to bid for in a step, in equal shares of supply.
        ceiling: Highest bid and price in multiples of base, where the market has no cap.
    """

    appetite: float = 2.0
    ceiling: float = 3.0

    def bid(self, decision: Decision) -> list[plans.Line]:
        """A line per item, with a quantity up to the appetite and a price from base to cap."""
        draws = self.draws(decision)
        retailers = decision.observation.rules["retailers"]
        return plans.order(
            decision,
            [
                (
                    item,
                    draws.integer(0, int(ware.share(retailers) * self.appetite)),
                    ware.bid(draws.integer(ware.base, ware.top(self.ceiling))),
                )
                for item, ware in self.wares.items()
            ],
        )

    def prices(self, decision: Decision) -> dict[str, int]:
        """A price from base to cap for everything held."""
        draws = self.draws(decision, "prices")
        out = {}
        for item, held in decision.observation.private["stock"].items():
            if held["units"]:
                ware = self.wares[item]
                out[item] = ware.ask(draws.integer(ware.base, ware.top(self.ceiling)))
        return out

    def words(self, decision: Decision) -> str:
        """One of a few slogans."""
        return self.draws(decision, "words").choice(_SLOGANS)
