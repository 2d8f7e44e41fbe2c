"""Answers kept on disk, so that a request that was answered once costs nothing again.

Unlike the answer log, which knows by its place in an episode what was paid for, the cache knows a
request by all that is sent: address, model, parameters, messages, schema and tools. Equal requests
of different decisions, episodes and runs share an answer.

That suits models that always answer the same. At a temperature above zero it would make answers
equal that are meant to vary, so `cache: auto` leaves such requests alone, as it does those whose
temperature the provider chooses; `cache: on` is for who wants it nevertheless.

The file is SQLite's, on a local disk, and several processes may share it. It holds digests of
requests, not requests, and answers as they were cleared of keys. It is a convenience: where it
cannot be read or written, the model is asked.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
import sqlite3
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, Final

from market.environment import Json
from market.language import ModelSettings, ProviderFailure, Reply, ToolCall, Usage

#: Version of the keys and of what is kept. Another version's answers are not found.
FORMAT: Final = 1

#: Seconds to wait for another process that writes.
_PATIENCE: Final = 1.0

_TABLE: Final = """
create table if not exists answers
    (request blob primary key, reply text not null) without rowid
"""


class ResponseCacheError(RuntimeError):
    """A file that is no response cache, or cannot be opened; one sentence for people."""


class ResponseCache:
    """The answers in a file, which is made when missing.

    Args:
        path: The file.

    Raises:
        ResponseCacheError: If it cannot be used.
    """

    def __init__(self, path: Path | str) -> None:
        self.path = Path(path)
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            self._file = sqlite3.connect(
                self.path, timeout=_PATIENCE, isolation_level=None, check_same_thread=False
            )
            # Nothing is lost with the last answers before a power failure but their price.
            self._file.execute("pragma journal_mode = wal")
            self._file.execute("pragma synchronous = normal")
            self._file.execute(_TABLE)
        except (OSError, sqlite3.Error) as error:
            raise ResponseCacheError(
                f"{self.path} cannot be used as a response cache ({error}); name another file in "
                "`response_cache`."
            ) from None

    def find(self, key: bytes) -> Reply | None:
        """The answer to a request, marked as cached; None if there is none."""
        try:
            row = self._file.execute(
                "select reply from answers where request = ?", (key,)
            ).fetchone()
            return None if row is None else cached(_reply(json.loads(row[0])))
        except (sqlite3.Error, ValueError, KeyError, TypeError):
            return None

    def keep(self, key: bytes, reply: Reply) -> None:
        """Keep an answer, unless it is none: refusals and empty answers are asked for again."""
        if reply.finish == "refusal" or not (reply.text or reply.tool_calls):
            return
        try:
            self._file.execute(
                "insert or ignore into answers (request, reply) values (?, ?)",
                (key, json.dumps(asdict(reply))),
            )
        except (sqlite3.Error, ValueError):
            return

    def close(self) -> None:
        """Close the file. Safe to call again."""
        self._file.close()


def is_shared(settings: ModelSettings) -> bool:
    """Whether equal requests to a model share an answer."""
    if settings.cache == "auto":
        return settings.temperature == 0
    return settings.cache == "on"


def digest(address: str | None, model: str, parameters: Mapping[str, Json]) -> bytes:
    """The key of a request: a digest of all that may change the answer.

    Args:
        address: Where it is sent, where that is no provider's own address.
        model: The model.
        parameters: All other parameters as sent. No key is among them.
    """
    request = {"format": FORMAT, "address": address, "model": model, "parameters": parameters}
    # ASCII: a model may write halves of surrogate pairs, which UTF-8 does not know.
    text = json.dumps(request, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).digest()


def cached(reply: Reply) -> Reply:
    """A reply as given once more: nothing was sent for it, and it costs nothing."""
    usage = replace(reply.usage, cost_usd=0.0, latency_seconds=0.0, tries=0, unsure=0, cached=True)
    return replace(reply, usage=usage)


def _reply(data: dict[str, Any]) -> Reply:
    usage = data.pop("usage")
    calls = data.pop("tool_calls")
    return Reply(
        **data,
        usage=Usage(**usage),
        tool_calls=tuple(ToolCall(**call) for call in calls),
    )


class Sharing:
    """Answers each request once: from the cache, by joining an equal one under way, or anew."""

    def __init__(self, cache: ResponseCache) -> None:
        self._cache = cache
        self._under_way: dict[bytes, _Call] = {}

    async def answer(
        self, key: bytes, ask: Callable[[], Awaitable[Reply | ProviderFailure]]
    ) -> Reply | ProviderFailure:
        """The answer to a request.

        Args:
            key: The request's digest.
            ask: Asks the model. Cancelled when nobody waits for the answer any more.
        """
        if (reply := self._cache.find(key)) is not None:
            return reply
        call = self._under_way.get(key)
        if call is None:
            call = self._under_way[key] = _Call(asyncio.ensure_future(self._ask(key, ask)))
            call.task.add_done_callback(lambda _: self._forget(key, call))
        call.waiting += 1
        try:
            outcome = await asyncio.shield(call.task)
        finally:
            call.waiting -= 1
            if not call.waiting:
                call.task.cancel()
                self._forget(key, call)
        if not call.counted:
            call.counted = True
            return outcome
        return cached(outcome) if isinstance(outcome, Reply) else replace(outcome, unsure=0)

    async def _ask(
        self, key: bytes, ask: Callable[[], Awaitable[Reply | ProviderFailure]]
    ) -> Reply | ProviderFailure:
        outcome = await ask()
        if isinstance(outcome, Reply):
            self._cache.keep(key, outcome)
        return outcome

    def _forget(self, key: bytes, call: _Call) -> None:
        if self._under_way.get(key) is call:
            del self._under_way[key]


@dataclass(slots=True)
class _Call:
    """A request under way, how many wait for its answer, and whether one was told what it cost."""

    task: asyncio.Task[Reply | ProviderFailure]
    waiting: int = 0
    counted: bool = False
