"""Carries many calls to one process in few: what waits goes together, what is ready comes together.

A call to an actor costs a millisecond or two of both processes, which is much beside what asking a
model costs them. So requests that are made at the same time travel as one call, and replies that
are ready at the same time as one answer.

    courier.ask(request)  ->  desk.take({1: request, 2: ...})      at once, answers nothing
                          <-  desk.collect()                       waits until any are ready
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Generic, TypeVar

from actors.language.redaction import known_keys, redacted

Q = TypeVar("Q")
A = TypeVar("A")

#: Seconds for which the first ready answer waits for others, where others are being worked on.
BUNCH = 0.004


@dataclass(frozen=True, slots=True)
class Broken:
    """What is handed back for a request whose work raised: a bug, in words without keys."""

    error: str


class Desk(Generic[Q, A]):
    """The far side: works on requests, each by itself.

    Args:
        work: Answers a request.
    """

    def __init__(self, work: Callable[[Q], Awaitable[A]]) -> None:
        self._work = work
        self._ready: dict[int, A | Broken] = {}
        self._any = asyncio.Event()
        self._idle = asyncio.Event()
        self._tasks: set[asyncio.Task[None]] = set()

    def take(self, requests: Mapping[int, Q]) -> None:
        """Begin to work on requests, by their numbers."""
        for number, request in requests.items():
            task = asyncio.get_running_loop().create_task(self._answer(number, request))
            self._tasks.add(task)
            task.add_done_callback(self._ended)
        self._idle.clear()

    def _ended(self, task: asyncio.Task[None]) -> None:
        self._tasks.discard(task)
        if not self._tasks:
            self._idle.set()

    async def collect(self) -> Mapping[int, A | Broken]:
        """Wait until any answer is ready, and hand over all that are, by their numbers."""
        await self._any.wait()
        with suppress(TimeoutError):
            async with asyncio.timeout(BUNCH):
                await self._idle.wait()
        ready, self._ready = self._ready, {}
        self._any.clear()
        return ready

    async def _answer(self, number: int, request: Q) -> None:
        try:
            self._ready[number] = await self._work(request)
        except Exception as error:  # whatever it is, somebody waits for it
            told = redacted(f"{type(error).__name__}: {error}", known_keys())
            self._ready[number] = Broken(told)
        self._any.set()


class Courier(Generic[Q, A]):
    """The near side: looks like a function that answers one request.

    Args:
        take: Hands requests to the desk.
        collect: Waits for answers of the desk.
    """

    def __init__(
        self,
        take: Callable[[Mapping[int, Q]], Awaitable[None]],
        collect: Callable[[], Awaitable[Mapping[int, A | Broken]]],
    ) -> None:
        self._take = take
        self._collect = collect
        self._asked = 0
        self._outgoing: dict[int, Q] = {}
        self._waiting: dict[int, asyncio.Future[A]] = {}
        self._tasks: set[asyncio.Task[None]] = set()
        self._collecting = False

    async def ask(self, request: Q) -> A:
        """Answer a request.

        Raises:
            RuntimeError: If the work on it raised.
            Exception: What `take` or `collect` raised, to all who wait.
        """
        self._asked += 1
        number = self._asked
        future: asyncio.Future[A] = asyncio.get_running_loop().create_future()
        self._waiting[number] = future
        if not self._outgoing:
            self._begin(self._send())
        self._outgoing[number] = request
        if not self._collecting:
            self._collecting = True
            self._begin(self._receive())
        try:
            return await future
        finally:
            self._waiting.pop(number, None)

    def _begin(self, work: Awaitable[None]) -> None:
        task = asyncio.ensure_future(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _send(self) -> None:
        requests, self._outgoing = self._outgoing, {}
        try:
            await self._take(requests)
        except Exception as error:
            self._fail(error)

    async def _receive(self) -> None:
        try:
            while self._waiting:
                for number, answer in (await self._collect()).items():
                    future = self._waiting.pop(number, None)
                    if future is None or future.done():
                        continue
                    if isinstance(answer, Broken):
                        future.set_exception(RuntimeError(answer.error))
                    else:
                        future.set_result(answer)
        except Exception as error:
            self._fail(error)
        finally:
            self._collecting = False

    def _fail(self, error: Exception) -> None:
        waiting, self._waiting = self._waiting, {}
        for future in waiting.values():
            if not future.done():
                future.set_exception(error)
