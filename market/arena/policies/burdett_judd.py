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

    def learn(self, decision: Decision) -> None:
        """Ready the draws of the decision, one per item priced."""
        self.luck = self.draws(decision)

    def price(self, ware: Ware, cost: int) -> int:  # noqa: ARG002
        """A price drawn from F."""
        multiple = inverse(self.luck.uniform(), self.reservation, self.lone)
        return ware.nearest(ware.base * multiple)


def inverse(chance: float, reservation: float, lone: float) -> float:
    """The multiple of cost at which F reaches a chance in [0, 1)."""
    k = lone / (2 * (1 - lone))
    w = 1 - chance
    return (k * reservation + w) / (k + w)
