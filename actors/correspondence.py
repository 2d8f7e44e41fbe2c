"""What the seats of an episode ask models, and what comes back: every letter paid for once.

An intent is on disk before a request is sent, and a reply before it is used. A reply that the log
holds, from this run or an earlier one, is never asked for again, and a request that is under way is
joined, so that a market that dies and asks anew costs nothing. What was sent and of which nothing
will come back is recorded as lost, its cost unknown. Nothing is sent for which the budget has no
room.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import replace
from typing import Protocol
from urllib.parse import urlsplit

from actors.budget import Budget, Hold, unsure_tries
from actors.hosts import ProcessDiedError
from actors.language.prices import FREE
from actors.language.redaction import know, known_keys, redacted
from actors.wants import Wanted
from market.calls import CallKey, CallLog, CallRecord, Calls, Outcome, paid_replies, unsettled
from market.language import ModelSettings, ProviderFailure, Reply, Request

#: A record, and who waits for it to be on disk.
_Unwritten = tuple[CallRecord, asyncio.Future[None]]

#: How often a request is sent again because whoever calls models died over it.
RESENDS = 5


class Spend:
    """What models took so far.

    Attributes:
        calls: Replies.
        tokens: Tokens read and written, where known; none for what a cache answered.
        cost_usd: The price; None once any part of it is unknown: that of a reply, of a call that
            was lost, or of a try that broke off.
    """

    def __init__(self) -> None:
        self.calls = 0
        self.tokens = 0
        self.cost_usd: float | None = 0.0

    def add(self, reply: Reply) -> None:
        """Count a reply."""
        usage = reply.usage
        self.calls += 1
        if not usage.cached:
            self.tokens += (usage.prompt_tokens or 0) + (usage.completion_tokens or 0)
        if self.cost_usd is not None and usage.cost_usd is not None and not usage.unsure:
            self.cost_usd += usage.cost_usd
        else:
            self.cost_usd = None

    def unsure(self, model: str | None) -> None:
        """Count something that was sent and may have been answered to nobody."""
        if model not in FREE:
            self.cost_usd = None


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
        budget: What calls may take, shared by all episodes; what `earlier` took is counted in it.
        owners: Retailers by the ids of their seats; a seat that is not named is its own.
        run: Runs a blocking call without holding up the event loop.
    """

    def __init__(
        self,
        episode: str,
        log: CallLog,
        language: Language,
        earlier: Calls = Calls(),  # noqa: B008
        budget: Budget | None = None,
        owners: Mapping[str, str] | None = None,
        run: Callable[[Callable[[], None]], Awaitable[None]] = asyncio.to_thread,
    ) -> None:
        self._episode = episode
        self._log = log
        self._language = language
        self._budget = budget or Budget()
        self._owners = owners or {}
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
        for record in (*earlier.records, *self._lost):
            if record.reply is None and unsure_tries(record):
                self.spend.unsure(record.model)
        self._under_way: dict[CallKey, asyncio.Task[Reply | ProviderFailure]] = {}
        self._waiting: set[asyncio.Task[object]] = set()
        self._unwritten: list[_Unwritten] = []
        self._writing: asyncio.Task[None] | None = None
        self._failed: Exception | None = None

    async def answer(self, wanted: Wanted) -> Reply | ProviderFailure:
        """The reply to a request: from the log, from a call under way, or by a new call.

        Raises:
            OwedError: If the budget has no room for it.
        """
        if wanted.key in self._paid:
            return self._paid[wanted.key]
        task = self._under_way.get(wanted.key)
        if task is None:
            task = asyncio.ensure_future(self._call(wanted))
            self._under_way[wanted.key] = task
            task.add_done_callback(lambda task: self._ended(wanted.key, task))
        return await asyncio.shield(task)

    def _ended(self, key: CallKey, task: asyncio.Task[Reply | ProviderFailure]) -> None:
        del self._under_way[key]
        if not task.cancelled():
            task.exception()  # taken here, since who asked may be gone

    async def note(self, records: Sequence[CallRecord]) -> None:
        """Record something else about the episode, such as the failures of seats.

        What failed may quote a key: a policy of the user's own calls whom it likes.
        """
        keys = known_keys()
        told = [replace(one, error=one.error and redacted(one.error, keys)) for one in records]
        await self._write(*told)

    async def close(self) -> None:
        """Wait for the calls that were sent: they are paid for. What waits for room is dropped."""
        for task in self._waiting:
            task.cancel()
        await asyncio.gather(*self._under_way.values(), return_exceptions=True)
        if self._writing is not None:
            await self._writing

    async def _call(self, wanted: Wanted) -> Reply | ProviderFailure:
        model = wanted.request.model.model
        know(wanted.request.model.api_key_env)
        for left in reversed(range(RESENDS + 1)):
            hold = await self._room(wanted)
            try:
                outcome = await self._send(wanted, hold)
                break
            except ProcessDiedError as death:
                self.spend.unsure(model)
                await self._write(self._record(wanted.key, model, Outcome.LOST, error=str(death)))
                if not left:
                    return ProviderFailure(
                        "unreachable", "the process that calls models died again and again"
                    )
        if isinstance(outcome, Reply):
            cost = self._budget.prices.cost(model, outcome.usage)
            outcome = replace(outcome, usage=replace(outcome.usage, cost_usd=cost))
            await self._write(self._record(wanted.key, model, Outcome.REPLIED, reply=outcome))
            self._paid[wanted.key] = outcome
            self.spend.add(outcome)
        else:
            if outcome.unsure:
                self.spend.unsure(model)
            failed = self._record(
                wanted.key,
                model,
                Outcome.PROVIDER_FAILED,
                cause=outcome.cause,
                error=outcome.message,
                unsure=outcome.unsure,
            )
            await self._write(failed)
        return outcome

    async def _room(self, wanted: Wanted) -> Hold:
        """Room in the budget; until it is found the call can be dropped."""
        task = asyncio.current_task()
        assert task is not None
        seat = wanted.key[2]
        self._waiting.add(task)
        try:
            return await self._budget.reserve(self._owners.get(seat, seat), wanted.request)
        finally:
            self._waiting.discard(task)

    async def _send(self, wanted: Wanted, hold: Hold) -> Reply | ProviderFailure:
        """One call, its intent on disk before it and its cost counted after it."""
        request = wanted.request
        sent = self._record(
            wanted.key,
            request.model.model,
            Outcome.SENT,
            messages=request.messages,
            ceiling=hold.tokens,
            address=server_of(request.model),
        )
        try:
            await self._write(*self._take_lost(), sent)
        except BaseException:
            self._budget.release(hold)
            raise
        outcome: Reply | ProviderFailure | None = None
        try:
            outcome = await self._language.complete(request)
        finally:
            self._budget.settle(hold, outcome)
        return outcome

    def _take_lost(self) -> list[CallRecord]:
        lost, self._lost = self._lost, []
        return lost

    def _record(
        self, key: CallKey, model: str | None, outcome: Outcome, **more: object
    ) -> CallRecord:
        step, turn, seat, attempt = key
        return CallRecord(
            self._episode,
            step,
            turn,
            seat,
            attempt,
            outcome,
            model,
            played=round(self._budget.played, 3),
            **more,  # type: ignore[arg-type]
        )

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
            if not (batch := self._take_unwritten()):
                continue
            records = [record for record, _ in batch]
            try:
                await self._run(lambda records=records: self._log.append(*records))  # type: ignore[misc]
            except Exception as error:
                self._failed = error
                _settle(batch, error)
            else:
                _settle(batch, None)

    def _take_unwritten(self) -> Sequence[_Unwritten]:
        """What is to be written next.

        Once a record was lost, no intent is written any more: the log would not say what became of
        the call before. What came of calls that were sent is tried all the same.
        """
        batch, self._unwritten = self._unwritten, []
        if self._failed is None:
            return batch
        intents = [one for one in batch if one[0].outcome is Outcome.SENT]
        _settle(intents, self._failed)
        return [one for one in batch if one[0].outcome is not Outcome.SENT]


def server_of(settings: ModelSettings) -> str:
    """The server that a model is asked at, without path or password.

    Empty for its own, and for what is no address: whoever calls models says so.
    """
    try:
        parts = urlsplit(settings.api_base or "")
    except ValueError:
        return ""
    if not parts.netloc:
        return ""
    return f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}"


def _settle(batch: Sequence[_Unwritten], error: Exception | None) -> None:
    for _, done in batch:
        if not done.done():
            if error is None:
                done.set_result(None)
            else:
                done.set_exception(error)
