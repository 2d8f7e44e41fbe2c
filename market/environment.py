"""The contract every environment meets (law 1): a deterministic machine that asks and is told.

    decisions = environment.start()
    while decisions:
        decisions = environment.apply(answers)     # one answer per decision, all at once

An environment never waits, draws from a global generator, reads a clock or calls anybody. Who
answers, where and how long that takes is somebody else's business (`actors`). Decisions of one
batch are simultaneous: they may be answered in any order and are applied in seat order.

Facts from outside (similarities of a sentence encoder) are asked like decisions, of the reserved
seat `OUTSIDE`, and recorded like answers, so that a replay needs nothing but the recording.

A failing agent is data, not a crash: its turn becomes a `NoAction` with a cause, final and
recorded. Failures of the infrastructure never reach an environment.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, ClassVar, Protocol

#: Data that JSON can carry. Plain `Any`, because a recursive alias helps no reader here.
Json = Any

#: The seat that is asked for facts from outside the market. No roster may use the name.
OUTSIDE = "outside"


class Cause(StrEnum):
    """Why a seat's turn passed without an action: the agent's own doing, but for the last."""

    LATE = "late"  #: did not answer before its deadline
    CRASHED = "crashed"  #: its policy raised, or its process died again after a rebuild
    MALFORMED = "malformed"  #: no answer of the asked form, re-asks included
    REFUSED = "refused"  #: the model declined to answer
    TRUNCATED = "truncated"  #: the answer ended at the token limit before it was whole
    UNANSWERED = "unanswered"  #: the provider failed, and the user chose to go on without it


@dataclass(frozen=True, slots=True)
class NoAction:
    """A turn that passed without an action."""

    cause: Cause


@dataclass(frozen=True, slots=True)
class Answer:
    """What a policy does.

    Attributes:
        action: JSON of the decision's form; all that the environment reads.
        said: Bounded JSON that the environment never reads and the journal keeps: a policy's
            notes to its later self.
    """

    action: Json
    said: Json = None


@dataclass(frozen=True, slots=True)
class Tool:
    """A tool that may be called in an answer: its name, purpose and JSON schema of arguments."""

    name: str
    description: str
    parameters: Mapping[str, Json]


@dataclass(frozen=True, slots=True)
class Form:
    """What an answer must look like.

    Attributes:
        schema: JSON schema of the whole action. For a tool decision it describes the list of
            calls, `[{"tool": name, "arguments": {...}}, ...]`.
        example: A valid action, shown at the end of prompts.
        tools: The tools that may be called; empty when the action is one JSON object.
    """

    schema: Mapping[str, Json]
    example: Json
    tools: tuple[Tool, ...] = ()


@dataclass(frozen=True, slots=True)
class Observation:
    """What a seat sees, as structured data that nobody may change.

    Attributes:
        rules: What holds for the whole episode and for every seat.
        public: What every seat learns with this batch. Only news: nothing is told twice.
        private: What this seat alone sees.
    """

    rules: Mapping[str, Json]
    public: Mapping[str, Json]
    private: Mapping[str, Json]


@dataclass(frozen=True, slots=True)
class Decision:
    """One question: who must decide, what they see and what form the answer takes.

    Attributes:
        step: Step of the episode, from 1.
        turn: Turn within the step, from 0.
        seat: Who is asked; `OUTSIDE` for a fact.
        kind: What is asked, such as `bid` or `sell`.
        observation: What the seat sees.
        form: What the answer must look like.
    """

    step: int
    turn: int
    seat: str
    kind: str
    observation: Observation
    form: Form


Decisions = tuple[Decision, ...]
Answers = Mapping[str, Answer | NoAction]


@dataclass(frozen=True, slots=True)
class Event:
    """One row of what happened; subclasses add columns and name their table.

    Every field of a subclass is a column: an int, float, str, bool or None.
    """

    table: ClassVar[str]

    step: int
    turn: int
    seat: str


@dataclass(frozen=True, slots=True)
class SeatResult:
    """How one seat ended.

    Attributes:
        score: What the seat was to maximise.
        metrics: Named figures; None where undefined.
        undefined: For each metric that is None, the reason in a few words.
    """

    score: int | float
    metrics: Mapping[str, int | float | None]
    undefined: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Result:
    """How an episode ended: each seat's result and figures of the whole."""

    seats: Mapping[str, SeatResult]
    totals: Mapping[str, int | float | None] = field(default_factory=dict)


class Environment(Protocol):
    """The contract. `market.testing` holds checks that any implementation must pass."""

    @property
    def seats(self) -> tuple[str, ...]:
        """Ids of the seats, in the order in which answers are applied."""
        ...

    @property
    def rules(self) -> Mapping[str, Json]:
        """What holds for the whole episode: every decision's `observation.rules`."""
        ...

    @property
    def forms(self) -> Mapping[str, Form]:
        """The form of each kind of decision, the same for the whole episode."""
        ...

    def start(self) -> Decisions:
        """Begin the episode and ask the first batch. Called once."""
        ...

    def apply(self, answers: Answers) -> Decisions:
        """Take one answer per decision of the last batch and ask the next; empty at the end.

        Raises:
            ContractError: If the answers are not those of the last batch.
        """
        ...

    @property
    def events(self) -> Sequence[Event]:
        """What happened in the last call, as typed rows. Built when asked for."""
        ...

    @property
    def standings(self) -> Mapping[str, Mapping[str, int]]:
        """A few live figures per seat, for whoever watches."""
        ...

    @property
    def result(self) -> Result:
        """The result.

        Raises:
            ContractError: Before the episode is over.
        """
        ...


class ContractError(RuntimeError):
    """An environment or its driver broke the contract. A bug, never a user's mistake."""


def check_answers(asked: Decisions, answers: Answers) -> None:
    """Raise `ContractError` unless there is exactly one answer per asked decision."""
    expected = {decision.seat for decision in asked}
    if expected != answers.keys():
        missing = sorted(expected - answers.keys())
        extra = sorted(answers.keys() - expected)
        raise ContractError(f"answers missing for {missing}, not asked for {extra}")
