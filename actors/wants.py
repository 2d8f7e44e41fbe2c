"""What the seats of a batch want of models: gathered as it comes up, answered as replies come.

with wants.thinking():                     a host is asked
    replies = await wants.asked(wanted)    it wants these, and waits
await wants.news(batch)                    what is wanted, bunched
wants.supply(replies)
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass

from market.calls import CallKey
from market.language import ProviderFailure, Reply, Request

#: Seconds for which the first want of a batch waits for those of hosts that still think.
BUNCH = 0.01


@dataclass(frozen=True, slots=True)
class Wanted:
    """A request that a model must answer before a seat can go on.

    Attributes:
        key: Step, turn, seat and attempt.
        request: What to ask.
    """

    key: CallKey
    request: Request


class Wants:
    """The open wants of one episode."""

    def __init__(self) -> None:
        self._wanted: list[Wanted] = []
        self._replies: dict[CallKey, asyncio.Future[Reply | ProviderFailure]] = {}
        self._thinking = 0
        self._any = asyncio.Event()
        self._nobody_thinks = asyncio.Event()

    @contextmanager
    def thinking(self) -> Iterator[None]:
        """Whoever is asked in here may still want something."""
        self._think()
        try:
            yield
        finally:
            self._rest()

    async def asked(self, wanted: Sequence[Wanted]) -> list[Reply | ProviderFailure]:
        """Put forward what somebody who thinks wants, and wait for all replies, in its order."""
        loop = asyncio.get_running_loop()
        replies: dict[CallKey, asyncio.Future[Reply | ProviderFailure]] = {
            each.key: loop.create_future() for each in wanted
        }
        self._replies |= replies
        self._wanted += wanted
        self._any.set()
        self._rest()
        try:
            return await asyncio.gather(*replies.values())
        finally:
            self._think()

    def supply(self, replies: Mapping[CallKey, Reply | ProviderFailure]) -> None:
        """Hand over replies. One that nobody waits for is dropped."""
        for key, reply in replies.items():
            waiting = self._replies.pop(key, None)
            if waiting is not None and not waiting.done():
                waiting.set_result(reply)

    async def news(self, batch: asyncio.Task[object]) -> tuple[Wanted, ...]:
        """What came to be wanted, once there is something or the batch is over."""
        if not batch.done():
            await self._first(batch)
        if not batch.done():
            with suppress(TimeoutError):
                async with asyncio.timeout(BUNCH):
                    await self._nobody_thinks.wait()
        wanted, self._wanted = tuple(self._wanted), []
        self._any.clear()
        return wanted

    async def _first(self, batch: asyncio.Task[object]) -> None:
        any_want = asyncio.ensure_future(self._any.wait())
        await asyncio.wait({batch, any_want}, return_when=asyncio.FIRST_COMPLETED)
        any_want.cancel()

    def _think(self) -> None:
        self._thinking += 1
        self._nobody_thinks.clear()

    def _rest(self) -> None:
        self._thinking -= 1
        if not self._thinking:
            self._nobody_thinks.set()
