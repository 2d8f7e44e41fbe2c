"""Trades as long as it pays: leaves the market after some steps of loss, where that is allowed."""

from __future__ import annotations

from dataclasses import dataclass

from market.arena.policies.clearing import Clearing
from market.environment import Answer, Decision


@dataclass
class Quitter(Clearing):
    """Trades like `clearing` and leaves after losses, one step after the other.

    Attributes:
        patience: Steps with a loss, without one of profit between them, after which it leaves.
    """

    patience: int = 2

    def __post_init__(self) -> None:
        """Prepare memory."""
        super().__post_init__()
        self.losses = 0

    def act(self, decision: Decision) -> Answer:
        """Leave, or trade."""
        answer = super().act(decision)
        leaving = decision.kind == "bid" and self.losses >= self.patience
        if leaving and decision.observation.rules.get("exit") == "voluntary":
            return Answer({"bids": [], "exit": True})
        return answer

    def learn(self, decision: Decision) -> None:
        """Count steps of loss."""
        super().learn(decision)
        last = decision.observation.private.get("last")
        if last is not None:
            self.losses = self.losses + 1 if last["profit"] < 0 else 0
