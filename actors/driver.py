"""Steps an episode and keeps its record: the next batch is asked only after the last is on disk.

A market that dies is opened anew and given the journal so far; replies that were paid for come from
the log. So a death costs time and nothing else.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Protocol

from actors.correspondence import Correspondence
from actors.episode import Gathered, News, State
from actors.errors import OwedError
from actors.hosts import ProcessDiedError
from actors.progress.watch import Progress, Watcher
from actors.wants import Wanted
from market import answers
from market.calls import CallKey, CallRecord, Outcome
from market.environment import OUTSIDE, NoAction, Result
from market.journal import JournalError, JournalWriter, read
from market.language import ProviderFailure, Reply

#: How often a market may die without getting a batch further.
DEATHS = 3


class Market(Protocol):
    """An episode, wherever it runs. Any call may raise `ProcessDiedError`."""

    async def start(self, recorded: list[Mapping[str, str]]) -> State:
        """Begin, or go on from what was recorded."""
        ...

    async def gather(self) -> News:
        """Ask the open batch."""
        ...

    async def supply(self, replies: Mapping[CallKey, Reply | ProviderFailure]) -> None:
        """Hand over replies."""
        ...

    async def apply(self) -> State:
        """Apply what was gathered."""
        ...

    async def close(self) -> None:
        """End the episode: what it was played with may serve another."""
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


class Driver:
    """Plays one episode to its end, or as far as it goes.

    Args:
        open_market: Makes a fresh market of the episode.
        journal: Its journal, new or reopened.
        letters: Its model calls.
        watcher: Who is told.
        steps: Steps of the episode, for the watcher; 0 when nobody knows.
        suspend: Whether a provider's failure ends the run instead of costing the turn.
        clock: Seconds.
        decisions: Most decisions of all seats in the episode, for the watcher; None when nobody
            knows.
    """

    def __init__(
        self,
        open_market: Callable[[], Awaitable[Market]],
        journal: JournalWriter,
        letters: Correspondence,
        watcher: Watcher,
        steps: int,
        suspend: bool = True,
        clock: Callable[[], float] = time.monotonic,
        decisions: int | None = None,
    ) -> None:
        self._open_market = open_market
        self._journal = journal
        self._letters = letters
        self._watcher = watcher
        self._steps = steps
        self._suspend = suspend
        self._clock = clock
        self._began = clock()
        self._applied = 0
        self._decisions = decisions
        self._decided = 0

    async def play(self) -> Played:
        """Play. However it ends, what models were sent is waited for and logged: it is paid for."""
        try:
            played = await self._play()
        except Exception:
            await self._letters.close()
            raise
        await self._letters.close()
        return played

    async def _play(self) -> Played:
        deaths, before = 0, -1
        while True:
            try:
                return await self._play_in(await self._open_market())
            except ProcessDiedError as death:
                deaths = 0 if self._applied > before else deaths + 1
                before = self._applied
                if deaths == DEATHS:
                    return Played(None, f"the market's process died again and again ({death})")

    async def _play_in(self, market: Market) -> Played:
        """Play in a market, and leave it to others however that ends, unless it died."""
        try:
            played = Played(await self._finish(market), None)
        except ProcessDiedError:
            raise
        except OwedError as owed:
            played = Played(None, str(owed))
        except Exception:
            with suppress(ProcessDiedError):
                await market.close()
            raise
        with suppress(ProcessDiedError):
            await market.close()
        return played

    async def _finish(self, market: Market) -> Result:
        recorded = self._recorded()
        self._decided = sum(map(_decided, recorded))
        state = await market.start(recorded)
        if state.digest != self._journal.chain.digest:
            raise JournalError(
                f"{self._journal.path} is the recording of another game: this version shows the "
                "seats something else"
            )
        step = state.step
        while state.result is None:
            gathered = await self._gather(market)
            self._journal.append_texts(
                gathered.step, gathered.turn, gathered.digest, gathered.texts
            )
            state = await market.apply()
            self._applied += 1
            self._decided += _decided(gathered.texts)
            step = state.step or step
            self._tell(state, step)
        self._journal.finish(state.result)
        return state.result

    def _recorded(self) -> list[Mapping[str, str]]:
        return [
            {seat: answers.dump(answer) for seat, answer in batch.answers.items()}
            for batch in read(self._journal.path, self._journal.storage).batches
        ]

    async def _gather(self, market: Market) -> Gathered:
        """All answers to the open batch, with whatever models have to say to them."""
        found = await market.gather()
        if found.gathered is None:
            found = await self._correspond(market, found)
        gathered = found.gathered
        assert gathered is not None
        if gathered.owed is not None:
            raise OwedError(gathered.owed)
        if gathered.failures:
            await self._letters.note(self._failures(gathered))
        return gathered

    async def _correspond(self, market: Market, found: News) -> News:
        """Let models answer what a batch wants of them, until it wants nothing more."""
        replying = self._sent(found)
        news = asyncio.ensure_future(market.gather())
        try:
            while True:
                await asyncio.wait([news, *replying.values()], return_when=asyncio.FIRST_COMPLETED)
                # What came by now travels together: a call to a market costs milliseconds.
                ready = [key for key, task in replying.items() if task.done()]
                if ready:
                    await market.supply({key: replying.pop(key).result() for key in ready})
                if not news.done():
                    continue
                found = news.result()
                replying |= self._sent(found)
                if found.gathered is not None:
                    return found
                news = asyncio.ensure_future(market.gather())
        finally:
            news.cancel()
            for task in replying.values():
                task.cancel()

    def _sent(self, found: News) -> dict[CallKey, asyncio.Task[Reply | ProviderFailure]]:
        return {each.key: asyncio.ensure_future(self._reply(each)) for each in found.wanted}

    async def _reply(self, wanted: Wanted) -> Reply | ProviderFailure:
        reply = await self._letters.answer(wanted)
        if isinstance(reply, ProviderFailure) and self._suspend:
            raise OwedError(reply.message)
        return reply

    def _tell(self, state: State, step: int) -> None:
        spend = self._letters.spend
        self._watcher.progressed(
            Progress(
                step=step,
                steps=self._steps,
                turn=state.turn,
                phase=state.kind,
                standings=state.standings,
                calls=spend.calls,
                tokens=spend.tokens,
                cost_usd=spend.cost_usd,
                seconds=self._clock() - self._began,
                done=min(1.0, self._decided / self._decisions) if self._decisions else None,
            )
        )

    def _failures(self, gathered: Gathered) -> list[CallRecord]:
        records = []
        for seat, detail in gathered.failures.items():
            given = answers.load(gathered.texts[seat])
            assert isinstance(given, NoAction)
            records.append(
                CallRecord(
                    episode=self._journal.header.episode,
                    step=gathered.step,
                    turn=gathered.turn,
                    seat=seat,
                    attempt=0,
                    outcome=Outcome.SEAT_FAILED,
                    cause=given.cause,
                    error=detail or None,
                )
            )
        return records


def _decided(texts: Mapping[str, str]) -> int:
    """How many seats decided in a batch."""
    return sum(seat != OUTSIDE for seat in texts)
