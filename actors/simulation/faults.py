"""Which faults strike, and when: everything drawn from one seed.

Each seed has a weather of its own: most kinds of fault do not occur at all, and those that do
differ in how often. A seed with every kind at once would never see what two of them do together
(the "swarm testing" of Groce et al., ISSTA 2012).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from enum import StrEnum

from market.rng import Draws, draws


class Fault(StrEnum):
    """What may strike. The value is what a schedule says."""

    RETAILER = "a retailers' process dies"
    MARKET = "a market's process dies"
    LANGUAGE = "the language process dies"
    ENCODER = "the encoder's process dies"
    GATE = "the gate's process dies"
    NODE = "a node is lost"
    SLOW = "an answer is late"
    LIMITED = "the provider limits"
    FAILING = "the provider fails"
    HANGING = "the provider hangs"
    CUT = "the provider's answer is lost on its way"
    REFUSING = "the provider refuses everything for a while"
    FULL = "the disk is full"
    UNSYNCED = "a sync fails"
    SLUGGISH = "the disk is slow"
    TORN = "the driver dies in a write"
    KILLED = "the driver is killed"
    STOPPED = "the driver is stopped by its user"
    LOCKED = "a journal is still locked"


#: Chance of a kind to occur at all, and how likely it then strikes where it can.
OCCURS = 0.35
RATES = (0.02, 0.1, 0.4)

#: Most seconds of a write to a slow disk.
MOST_WRITTEN = 5.0

#: Most faults of a seed.
MOST = 12


@dataclass(slots=True)
class Faults:
    """The faults of one seed.

    Attributes:
        draws: Where every other draw of the simulation comes from.
        rates: How likely each kind of fault strikes where it can.
        left: Faults that may still strike.
        schedule: What struck, in order.
        now: Seconds on the clock of the simulation.
    """

    draws: Draws
    rates: dict[Fault, float]
    left: int
    schedule: list[str] = field(default_factory=list)
    now: Callable[[], float] = lambda: 0.0

    @classmethod
    def of(cls, seed: int) -> Faults:
        """The faults of a seed."""
        chance = draws(seed, "faults")
        rates = {kind: chance.choice(RATES) for kind in Fault if chance.uniform() < OCCURS}
        return cls(chance, rates, chance.integer(1, MOST))

    @classmethod
    def none(cls) -> Faults:
        """No faults at all."""
        return cls(draws(0, "faults"), {}, 0)

    def strikes(self, fault: Fault, where: str) -> bool:
        """Whether a fault strikes here and now; if so it is on the schedule."""
        rate = self.rates.get(fault)
        if rate is None or self.left == 0 or self.draws.uniform() >= rate:
            return False
        self.left -= 1
        self.note(f"{fault}: {where}")
        return True

    def note(self, what: str) -> None:
        """Put something on the schedule."""
        self.schedule.append(f"{self.now():12.3f} s  {what}")

    def soon(self) -> float:
        """Seconds that a message takes: mostly none, at times enough to overtake others."""
        draw = self.draws.uniform()
        return 0.0 if draw < 0.7 else draw * 0.01 if draw < 0.95 else draw

    def written(self) -> float:
        """Seconds that a thread needs for a write to the disk."""
        if self.strikes(Fault.SLUGGISH, "a write in a thread"):
            return self.draws.uniform() * MOST_WRITTEN
        return self.soon()
