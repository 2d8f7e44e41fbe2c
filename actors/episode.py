"""Plays one episode: asks, gathers and applies.

Plain asynchronous code that is given everything it touches. It runs in a market actor, or inline
in the driver, and is stepped by whoever keeps the journal: `gather` asks a batch and hands out its
answers, and only when these are on disk is `apply` called.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from actors.retailer import Ask, Outcome, Said, Silent, Stage, bounded
from market import answers
from market.environment import OUTSIDE, Answer, Cause, Decision, Decisions, Environment, Result
from market.journal import Chain
from market.language import ProviderFailure, Reply, Request


class Host(Protocol):
    """Where some retailers live: this process, or an actor."""

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


class Language(Protocol):
    """Who calls models."""

    async def complete(self, request: Request) -> Reply | ProviderFailure:
        """Answer a request."""
        ...


class Outside(Protocol):
    """Who knows facts from outside the market."""

    async def answer(self, decision: Decision) -> Answer | ProviderFailure:
        """Answer a decision of the seat `OUTSIDE`."""
        ...


@dataclass(frozen=True, slots=True)
class Call:
    """One call of a model, as it is logged: the key of the decision, what was asked and came back.

    Attributes:
        step: Step of the decision.
        turn: Turn of the decision.
        seat: Who asked.
        request: What was asked.
        outcome: What came back.
    """

    step: int
    turn: int
    seat: str
    request: Request
    outcome: Reply | ProviderFailure


@dataclass(frozen=True, slots=True)
class Gathered:
    """The answers of one batch, as the journal wants them.

    Attributes:
        step: Step of the batch.
        turn: Turn of the batch.
        digest: The chain's digest up to what the seats were shown.
        texts: For each seat, its answer as `market.answers` spells it.
        failures: For each seat without an answer, what people need to mend it.
        owed: Why the batch cannot be applied: a provider failed for good. None when it can.
    """

    step: int
    turn: int
    digest: str
    texts: Mapping[str, str]
    failures: Mapping[str, str]
    owed: str | None = None


@dataclass(frozen=True, slots=True)
class State:
    """Where an episode stands after a call.

    Attributes:
        decisions: How many answers the open batch wants; 0 when the episode is over.
        step: Step of the open batch, or the last one.
        turn: Turn of the open batch.
        kind: What the open batch asks.
        standings: Live figures per seat.
        result: The result, when the episode is over.
    """

    decisions: int
    step: int
    turn: int
    kind: str
    standings: Mapping[str, Mapping[str, int]]
    result: Result | None


class Episode:
    """One episode in progress.

    Args:
        environment: The environment, not yet started.
        hosts: Where the retailers live; together they hold every seat.
        language: Who calls models.
        outside: Who knows facts.
        begin: Where the journal's chain of digests begins.
        suspend: Whether a provider's failure leaves the batch open instead of costing the turn.
    """

    def __init__(
        self,
        environment: Environment,
        hosts: Sequence[Host],
        language: Language,
        outside: Outside,
        begin: str,
        suspend: bool = True,
    ) -> None:
        self._environment = environment
        self._hosts = hosts
        self._language = language
        self._outside = outside
        self._chain = Chain(begin)
        self._suspend = suspend
        self._open: Decisions = ()
        self._given: Mapping[str, Said | Silent] = {}

    async def start(self) -> State:
        """Begin the episode."""
        self._open = self._environment.start()
        return self._state()

    async def gather(self) -> AsyncIterator[Call | Gathered]:
        """Ask the open batch: yields every model call as it returns, and the answers last."""
        calls: asyncio.Queue[Call | None] = asyncio.Queue()
        asking = asyncio.ensure_future(self._ask_all(calls))
        asking.add_done_callback(lambda _: calls.put_nowait(None))
        try:
            while (call := await calls.get()) is not None:
                yield call
            yield await asking
        finally:
            asking.cancel()

    async def apply(self) -> State:
        """Apply the answers that were gathered last."""
        given = self._given
        await asyncio.gather(
            *(
                host.settle({seat: given[seat] for seat in host.seats if seat in given})
                for host in self._hosts
            )
        )
        self._open = self._environment.apply(
            {seat: answers.load(said.text) for seat, said in given.items()}
        )
        return self._state()

    async def _ask_all(self, calls: asyncio.Queue[Call | None]) -> Gathered:
        asked = {decision.seat: decision for decision in self._open}
        parts = [
            self._ask_host(host, seats, asked, calls)
            for host in self._hosts
            if (seats := [seat for seat in host.seats if seat in asked])
        ]
        if OUTSIDE in asked:
            parts.append(self._ask_outside(asked[OUTSIDE]))
        found: dict[str, Said | Silent | ProviderFailure] = {}
        for part in await asyncio.gather(*parts):
            found.update(part)
        self._given = {seat: _settled(found[seat]) for seat in asked}
        owed = [
            outcome.message
            for seat, outcome in found.items()
            if isinstance(outcome, ProviderFailure) and (self._suspend or seat == OUTSIDE)
        ]
        first = self._open[0]
        return Gathered(
            first.step,
            first.turn,
            self._chain.extend(self._open),
            {seat: said.text for seat, said in self._given.items()},
            {s: said.detail for s, said in self._given.items() if isinstance(said, Silent)},
            owed=owed[0] if owed else None,
        )

    async def _ask_outside(self, decision: Decision) -> dict[str, Said | Silent | ProviderFailure]:
        answer = await self._outside.answer(decision)
        if isinstance(answer, ProviderFailure):
            return {OUTSIDE: answer}
        said = bounded(answer, decision.form, limit=None)
        if isinstance(said, Silent):
            raise RuntimeError(f"the answer from outside is malformed: {said.detail}")
        return {OUTSIDE: said}

    async def _ask_host(
        self,
        host: Host,
        seats: Sequence[str],
        asked: Mapping[str, Decision],
        calls: asyncio.Queue[Call | None],
    ) -> dict[str, Said | Silent | ProviderFailure]:
        found: dict[str, Said | Silent | ProviderFailure] = {}
        outcomes = await host.act(ask_of([asked[seat] for seat in seats]))
        while True:
            requests = {}
            for seat, outcome in outcomes.items():
                if isinstance(outcome, Request):
                    requests[seat] = outcome
                else:
                    found[seat] = outcome
            if not requests:
                return found
            answered = await asyncio.gather(
                *(self._call(asked[seat], request, calls) for seat, request in requests.items())
            )
            replies = {}
            for seat, reply in zip(requests, answered, strict=True):
                if isinstance(reply, ProviderFailure):
                    found[seat] = reply
                else:
                    replies[seat] = reply
            outcomes = await host.resume(replies) if replies else {}

    async def _call(
        self, decision: Decision, request: Request, calls: asyncio.Queue[Call | None]
    ) -> Reply | ProviderFailure:
        outcome = await self._language.complete(request)
        calls.put_nowait(Call(decision.step, decision.turn, decision.seat, request, outcome))
        return outcome

    def _state(self) -> State:
        first = self._open[0] if self._open else None
        return State(
            decisions=len(self._open),
            step=first.step if first else 0,
            turn=first.turn if first else 0,
            kind=first.kind if first else "",
            standings=self._environment.standings,
            result=None if first else self._environment.result,
        )


def _settled(outcome: Said | Silent | ProviderFailure) -> Said | Silent:
    if isinstance(outcome, ProviderFailure):
        return Silent(Cause.UNANSWERED, outcome.message)
    return outcome


def ask_of(decisions: Sequence[Decision]) -> Ask:
    """A batch, or a part of one, as it travels."""
    first = decisions[0]
    return Ask(
        first.step,
        first.turn,
        first.observation.public,
        {d.seat: (d.kind, d.observation.private) for d in decisions},
    )


def stage_of(environment: Environment) -> Stage:
    """What retailers are told once."""
    return Stage(environment.rules, environment.forms)
