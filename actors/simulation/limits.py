"""What a seed's models may take: a budget that is raised when it stops the run, and caps.

Neither changes a byte of a journal. A budget ends lives: the episodes that find no room are owed,
and the next life has some more. Caps make requests wait for permits that a gate leases to the
processes that call models; the gate's process may die like any other.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from actors.budget import UNITS, Budget
from actors.language.caps import Caps
from actors.language.prices import Prices
from market.config.spending import Limits, Price
from market.rng import draws

MODEL = "pretended/model"

#: What the provider counts for every answer, and what that costs in US dollars.
READ, WRITTEN = 100, 10
PRICE = Price(input_per_million=10.0, output_per_million=100.0)
ANSWER_USD = 0.002

#: How a run whose budget is used up says so.
USED_UP = "is used up"

#: Chance of a budget, and of caps.
BUDGETED, CAPPED = 0.25, 0.3
#: First limit of a budget in tokens, and by how much it is raised: a call takes 110 and may take
#: some 1,500, so that runs stop often and little that is not counted shows.
LEAST, MOST, RAISE = 1_000, 4_000, 500


@dataclass(slots=True)
class Allowance:
    """What is allowed, as far as it is limited.

    Attributes:
        tokens: The limit in tokens; None for none.
        usd: Whether it is told in US dollars, at a price of a thousandth of a cent a token.
        caps: The caps of the model; None for none.
        processes: Processes that call models, where there are caps.
    """

    tokens: int | None = None
    usd: bool = False
    caps: Caps | None = None
    processes: int = 1

    @classmethod
    def of(cls, seed: int) -> Allowance:
        """The allowance of a seed."""
        chance = draws(seed, "allowance")
        allowance = cls()
        if chance.uniform() < BUDGETED:
            allowance.tokens = chance.integer(LEAST, MOST)
            allowance.usd = chance.uniform() < 0.5
        if chance.uniform() < CAPPED:
            allowance.caps = Caps(chance.integer(1, 3), chance.choice((None, 20)))
            allowance.processes = chance.integer(1, 2)
        return allowance

    def budget(self, clock: Callable[[], float]) -> Budget:
        """The budget of one life, nothing spent."""
        prices = Prices({MODEL: PRICE}, lambda *_: None)
        if self.tokens is None:
            return Budget(None, None, prices, clock)
        if self.usd:
            return Budget(Limits(usd=self._usd), None, prices, clock)
        return Budget(Limits(tokens=self.tokens), None, prices, clock)

    def affords(self, answers: int) -> bool:
        """Whether so many answers are within the limit."""
        if self.tokens is None:
            return True
        if self.usd:
            return answers * round(ANSWER_USD * UNITS) <= round(self._usd * UNITS)
        return answers * (READ + WRITTEN) <= self.tokens

    def raise_(self) -> None:
        """Raise the limit."""
        assert self.tokens is not None
        self.tokens += RAISE

    @property
    def _usd(self) -> float:
        # At the price of what is written, the dearest: as many calls fit as fit in tokens.
        return (self.tokens or 0) * PRICE.output_per_million / 1_000_000
