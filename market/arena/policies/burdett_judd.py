"""Price dispersion among equals (Burdett and Judd 1983): buyers who see one or two prices.

K. Burdett and K. L. Judd, "Equilibrium Price Dispersion", Econometrica 51(4). Where a share q1 of
the buyers sees one seller and q2 sees two, no single price is an equilibrium. Sellers draw
theirs from F, which makes every price of its support earn what the reservation price r earns
from the buyers who see no other seller: (p - c)(q1 + 2 q2 (1 - F(p))) = (r - c) q1.
"""

from __future__ import annotations

from dataclasses import dataclass

from market.arena.policies.merchant import Merchant
from market.arena.policies.plans import Ware
from market.environment import Decision


@dataclass
class BurdettJudd(Merchant):
    """Draws each price from the equilibrium distribution, by its inverse.

    With w = 1 - F uniform on (0, 1] and k = q1 / (2 q2): p = (k r + w c) / (k + w). The cost c is
    the base price, at which it buys an equal share.

    Attributes:
        reservation: Highest price a buyer accepts, in multiples of base.
        lone: Share of the buyers that see one seller, below 1; the others see two.
    """

    premium: float = 0.0
    reservation: float = 2.0
    lone: float = 0.5

    def prices(self, decision: Decision) -> dict[str, int]:
        """A price from F for everything held."""
        draws = self.draws(decision)
        return {
            item: self.drawn(self.wares[item], draws.uniform())
            for item, held in decision.observation.private["stock"].items()
            if held["units"]
        }

    def drawn(self, ware: Ware, chance: float) -> int:
        """The price at which F reaches a chance in [0, 1)."""
        return ware.nearest(ware.base * inverse(chance, self.reservation, self.lone))


def inverse(chance: float, reservation: float, lone: float) -> float:
    """The multiple of cost at which F reaches a chance in [0, 1)."""
    k = lone / (2 * (1 - lone))
    w = 1 - chance
    return (k * reservation + w) / (k + w)
