"""What an episode tells whoever watches it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol


@dataclass(frozen=True, slots=True)
class Plan:
    """What is about to be played.

    Attributes:
        name: Name of the run.
        environment: Name of the environment.
        seats: Each seat with its policy and, where a model is asked, the model.
        steps: Steps of the episode; 0 when nobody knows.
    """

    name: str
    environment: str
    seats: tuple[tuple[str, str, str | None], ...]
    steps: int


@dataclass(frozen=True, slots=True)
class Progress:
    """How far the episode is.

    Attributes:
        step: Step that is asked next, from 1; at the end the last one.
        steps: Steps of the episode; 0 when nobody knows.
        turn: Turn within the step, from 0.
        phase: What is asked next, such as `bid`; empty at the end.
        standings: A few live figures per seat, as the environment names them.
        calls: Model calls so far.
        tokens: Tokens read and written so far, where known.
        cost_usd: Price so far; None when any part of it is unknown.
        seconds: Since the start.
        done: Share of the episode's decisions that are made, from 0 to 1; None when nobody knows.
    """

    step: int
    steps: int
    turn: int
    phase: str
    standings: Mapping[str, Mapping[str, int]]
    calls: int
    tokens: int
    cost_usd: float | None
    seconds: float
    done: float | None = None

    @property
    def share(self) -> float | None:
        """Share that is done: of the decisions, or else, between steps, of the steps."""
        if self.done is not None:
            return self.done
        between = self.steps and self.turn == 0 and self.phase
        return (self.step - 1) / self.steps if between else None


@dataclass(frozen=True, slots=True)
class Work:
    """What is done of an episode, or of many, and what it took.

    Attributes:
        share: Share that is done: of an episode from 0 to 1, of many in episodes.
        calls: Model calls.
        tokens: Tokens read and written, where known.
        cost_usd: Price; None when any part of it is unknown.
    """

    share: float = 0.0
    calls: int = 0
    tokens: int = 0
    cost_usd: float | None = 0.0

    def __add__(self, other: Work) -> Work:
        costs = (self.cost_usd, other.cost_usd)
        return Work(
            self.share + other.share,
            self.calls + other.calls,
            self.tokens + other.tokens,
            None if None in costs else sum(filter(None, costs), 0.0),
        )


#: No work at all.
NOTHING = Work()


class Watcher(Protocol):
    """Someone who is told. It is called from the driver and must return at once."""

    def started(self, plan: Plan) -> None:
        """The episode begins; called once, also when it is resumed."""
        ...

    def progressed(self, progress: Progress) -> None:
        """A batch was applied."""
        ...

    def finished(self, summary: Mapping[str, Any]) -> None:
        """The episode is over; the summary is what `summary.json` holds."""
        ...
