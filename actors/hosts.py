"""Where retailers live: in this process, or in one of their own that may be late or die.

A process is anything that takes calls and can be killed, so that the same code serves a Ray actor
and a test's pretended one. What a failed process costs is decided here:

- A single seat that misses its deadline is late: its process is killed and replaced.
- A process that dies is replaced and its seats are asked again, one at a time. A seat on which the
  fresh process dies again has crashed by its own doing.
- A shared process that is late is treated the same, so that the guilty seat is known.
- Once the batch is recorded, fresh policies recall their past, each within the time that its
  decisions might have taken. One that takes longer crashes from there on.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any, Protocol

from actors.retailer import Ask, Casting, Outcome, Retailers, Said, Silent, Stage
from market.environment import Cause
from market.language import Reply

#: How often a process may die while it is only being made ready.
SPAWNS = 3


class ProcessDiedError(RuntimeError):
    """The process is gone, and with it whatever it was doing."""


class Process(Protocol):
    """A process that hosts `Retailers`."""

    async def call(self, method: str, argument: Any) -> Any:
        """Call a method of its `Retailers`.

        Raises:
            ProcessDiedError: If it dies before it answers.
        """
        ...

    async def kill(self) -> None:
        """End it, whatever it is doing."""
        ...


Spawn = Callable[[Sequence[Casting], Stage], Awaitable[Process]]


class _Past:
    """What the seats of a host were asked and what was recorded for them."""

    def __init__(self, seats: Sequence[str]) -> None:
        self._pairs: dict[str, list[tuple[Ask, Said | Silent]]] = {seat: [] for seat in seats}

    def add(self, ask: Ask, given: Mapping[str, Said | Silent]) -> None:
        for seat, said in given.items():
            if seat in self._pairs:
                self._pairs[seat].append((ask, said))

    def of(self, seats: Sequence[str]) -> dict[str, list[tuple[Ask, Said | Silent]]]:
        return {
            seat: [(ask.only([seat]), said) for ask, said in self._pairs[seat]] for seat in seats
        }


class LocalHost:
    """Retailers in this process. Deadlines cannot be enforced and a death is everybody's."""

    def __init__(self, castings: Sequence[Casting], stage: Stage) -> None:
        self.seats = tuple(casting.seat for casting in castings)
        self._retailers = Retailers(castings, stage)
        self._past = _Past(self.seats)
        self._ask: Ask | None = None

    async def act(self, ask: Ask) -> Mapping[str, Outcome]:
        """Ask the seats of a batch."""
        self._ask = ask
        return self._retailers.act(ask)

    async def resume(self, replies: Mapping[str, Reply]) -> Mapping[str, Outcome]:
        """Hand over models' replies."""
        return self._retailers.resume(replies)

    async def settle(self, given: Mapping[str, Said | Silent]) -> None:
        """Learn what was recorded, and rebuild the policies that raised."""
        if self._ask is None or not given:
            return
        self._past.add(self._ask, given)
        if crashed := _crashed(given):
            self._retailers.restore(self._past.of(crashed))

    async def remember(self, past: Sequence[tuple[Ask, Mapping[str, Said | Silent]]]) -> None:
        """Give policies a past that was played before."""
        for ask, given in past:
            self._past.add(ask, given)
        self._retailers.restore(self._past.of(self.seats))


