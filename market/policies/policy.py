"""What a policy is: `act`, and a memory that is a pure function of its own history."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass

from market.environment import Answer, Cause, Decision, NoAction
from market.language import Reply, Request
from market.rng import Draws, draws

#: A policy's own past: every decision it was asked and what was applied for it.
History = Sequence[tuple[Decision, Answer | NoAction]]


#: Turns on which `act` never returned.
UNFINISHED = (Cause.LATE, Cause.CRASHED)


class RecallError(RuntimeError):
    """A policy, asked again, did not say what it had said: no pure function of its history."""


@dataclass
class Policy(ABC):
    """A way to play one seat.

    A policy is a dataclass: its fields beyond these two are its options, given in the
    configuration and checked against their types before anything starts. `__post_init__` is the
    place to prepare memory. `act` may change memory, and nothing else may.

    Attributes:
        seat: Id of the seat it plays.
        seed: Seed of the episode, for `draws`.
    """

    seat: str
    seed: int

    @abstractmethod
    def act(self, decision: Decision) -> Answer | Request:
        """Answer a decision, or say what a model must be asked first."""

    def resume(self, reply: Reply) -> Answer | NoAction | Request:  # noqa: ARG002
        """Go on from a model's reply. Only a policy whose `act` returns requests needs it."""
        raise TypeError(f"{type(self).__name__} asks no model")

    def recall(self, history: History) -> None:
        """Rebuild memory from a history, on a fresh policy.

        Plays the history again and checks that the answers are those that were given, which
        holds for every policy whose memory is a pure function of its history. A turn on which
        the policy raised, died or hung is left out: it leaves no trace in memory. A policy that
        asks a model overrides this and takes its answers from the history instead.

        Raises:
            RecallError: If an answer differs.
        """
        for decision, given in history:
            if isinstance(given, NoAction) and given.cause in UNFINISHED:
                continue
            answer = self.act(decision)
            if isinstance(given, Answer) and answer != given:
                raise RecallError(
                    f"{type(self).__name__} on seat {self.seat} answers step {decision.step}, "
                    f"turn {decision.turn} differently than it did"
                )

    def draws(self, decision: Decision, purpose: str = "act") -> Draws:
        """This seat's own random numbers for a decision, untouched by anyone else's."""
        return draws(self.seed, "policy", purpose, decision.step, decision.turn, self.seat)
