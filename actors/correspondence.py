"""What the seats of an episode ask models, and what comes back: every letter paid for once.

An intent is on disk before a request is sent, and a reply before it is used. A reply that the log
holds, from this run or an earlier one, is never asked for again, and a request that is under way is
joined, so that a market that dies and asks anew costs nothing. What was sent and of which nothing
will come back is recorded as lost, its cost unknown.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from typing import Protocol

from actors.episode import CallKey, Wanted
from actors.hosts import ProcessDiedError
from market.calls import CallLog, CallRecord, Calls, Outcome, paid_replies, unsettled
from market.language import ProviderFailure, Reply, Request

#: How often a request is sent again because whoever calls models died over it.
RESENDS = 5


class Spend:
    """What models took so far.

    Attributes:
        calls: Replies.
        tokens: Tokens read and written, where known.
        cost_usd: The price; None once any part of it is unknown.
    """

    def __init__(self) -> None:
        self.calls = 0
        self.tokens = 0
        self.cost_usd: float | None = 0.0

    def add(self, reply: Reply) -> None:
        """Count a reply."""
        usage = reply.usage
        self.calls += 1
        self.tokens += (usage.prompt_tokens or 0) + (usage.completion_tokens or 0)
        known = self.cost_usd is not None and usage.cost_usd is not None
        self.cost_usd = self.cost_usd + usage.cost_usd if known else None  # type: ignore[operator]


class Language(Protocol):
    """Who calls models."""

    async def complete(self, request: Request) -> Reply | ProviderFailure:
        """Answer a request.

        Raises:
            ProcessDiedError: If the process that called died; it is replaced for the next call.
        """
        ...


class Correspondence:
    """The model calls of one episode.

    Args:
        episode: Id of the episode.
        log: Its answer log.
        language: Who calls models.
        earlier: What the log held when this run began.
        run: Runs a blocking call without holding up the event loop.
    """

    def __init__(
        self,
        episode: str,
        log: CallLog,
        language: Language,
        earlier: Calls = Calls(),  # noqa: B008
        run: Callable[[Callable[[], None]], Awaitable[None]] = asyncio.to_thread,
    ) -> None:
        self._episode = episode
        self._log = log
        self._language = language
        self._run = run
        self._paid: dict[CallKey, Reply] = {
            key: record.reply
            for key, record in paid_replies(earlier).items()
            if record.reply is not None
        }
        self._lost = [
            self._record(record.key, record.model, Outcome.LOST)
            for record in unsettled(earlier).values()
        ]
        #: What was spent, by earlier runs too.
        self.spend = Spend()
        for reply in self._paid.values():
            self.spend.add(reply)
        self._under_way: dict[CallKey, asyncio.Task[Reply | ProviderFailure]] = {}
        self._unwritten: list[tuple[CallRecord, asyncio.Future[None]]] = []
        self._writing: asyncio.Task[None] | None = None

    async def answer(self, wanted: Wanted) -> Reply | ProviderFailure:
        """The reply to a request: from the log, from a call under way, or by a new call."""
        if wanted.key in self._paid:
            return self._paid[wanted.key]
        task = self._under_way.get(wanted.key)
        if task is None:
            task = asyncio.ensure_future(self._call(wanted))
            self._under_way[wanted.key] = task
            task.add_done_callback(lambda _: self._under_way.pop(wanted.key, None))
        return await asyncio.shield(task)

    async def note(self, records: Sequence[CallRecord]) -> None:
        """Record something else about the episode, such as the failures of seats."""
        await self._write(*records)

    async def close(self) -> None:
        """Wait for the calls under way: they are paid for."""
        await asyncio.gather(*self._under_way.values(), return_exceptions=True)

    async def _call(self, wanted: Wanted) -> Reply | ProviderFailure:
        request, model = wanted.request, wanted.request.model.model
        for left in reversed(range(RESENDS + 1)):
            await self._write(
                *self._take_lost(),
                self._record(wanted.key, model, Outcome.SENT, messages=request.messages),
            )
            try:
                outcome = await self._language.complete(request)
                break
            except ProcessDiedError as death:
                await self._write(self._record(wanted.key, model, Outcome.LOST, error=str(death)))
                if not left:
                    return ProviderFailure(
                        "unreachable", "the process that calls models died again and again"
                    )
        if isinstance(outcome, Reply):
            self._paid[wanted.key] = outcome
            self.spend.add(outcome)
            await self._write(self._record(wanted.key, model, Outcome.REPLIED, reply=outcome))
        else:
            failed = self._record(
                wanted.key,
                model,
                Outcome.PROVIDER_FAILED,
                cause=outcome.cause,
                error=outcome.message,
            )
            await self._write(failed)
        return outcome

    def _take_lost(self) -> list[CallRecord]:
        lost, self._lost = self._lost, []
        return lost

    def _record(
        self, key: CallKey, model: str | None, outcome: Outcome, **more: object
    ) -> CallRecord:
        step, turn, seat, attempt = key
        return CallRecord(self._episode, step, turn, seat, attempt, outcome, model, **more)  # type: ignore[arg-type]

    async def _write(self, *records: CallRecord) -> None:
        """Put records on disk. Whoever writes at the same time shares one sync."""
        loop = asyncio.get_running_loop()
        waiting = []
        for record in records:
            done: asyncio.Future[None] = loop.create_future()
            self._unwritten.append((record, done))
            waiting.append(done)
        if self._writing is None or self._writing.done():
            self._writing = asyncio.ensure_future(self._flush())
        await asyncio.gather(*waiting)

    async def _flush(self) -> None:
        while self._unwritten:
            batch, self._unwritten = self._unwritten, []
            records = [record for record, _ in batch]
            try:
                await self._run(lambda records=records: self._log.append(*records))  # type: ignore[misc]
            except Exception as error:
                for _, done in batch:
                    if not done.done():
                        done.set_exception(error)
            else:
                for _, done in batch:
                    if not done.done():
                        done.set_result(None)
