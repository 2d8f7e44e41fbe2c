"""The equilibrium bid of the auction alone: pay-your-bid, m units, n bidders of unit demand.

With values uniform on [0, 1] the symmetric equilibrium bids what the strongest losing rival is
expected to be worth, given that one wins: b(v) = E[Y | Y < v] with Y the m-th highest of n - 1
values (R. J. Weber, "Multiple-Object Auctions", 1983; V. Krishna, "Auction Theory", chapter 13).
Y has the distribution Beta(n - m, m), whose incomplete integrals are binomial tails:

    b(v) = (n - m)/n * P(Bin(n, v) > n - m) / P(Bin(n - 1, v) >= n - m)
"""

from __future__ import annotations

from dataclasses import dataclass
from math import comb

from market.arena.policies import plans
from market.arena.policies.script import Script
from market.environment import Decision


@dataclass
class Induced(Script):
    """Bids `scale` times the equilibrium bid for one unit of each item.

    The formula is that of a market without a base price. Where the bid falls below base it bids
    base if that is not above its value, and nothing otherwise.

    Attributes:
        scale: Factor on the equilibrium bid; 1 is the equilibrium.
        highest: Top of the uniform range of values, whole money.
        demand: Units wanted of each item.
    """

    scale: float = 1.0
    highest: int = 10_000
    demand: int = 1

    def bid(self, decision: Decision) -> list[plans.Line]:
        """One line per item whose value reaches its base price."""
        retailers = decision.observation.rules["retailers"]
        wanted = []
        for item, value in decision.observation.private["values"].items():
            ware = self.wares[item]
            if value >= ware.base:
                share = equilibrium(value / self.highest, retailers, ware.quantity)
                price = ware.bid(self.scale * share * self.highest + ware.tick / 2)
                wanted.append((item, self.demand, price))
        return plans.order(decision, wanted)

    def prices(self, decision: Decision) -> dict[str, int]:  # noqa: ARG002
        """Sell nothing: stock is redeemed."""
        return {}

    def words(self, decision: Decision) -> str:  # noqa: ARG002
        """Say nothing."""
        return ""


def equilibrium(value: float, bidders: int, units: int) -> float:
    """The equilibrium bid for a value in [0, 1]; 0 where every bidder gets a unit."""
    least = bidders - units
    if least <= 0 or value <= 0:
        return 0.0
    # Both tails are divided by value ** least, so that neither vanishes for small values.
    above = _tail(bidders, least + 1, value) * value
    return least / bidders * above / _tail(bidders - 1, least, value)


def _tail(trials: int, least: int, chance: float) -> float:
    """P(Bin(trials, chance) >= least) / chance ** least."""
    return sum(
        comb(trials, k) * chance ** (k - least) * (1 - chance) ** (trials - k)
        for k in range(least, trials + 1)
    )
