"""Plays one episode: asks, gathers and applies.

Plain asynchronous code that is given everything it touches. It runs in a market actor, or inline
in the driver, and is stepped by whoever keeps the record:

    start(recorded)     the episode from its beginning, or from where its journal ends
    gather()            asks the open batch: says what models must be asked, at last the answers
    supply(replies)     what the models replied
    apply()             called once the answers are on disk

An episode calls no model itself. The driver does, so that a request is on disk before it is sent
and a reply before it is used, and so that neither dies with the process this runs in.
"""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, TypeVar

from actors.retailer import Ask, Outcome, Said, Silent, Stage, bounded
from actors.wants import Wanted, Wants
from market import answers
from market.calls import CallKey
from market.environment import (
    OUTSIDE,
    Answer,
    Answers,
    Cause,
    Decision,
    Decisions,
    Environment,
    Result,
)
from market.journal import Chain
from market.language import ProviderFailure, Reply, Request

T = TypeVar("T")


class Host(Protocol):
    """Where some retailers live: this process, or another."""

    @property
    def seats(self) -> Sequence[str]:
        """The seats that live here."""
        ...

    async def act(self, ask: Ask) -> Mapping[str, Outcome]:
        """Ask the seats of a batch. A seat that is late or dead is answered for."""
        ...

    async def resume(self, replies: Mapping[str, Reply]) -> Mapping[str, Outcome]:
        """Hand over models' replies."""
        ...

    async def settle(self, given: Mapping[str, Said | Silent]) -> None:
        """Learn what was recorded for the last batch, and make fit again whoever failed."""
        ...

    async def remember(self, past: Sequence[tuple[Ask, Mapping[str, Said | Silent]]]) -> None:
        """Give policies a past that was played before: for each batch what was asked and given."""
        ...


class Outside(Protocol):
    """Who knows facts from outside the market."""

    async def answer(self, decision: Decision) -> Answer | ProviderFailure:
        """Answer a decision of the seat `OUTSIDE`."""
        ...


@dataclass(frozen=True, slots=True)
class Gathered:
    """The answers of one batch, as the journal wants them.

    Attributes:
        step: Step of the batch.
        turn: Turn of the batch.
        digest: The chain's digest up to what the seats were shown.
        texts: For each seat, its answer as `market.answers` spells it.
        failures: For each seat without an answer, what people need to mend it.
        owed: Why the batch cannot be applied: the outside did not answer. None when it can.
    """

    step: int
    turn: int
    digest: str
    texts: Mapping[str, str]
    failures: Mapping[str, str]
    owed: str | None = None


@dataclass(frozen=True, slots=True)
class News:
    """What became known of the open batch since the last time.

    Attributes:
        wanted: Requests that models must answer.
        gathered: All answers, once nothing more is wanted.
    """

    wanted: tuple[Wanted, ...]
    gathered: Gathered | None


@dataclass(frozen=True, slots=True)
class State:
    """Where an episode stands after a call.

    Attributes:
        decisions: How many answers the open batch wants; 0 when the episode is over.
        step: Step of the open batch; 0 when the episode is over.
        turn: Turn of the open batch.
        kind: What the open batch asks.
        digest: The chain's digest at the last batch that was applied.
        standings: Live figures per seat.
        result: The result, when the episode is over.
    """

    decisions: int
    step: int
    turn: int
    kind: str
    digest: str
    standings: Mapping[str, Mapping[str, int]]
    result: Result | None


