"""Policies that count how often they were asked: a memory that a rebuild must bring back."""

from __future__ import annotations

from dataclasses import dataclass

from market.environment import Answer, Decision
from market.policies.policy import Policy


@dataclass
class Counting(Policy):
    """Answers how often it was asked."""

    asked: int = 0

    def act(self, decision: Decision) -> Answer:
        self.asked += 1
        return Answer({"asked": self.asked})


@dataclass
class Stumbling(Counting):
    """Changes its memory and raises, on one step."""

    step: int = 1

    def act(self, decision: Decision) -> Answer:
        answer = super().act(decision)
        if decision.step == self.step:
            raise RuntimeError("stumbled")
        return answer
