"""A policy that plays what a recording holds: a rival frozen in time, or a game played again."""

from __future__ import annotations

from dataclasses import dataclass

from market import journal
from market.environment import Answer, Decision, NoAction
from market.policies.idle import empty
from market.policies.policy import Policy


@dataclass
class Replay(Policy):
    """Answers as a seat of a recorded episode did at the same step and turn.

    Where the recording has no action, because it is shorter or the seat took none, it does
    nothing. What it sees does not matter to it, so in another game than the recorded one its
    answers may break rules there.

    Attributes:
        journal: Path of the recording.
        of: Id of the recorded seat; empty for the seat's own.
    """

    journal: str
    of: str = ""

    def __post_init__(self) -> None:
        """Read the recording.

        Raises:
            JournalError: If it cannot be read.
            ValueError: If no batch of it asks the seat.
        """
        seat = self.of or self.seat
        given = {
            (batch.step, batch.turn): batch.answers[seat]
            for batch in journal.read(self.journal).batches
            if seat in batch.answers
        }
        if not given:
            raise ValueError(f"the recording holds no answer of a seat `{seat}`")
        self._given: dict[tuple[int, int], Answer | NoAction] = given

    def act(self, decision: Decision) -> Answer:
        """Give the recorded answer, or do nothing."""
        given = self._given.get((decision.step, decision.turn))
        return given if isinstance(given, Answer) else Answer(empty(decision.form.schema))