class Episode:
    """One episode in progress.

    Args:
        environment: The environment, not yet started.
        hosts: Where the retailers live; together they hold every seat.
        outside: Who knows facts.
        begin: Where the journal's chain of digests begins.
    """

    def __init__(
        self, environment: Environment, hosts: Sequence[Host], outside: Outside, begin: str
    ) -> None:
        self._environment = environment
        self._hosts = hosts
        self._outside = outside
        self._chain = Chain(begin)
        self._open: Decisions = ()
        self._given: Mapping[str, Said | Silent] = {}
        self._asking: asyncio.Task[Gathered] | None = None
        self._wants = Wants()
        self._outside_failure = ""

    async def start(self, recorded: Sequence[Mapping[str, str]] = ()) -> State:
        """Begin the episode.

        Args:
            recorded: The answers, as text, of batches that were recorded before: they are applied
                again, and policies are given them as their past.
        """
        self._open = self._environment.start()
        past = []
        for texts in recorded:
            asked = ask_of(self._open)
            self._chain.extend(self._open)
            past.append((asked, {seat: as_given(text) for seat, text in texts.items()}))
            self._step_on({seat: answers.load(text) for seat, text in texts.items()})
        if past:
            await asyncio.gather(*(host.remember(past) for host in self._hosts))
        return self._state()

    async def gather(self) -> News:
        """Ask the open batch, and wait until a model must be asked or all have answered."""
        if self._asking is None:
            self._asking = self._begin_asking()
        await asyncio.sleep(0)  # in which scripts of this process answer
        wanted = await self._wants.news(self._asking)
        if not self._asking.done():
            return News(wanted, None)
        asking, self._asking = self._asking, None
        return News(wanted, await asking)

    async def supply(self, replies: Mapping[CallKey, Reply | ProviderFailure]) -> None:
        """Hand over what models replied. A reply that nobody waits for is dropped."""
        self._wants.supply(replies)

    async def apply(self) -> State:
        """Apply the answers that were gathered last."""
        given = self._given
        await _together(
            [
                host.settle({seat: given[seat] for seat in host.seats if seat in given})
                for host in self._hosts
            ]
        )
        self._step_on({seat: said.parsed for seat, said in given.items()})
        state = self._state()
        if self._open:
            # Seats think while the driver takes note of the state.
            self._asking = self._begin_asking()
        return state

    async def close(self) -> None:
        """End the episode, whatever it is doing."""
        if self._asking is not None:
            self._asking.cancel()
            await asyncio.gather(self._asking, return_exceptions=True)

    def _step_on(self, given: Answers) -> None:
        self._open = self._environment.apply(given)

    def _begin_asking(self) -> asyncio.Task[Gathered]:
        asking = asyncio.ensure_future(self._ask_all())
        # An exception is taken here too, since who gathers may be gone.
        asking.add_done_callback(lambda task: task.cancelled() or task.exception())
        return asking

    async def _ask_all(self) -> Gathered:
        asked = {decision.seat: decision for decision in self._open}
        parts = [
            self._ask_host(host, seats, asked)
            for host in self._hosts
            if (seats := [seat for seat in host.seats if seat in asked])
        ]
        if OUTSIDE in asked:
            parts.append(self._ask_outside(asked[OUTSIDE]))
        found: dict[str, Said | Silent] = {}
        for part in await _together(parts):
            found.update(part)
        first = self._open[0]
        if OUTSIDE in asked and OUTSIDE not in found:
            return Gathered(first.step, first.turn, "", {}, {}, owed=self._outside_failure)
        self._given = {seat: found[seat] for seat in asked}
        return Gathered(
            first.step,
            first.turn,
            self._chain.extend(self._open),
            {seat: said.text for seat, said in self._given.items()},
            {s: said.detail for s, said in self._given.items() if isinstance(said, Silent)},
        )

    async def _ask_outside(self, decision: Decision) -> dict[str, Said | Silent]:
        answer = await self._outside.answer(decision)
        if isinstance(answer, ProviderFailure):
            self._outside_failure = answer.message
            return {}
        said = bounded(answer, decision.form, limit=None)
        if isinstance(said, Silent):
            raise RuntimeError(f"the answer from outside is malformed: {said.detail}")
        return {OUTSIDE: said}

    async def _ask_host(
        self, host: Host, seats: Sequence[str], asked: Mapping[str, Decision]
    ) -> dict[str, Said | Silent]:
        with self._wants.thinking():
            return await self._ask_thinking(host, seats, asked)

    async def _ask_thinking(
        self, host: Host, seats: Sequence[str], asked: Mapping[str, Decision]
    ) -> dict[str, Said | Silent]:
        found: dict[str, Said | Silent] = {}
        outcomes = await host.act(ask_of([asked[seat] for seat in seats]))
        while True:
            wanted = []
            for seat, outcome in outcomes.items():
                if isinstance(outcome, Request):
                    wanted.append(_wanted(asked[seat], outcome))
                else:
                    found[seat] = outcome
            if not wanted:
                return found
            answered = await self._wants.asked(wanted)
            replies = {}
            for each, reply in zip(wanted, answered, strict=True):
                seat = each.key[2]
                if isinstance(reply, ProviderFailure):
                    found[seat] = Silent(Cause.UNANSWERED, reply.message)
                else:
                    replies[seat] = reply
            outcomes = await host.resume(replies) if replies else {}

    def _state(self) -> State:
        first = self._open[0] if self._open else None
        return State(
            decisions=len(self._open),
            step=first.step if first else 0,
            turn=first.turn if first else 0,
            kind=first.kind if first else "",
            digest=self._chain.digest,
            standings=self._environment.standings,
            result=None if first else self._environment.result,
        )


async def _together(calls: Sequence[Coroutine[Any, Any, T]]) -> list[T]:
    """What all calls return. A single one, as where scripts share a process, needs no task."""
    if len(calls) == 1:
        return [await calls[0]]
    return await asyncio.gather(*calls)


def _wanted(decision: Decision, request: Request) -> Wanted:
    return Wanted((decision.step, decision.turn, decision.seat, request.attempt), request)


def ask_of(decisions: Sequence[Decision]) -> Ask:
    """A batch, or a part of one, as it travels."""
    first = decisions[0]
    return Ask(
        first.step,
        first.turn,
        first.observation.public,
        {d.seat: (d.kind, d.observation.private) for d in decisions},
        {d.seat: d for d in decisions},
    )


def as_given(text: str) -> Said | Silent:
    """What a seat gave, from the journal's spelling."""
    answer = answers.load(text)
    return Said(text) if isinstance(answer, Answer) else Silent(answer.cause)


def stage_of(environment: Environment) -> Stage:
    """What retailers are told once."""
    return Stage(environment.rules, environment.forms)
