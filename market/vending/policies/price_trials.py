"""Price trials: at each type of site half of the machines try another price level for a week.

The next week it is the other half, so that each machine and week counts on both sides. Then the
level with the larger gross profit stays. A level that won is followed by one further in that
direction; after one that lost, the other direction is tried, with a smaller step.

Whole machines are compared, as products of one machine take customers from each other: a dear half
of a shelf would make the cheap half look good.
"""

from __future__ import annotations

from dataclasses import dataclass

#: First step between levels, and the least; what is left of a step after a loss.
FIRST_STEP, LEAST_STEP, SHRUNK = 0.3, 0.06, 0.7
#: Lowest level, in multiples of the reference price.
LOWEST = 0.8


@dataclass
class PriceTrial:
    """The price level of a type of site, in multiples of the reference price.

    Attributes:
        highest: Highest level allowed.
        level: The level that stays.
        step: What the trial adds to it, as a share.
        half: Which half of the machines is on trial.
        tried: Gross profit of machines on trial, CNY.
        stayed: Gross profit of the others, CNY.
    """

    highest: float
    level: float = 1.0
    step: float = FIRST_STEP
    half: int = 0
    tried: float = 0.0
    stayed: float = 0.0

    def multiple(self, number: int) -> float:
        """The level of a machine, by its number among those of the type."""
        if number % 2 != self.half:
            return self.level
        return min(self.highest, max(LOWEST, self.level * (1 + self.step)))

    def add(self, number: int, gross_profit: float) -> None:
        """Take in a machine's gross profit of a week."""
        if number % 2 == self.half:
            self.tried += gross_profit
        else:
            self.stayed += gross_profit

    def end_week(self) -> None:
        """Change halves, or judge the trial and begin another."""
        if self.half == 0:
            self.half = 1
            return
        if self.tried > self.stayed:
            self.level = self.multiple(1)
        else:
            shrunk = max(LEAST_STEP, abs(self.step) * SHRUNK)
            self.step = -shrunk if self.step > 0 else shrunk
        self.half, self.tried, self.stayed = 0, 0.0, 0.0