class ProcessHost:
    """Retailers in a process of their own.

    Args:
        castings: Who plays the seats that live there.
        stage: What they are told once.
        spawn: Starts a process.
        deadline: Seconds that a call may take.
    """

    def __init__(
        self, castings: Sequence[Casting], stage: Stage, spawn: Spawn, deadline: float
    ) -> None:
        self.seats = tuple(casting.seat for casting in castings)
        self._castings = castings
        self._stage = stage
        self._spawn = spawn
        self._deadline = deadline
        self._process: Process | None = None
        self._past = _Past(self.seats)
        self._ask: Ask | None = None
        self._replies: dict[str, list[Reply]] = {}
        self._lost: dict[str, Silent] = {}
        self._fresh = False
        self._calling = False

    async def start(self) -> None:
        """Start the process, so that the first deadline does not pay for it."""
        self._process = await self._spawn(self._castings, self._stage)
        self._calling = False

    async def leave(self) -> Process | None:
        """Give the process away: the episode is over. One that is still at something is ended."""
        process, self._process = self._process, None
        if process is not None and self._calling:
            await process.kill()
            return None
        return process

    async def act(self, ask: Ask) -> Mapping[str, Outcome]:
        """Ask the seats of a batch."""
        self._ask = ask
        self._replies = {seat: [] for seat in ask.seats}
        return await self._attempt("act", ask, tuple(ask.seats))

    async def resume(self, replies: Mapping[str, Reply]) -> Mapping[str, Outcome]:
        """Hand over models' replies."""
        for seat, reply in replies.items():
            self._replies[seat].append(reply)
        if self._fresh:
            return await self._one_by_one(tuple(replies))
        return await self._attempt("resume", replies, tuple(replies))

    async def settle(self, given: Mapping[str, Said | Silent]) -> None:
        """Learn what was recorded, and give fresh policies their past."""
        if self._ask is None or not given:
            return
        self._past.add(self._ask, given)
        await self._restore(self.seats if self._fresh else _crashed(given))
        self._fresh = False

    async def remember(self, past: Sequence[tuple[Ask, Mapping[str, Said | Silent]]]) -> None:
        """Give policies a past that was played before."""
        for ask, given in past:
            self._past.add(ask, given)
        await self._restore(self.seats)
        self._fresh = False

    async def _attempt(
        self, method: str, argument: Any, seats: Sequence[str]
    ) -> Mapping[str, Outcome]:
        try:
            return await self._timed(method, argument)
        except TimeoutError:
            if len(seats) == 1:
                await self._replace()
                return {seats[0]: self._late()}
        except ProcessDiedError:
            pass
        await self._replace()
        return await self._one_by_one(seats)

    async def _one_by_one(self, seats: Sequence[str]) -> Mapping[str, Outcome]:
        outcomes: dict[str, Outcome] = {}
        await self._restore(seats)
        for index, seat in enumerate(seats):
            try:
                outcomes[seat] = await self._alone(seat)
                continue
            except TimeoutError:
                outcomes[seat] = self._late()
            except ProcessDiedError as death:
                outcomes[seat] = Silent(Cause.CRASHED, f"its process died twice: {death}")
            await self._replace()
            await self._restore(seats[index + 1 :])
        return outcomes

    async def _alone(self, seat: str) -> Outcome:
        """Ask one seat from the start of the batch, with the replies that it already had."""
        assert self._ask is not None
        outcome = (await self._timed("act", self._ask.only([seat])))[seat]
        for reply in self._replies[seat]:
            outcome = (await self._timed("resume", {seat: reply}))[seat]
        return outcome

    async def _timed(self, method: str, argument: Any) -> dict[str, Outcome]:
        if self._process is None:
            await self.start()
        # Not `wait_for`, which before Python 3.12 forgets a cancellation that meets an answer.
        async with asyncio.timeout(self._deadline):
            outcomes: dict[str, Outcome] = await self._call(method, argument)
        return outcomes

    async def _call(self, method: str, argument: Any) -> Any:
        """Call the process. Where this ends early the process may still be at it."""
        assert self._process is not None
        self._calling = True
        result = await self._process.call(method, argument)
        self._calling = False
        return result

    async def _replace(self) -> None:
        self._fresh = True
        if self._process is not None:
            await self._process.kill()
        await self.start()

    async def _restore(self, seats: Sequence[str]) -> None:
        """Give policies their past, in another fresh process if this one ends over it.

        A death is held against nobody: unlike a turn, a past is tried again by another market.
        """
        deaths = 0
        groups = [tuple(seats)] if seats else []
        while groups:
            group = groups.pop(0)
            try:
                await self._recall(group)
                continue
            except ProcessDiedError:
                deaths += 1
                if deaths == SPAWNS:
                    raise
                groups = [self.seats]
            except TimeoutError as error:
                if self._lost.keys() >= set(group):
                    raise ProcessDiedError("no process can be made ready") from error
                if len(group) == 1:
                    self._lost[group[0]] = Silent(
                        Cause.CRASHED, "its past was not recalled in time"
                    )
                groups = [(seat,) for seat in self.seats]
            await self._replace()

    async def _recall(self, seats: Sequence[str]) -> None:
        """Have some seats recall their past, in the time at most that its decisions might take."""
        pasts = self._past.of(seats)
        decisions = sum(len(past) for past in pasts.values())
        async with asyncio.timeout(self._deadline * (1 + decisions)):
            await self._call("restore", {seat: self._lost.get(seat, pasts[seat]) for seat in seats})

    def _late(self) -> Silent:
        return Silent(Cause.LATE, f"no answer within {self._deadline:g} s")


def _crashed(given: Mapping[str, Said | Silent]) -> list[str]:
    return [
        seat
        for seat, said in given.items()
        if isinstance(said, Silent) and said.cause is Cause.CRASHED
    ]
