"""Steps an episode and keeps its record: the next batch is asked only after the last is on disk."""

from __future__ import annotations

import time
from collections.abc import AsyncIterator, Callable, Mapping
from dataclasses import dataclass
from typing import Protocol

from actors.episode import Call, Gathered, State
from actors.watch import Progress, Watcher
from market import answers
from market.calls import CallLog, CallRecord, Outcome
from market.environment import NoAction, Result
from market.journal import JournalWriter
from market.language import Reply


class Market(Protocol):
    """An episode, wherever it runs."""

    async def start(self) -> State:
        """Begin."""
        ...

    def gather(self) -> AsyncIterator[Call | Gathered]:
        """Ask the open batch."""
        ...

    async def apply(self) -> State:
        """Apply what was gathered."""
        ...


@dataclass(frozen=True, slots=True)
class Played:
    """How an episode went.

    Attributes:
        result: Its result; None when it is owed.
        owed: Why it could not go on, in one sentence; None when it is finished.
    """

    result: Result | None
    owed: str | None


class Spend:
    """What models took so far."""

    def __init__(self) -> None:
        self.calls = 0
        self.tokens = 0
        self.cost_usd: float | None = 0.0

    def add(self, reply: Reply) -> None:
        """Count a reply. A cost that is unknown makes the sum unknown."""
        self.calls += 1
        self.tokens += (reply.usage.prompt_tokens or 0) + (reply.usage.completion_tokens or 0)
        cost = reply.usage.cost_usd
        self.cost_usd = None if self.cost_usd is None or cost is None else self.cost_usd + cost


async def drive(
    market: Market,
    journal: JournalWriter,
    calls: CallLog,
    watcher: Watcher,
    steps: int,
    clock: Callable[[], float] = time.monotonic,
) -> Played:
    """Play an episode to its end, or until a provider fails for good.

    Args:
        market: The episode.
        journal: Its journal, not yet finished.
        calls: Its answer log.
        watcher: Who is told.
        steps: Steps of the episode, for the watcher; 0 when nobody knows.
        clock: Seconds.
    """
    began = clock()
    spend = Spend()
    state = await market.start()
    step = state.step
    while state.result is None:
        gathered = await _gather(market, journal.header.episode, calls, spend)
        if gathered.owed is not None:
            return Played(None, gathered.owed)
        journal.append_texts(gathered.step, gathered.turn, gathered.digest, gathered.texts)
        state = await market.apply()
        step = state.step or step
        watcher.progressed(
            Progress(
                step=step,
                steps=steps,
                turn=state.turn,
                phase=state.kind,
                standings=state.standings,
                calls=spend.calls,
                tokens=spend.tokens,
                cost_usd=spend.cost_usd,
                seconds=clock() - began,
            )
        )
    journal.finish(state.result)
    return Played(state.result, None)


async def _gather(market: Market, episode: str, calls: CallLog, spend: Spend) -> Gathered:
    gathered: Gathered | None = None
    async for part in market.gather():
        if isinstance(part, Gathered):
            gathered = part
        else:
            calls.append(_record(episode, part))
            if isinstance(part.outcome, Reply):
                spend.add(part.outcome)
    if gathered is None:
        raise RuntimeError("the market gathered no answers")
    if failures := _failures(episode, gathered.step, gathered.turn, gathered.texts, gathered):
        calls.append(*failures)
    return gathered


def _record(episode: str, call: Call) -> CallRecord:
    request, outcome = call.request, call.outcome
    replied = isinstance(outcome, Reply)
    return CallRecord(
        episode=episode,
        step=call.step,
        turn=call.turn,
        seat=call.seat,
        attempt=request.attempt,
        outcome=Outcome.REPLIED if replied else Outcome.PROVIDER_FAILED,
        model=request.model.model,
        messages=request.messages,
        reply=outcome if isinstance(outcome, Reply) else None,
        cause=None if isinstance(outcome, Reply) else outcome.cause,
        error=None if isinstance(outcome, Reply) else outcome.message,
    )


def _failures(
    episode: str, step: int, turn: int, texts: Mapping[str, str], gathered: Gathered
) -> list[CallRecord]:
    records = []
    for seat, detail in gathered.failures.items():
        given = answers.load(texts[seat])
        assert isinstance(given, NoAction)
        records.append(
            CallRecord(
                episode=episode,
                step=step,
                turn=turn,
                seat=seat,
                attempt=0,
                outcome=Outcome.SEAT_FAILED,
                cause=given.cause,
                error=detail or None,
            )
        )
    return records
