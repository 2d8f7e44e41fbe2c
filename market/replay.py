"""Plays a journal again: builds the environment it names and feeds it the recorded answers.

State is never saved, because it is cheaper and safer to recompute. Everything that wants to know
what happened comes through here: tables and audits as well as a run that resumes, which goes on
from the environment and the histories that `replay` hands back.

Whatever the environment shows is held against the journal's digests on the way, so a replay that
ends has proved, batch by batch, that this code still plays this game.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

from market import canonical, registry
from market.environment import (
    Answer,
    Answers,
    Decision,
    Decisions,
    Environment,
    Event,
    Json,
    NoAction,
)
from market.journal import Batch, Chain, Header, JournalReader, result_json
from market.rng import ForkedSeed, key
from market.seats import seat_ids

#: Makes a fresh environment for a header.
Build = Callable[[Header], Environment]


class ReplayError(RuntimeError):
    """A journal is not the recording of the game that this code plays; says where first."""


def build_environment(config: Mapping[str, Json]) -> Environment:
    """Make the environment of a resolved configuration (`environment`, `seed`, `rules`, ...).

    Raises:
        market.registry.UnknownNameError: If there is no such environment.
        ValueError: If the rules or the roster are not valid.
    """
    kind = registry.environment_kind(config["environment"])
    rules = registry.load(kind.rules).model_validate(config["rules"])
    seats = seat_ids(config["retailers"])
    environment: Environment = registry.load(kind.environment)(
        rules, seats, luck(config["seed"], config.get("fork"))
    )
    return environment


def luck(seed: int, fork: Mapping[str, Json] | None) -> int:
    """The seed of an episode; that of a fork is joined with one for its later steps."""
    if fork is None:
        return seed
    return ForkedSeed(seed, fork["step"], key(seed, "fork", fork["seed"]))


def build(header: Header) -> Environment:
    """Make the environment of a header.

    Raises:
        ReplayError: If this version plays other rules, or refuses the configuration.
    """
    version = registry.environment_kind(header.environment).rules_version
    if version != header.rules_version:
        raise ReplayError(
            f"episode {header.episode} was played by rules version {header.rules_version} of "
            f"{header.environment}; this is version {version}"
        )
    try:
        return build_environment(header.config)
    except (ValueError, KeyError) as error:
        raise ReplayError(
            f"the configuration of episode {header.episode} is refused: {error}"
        ) from error


@dataclass(frozen=True)
class Moment:
    """One call of the environment.

    Attributes:
        step: Step of the decisions that were answered; 0 for the start.
        turn: Turn of the decisions that were answered; 0 for the start.
        asked: The decisions that were answered; empty for the start.
        answers: The answers to them.
        environment: The environment, just after.
    """

    step: int
    turn: int
    asked: Decisions
    answers: Answers
    environment: Environment

    @cached_property
    def events(self) -> Sequence[Event]:
        """What happened. Built when first asked for, which must be before the iteration goes on."""
        return self.environment.events


class Replay:
    """A journal being played again; iterating yields one `Moment` per call, the start first.

    Attributes:
        header: The journal's header.
        environment: The environment, as far as it was played.
        asked: The decisions that wait for an answer; empty once the game is over.
        batches: Batches played.
        finished: Whether the journal holds the result, and the replay came to it.
        torn: Bytes of a torn last line, once the iteration is over.

    Raises:
        market.journal.JournalError: If the file is damaged; also while iterating.
        ReplayError: If the environment cannot be built; and, while iterating, where the game
            first differs from the recording.
    """

    def __init__(self, path: Path | str, build: Build = build) -> None:
        self._reader = JournalReader(path)
        self.header = self._reader.header
        self._chain = Chain(self.header.digest)
        self.asked: Decisions = ()
        self.batches = 0
        self.finished = False
        self.torn = 0
        try:
            self.environment = build(self.header)
        except BaseException:
            self._reader.close()
            raise

    def __iter__(self) -> Iterator[Moment]:
        """Play on, and compare."""
        self.asked = self.environment.start()
        yield Moment(0, 0, (), {}, self.environment)
        for batch in self._reader:
            self._compare(batch)
            asked = self.asked
            try:
                self.asked = self.environment.apply(batch.answers)
            except Exception as error:  # a journal may hold anything
                raise self._error(batch, f"the game cannot take the answers: {error!r}") from error
            self.batches += 1
            yield Moment(batch.step, batch.turn, asked, batch.answers, self.environment)
        self.torn = self._reader.torn
        self._compare_result()

    def _compare(self, batch: Batch) -> None:
        if not self.asked:
            raise self._error(batch, "the journal goes on, but the game is over")
        step, turn = self.asked[0].step, self.asked[0].turn
        if (step, turn) != (batch.step, batch.turn):
            raise self._error(batch, f"the game is at step {step}, turn {turn}")
        seats = {decision.seat for decision in self.asked}
        if seats != batch.answers.keys():
            other = ", ".join(sorted(seats ^ batch.answers.keys()))
            raise self._error(batch, f"game and journal do not ask the same seats: {other}")
        if self._chain.extend(self.asked) != batch.digest:
            raise self._error(batch, "the game shows the seats something else")

    def _compare_result(self) -> None:
        recorded = self._reader.result
        if recorded is None:
            return
        if self.asked:
            step, turn = self.asked[0].step, self.asked[0].turn
            raise ReplayError(
                f"{self._reader.path}: the journal ends, but the game goes on at step {step}, "
                f"turn {turn}"
            )
        played = canonical.dumps(result_json(self.environment.result))
        if played != canonical.dumps(result_json(recorded)):
            raise ReplayError(f"{self._reader.path}: the game has another result")
        self.finished = True

    def _error(self, batch: Batch, what: str) -> ReplayError:
        return ReplayError(f"{self._reader.path}, step {batch.step}, turn {batch.turn}: {what}")


@dataclass(frozen=True, slots=True)
class Replayed:
    """What a replay came to.

    Attributes:
        header: The journal's header.
        environment: The environment after the last recorded batch.
        asked: The decisions that wait for an answer; empty once the game is over.
        batches: Batches played.
        finished: Whether the journal holds the result.
        torn: Bytes of a torn last line, which were ignored.
        histories: For each seat its decisions and what was applied for them, where asked for.
    """

    header: Header
    environment: Environment
    asked: Decisions
    batches: int
    finished: bool
    torn: int
    histories: Mapping[str, list[tuple[Decision, Answer | NoAction]]] = field(default_factory=dict)


def replay(path: Path | str, build: Build = build, histories: bool = False) -> Replayed:
    """Play a journal again as far as it goes.

    Args:
        path: The journal.
        build: Makes the environment.
        histories: Whether to keep each seat's history, from which policies recall.

    Raises:
        market.journal.JournalError: If the file is damaged.
        ReplayError: If the game differs from the recording.
    """
    played = Replay(path, build)
    kept: dict[str, list[tuple[Decision, Answer | NoAction]]] = {}
    for moment in played:
        for decision in moment.asked if histories else ():
            kept.setdefault(decision.seat, []).append((decision, moment.answers[decision.seat]))
    return Replayed(
        header=played.header,
        environment=played.environment,
        asked=played.asked,
        batches=played.batches,
        finished=played.finished,
        torn=played.torn,
        histories=kept,
    )


def verify(path: Path | str, build: Build = build) -> Replayed:
    """Play a journal again and insist that it is whole.

    Raises:
        market.journal.JournalError: If the file is damaged.
        ReplayError: If the game differs from the recording, or the journal is unfinished.
    """
    replayed = replay(path, build)
    if not replayed.finished:
        where = "before its result"
        if replayed.asked:
            where = f"before step {replayed.asked[0].step}, turn {replayed.asked[0].turn}"
        raise ReplayError(f"{path} is unfinished: it ends {where}")
    return replayed
