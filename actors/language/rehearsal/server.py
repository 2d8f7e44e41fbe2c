"""Listens for chat completions, reacts to them, and counts.

    POST .../chat/completions    whatever the behaviour decides
    GET  /v1/models              one model; any other name is answered as well
    GET  /counts                 what was served, see `Counts`

There is one event loop and no state on disk. Keys are not looked at.
"""

from __future__ import annotations

import asyncio
import json
import threading
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, Final

from aiohttp import web

from actors.language.rehearsal import completions
from actors.language.rehearsal.reactions import (
    Asked,
    Behaviour,
    Fails,
    Hangs,
    Reaction,
    Says,
    digest,
)

#: The model that is listed.
MODEL: Final = "rehearsal"

#: Largest request, in bytes.
_LARGEST: Final = 64 * 2**20
#: Connections that wait to be accepted: a tournament opens many at once.
_BACKLOG: Final = 1024
#: Pieces of an answer that trickles and is not streamed.
_PIECES: Final = 8

_TOO_MANY: Final = Fails(
    429, "rehearsed: too many requests at once", retry_after="1", outcome="too_many"
)


@dataclass
class Counts:
    """What was served.

    Attributes:
        requests: Requests that arrived.
        outcomes: What became of those that are over: `answered`, the name of the trouble,
            `too_many` beyond the limit, or `left` where the client went first.
        distinct: Different contents asked, those refused as `too_many` aside.
        answered_again: Whole answers to a content that had had a whole answer before: what
            somebody paid for twice, unless two seats asked the very same.
        prompt_tokens: Tokens read for whole answers.
        completion_tokens: Tokens of whole answers.
        at_once: Requests under way.
        most_at_once: The most of them.
    """

    requests: int = 0
    outcomes: Counter[str] = field(default_factory=Counter)
    distinct: int = 0
    answered_again: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    at_once: int = 0
    most_at_once: int = 0

    def as_json(self) -> dict[str, Any]:
        """The counts as plain data."""
        return {**vars(self), "outcomes": dict(sorted(self.outcomes.items()))}


@dataclass(slots=True)
class _Known:
    """A content: how often it was asked, and whether it had a whole answer."""

    asked: int = 0
    answered: bool = False


class Server:
    """A provider that behaves as it is told.

    Args:
        behaviour: Decides what becomes of a request. It is called in the event loop.
        at_once: Requests worked on at once; None for any number.
    """

    def __init__(self, behaviour: Behaviour, at_once: int | None = None) -> None:
        self.counts = Counts()
        #: Where it listens, such as `http://127.0.0.1:8123`; empty until it does.
        self.address = ""
        self._behaviour = behaviour
        self._limit = at_once
        self._known: dict[str, _Known] = {}
        self._runner: web.AppRunner | None = None

    @property
    def api_base(self) -> str:
        """The address as configurations spell it."""
        return f"{self.address}/v1"

    async def start(self, host: str = "127.0.0.1", port: int = 0) -> None:
        """Listen.

        Args:
            host: Address to listen at.
            port: Port; 0 for any that is free.

        Raises:
            OSError: If the address cannot be had.
        """
        app = web.Application(client_max_size=_LARGEST)
        app.router.add_post("/{path:.*}chat/completions", self._complete)
        app.router.add_get("/v1/models", self._models)
        app.router.add_get("/counts", self._count)
        self._runner = web.AppRunner(
            app, handler_cancellation=True, access_log=None, shutdown_timeout=0.1
        )
        await self._runner.setup()
        try:
            await web.TCPSite(self._runner, host, port, backlog=_BACKLOG).start()
        except BaseException:
            await self._runner.cleanup()
            raise
        bound = self._runner.addresses[0][1]
        self.address = f"http://{f'[{host}]' if ':' in host else host}:{bound}"

    async def close(self) -> None:
        """Stop; requests that hang are let go."""
        if self._runner is not None:
            await self._runner.cleanup()

    async def _models(self, _: web.Request) -> web.Response:
        listed = {"id": MODEL, "object": "model", "created": 1, "owned_by": "rehearsal"}
        return web.json_response({"object": "list", "data": [listed]})

    async def _count(self, _: web.Request) -> web.Response:
        return web.json_response(self.counts.as_json())

    async def _complete(self, request: web.Request) -> web.StreamResponse:
        counts = self.counts
        counts.requests += 1
        counts.at_once += 1
        counts.most_at_once = max(counts.most_at_once, counts.at_once)
        outcome = "left"
        try:
            try:
                body = json.loads(await request.read())
                content = digest(body)
            except (ValueError, AttributeError):
                reaction: Reaction = Fails(400, "the body is no JSON object", outcome="no_request")
                content = ""
            else:
                reaction = self._react(request, body, content)
            if isinstance(reaction, Hangs):
                outcome = reaction.outcome
            response = await _play(request, body if content else {}, reaction)
            outcome = reaction.outcome
            if isinstance(reaction, Says) and reaction.ends:
                self._answered(content, reaction)
            return response
        except ConnectionError:
            # The client left; there is nobody to answer.
            return web.Response()
        finally:
            counts.at_once -= 1
            counts.outcomes[outcome] += 1

    def _react(self, request: web.Request, body: Any, content: str) -> Reaction:
        if self._limit is not None and self.counts.at_once > self._limit:
            # Not counted as asked: when it happens depends on the order of arrival.
            return _TOO_MANY
        known = self._known.setdefault(content, _Known())
        asked = Asked(body, request.headers.get("Authorization"), content, known.asked)
        known.asked += 1
        self.counts.distinct = len(self._known)
        return self._behaviour(asked)

    def _answered(self, content: str, said: Says) -> None:
        known = self._known[content]
        self.counts.answered_again += known.answered
        known.answered = True
        self.counts.prompt_tokens += said.prompt_tokens
        self.counts.completion_tokens += said.completion_tokens


@contextmanager
def in_thread(server: Server) -> Iterator[Server]:
    """Serve on a free loopback port from a thread, for as long as the context lasts."""
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever, name="rehearsal", daemon=True)
    thread.start()
    try:
        asyncio.run_coroutine_threadsafe(server.start(), loop).result()
        yield server
    finally:
        asyncio.run_coroutine_threadsafe(server.close(), loop).result()
        loop.call_soon_threadsafe(loop.stop)
        thread.join()
        loop.close()


async def _play(request: web.Request, body: Any, reaction: Reaction) -> web.StreamResponse:
    """Do to a request what was decided.

    Raises:
        ConnectionError: If the client left.
    """
    if isinstance(reaction, Hangs):
        await asyncio.Event().wait()
    elif reaction.after:
        await asyncio.sleep(reaction.after)
    match reaction:
        case Fails():
            headers = {} if reaction.retry_after is None else {"Retry-After": reaction.retry_after}
            return web.Response(
                status=reaction.status,
                headers=headers,
                body=completions.error(reaction),
                content_type="application/json",
            )
        case Says() if body.get("stream"):
            return await _stream(request, body, reaction)
        case Says():
            return await _whole(request, body, reaction)
    _cut_off(request)
    return web.Response()


async def _whole(request: web.Request, body: Any, said: Says) -> web.StreamResponse:
    written = completions.completion(said, body)
    if said.ends and not said.pause:
        return web.Response(body=written, content_type="application/json")
    response = web.StreamResponse(headers={"Content-Type": "application/json"})
    response.content_length = len(written)
    await response.prepare(request)
    size = -(-len(written) // _PIECES)
    pieces = [written[start : start + size] for start in range(0, len(written), size)]
    return await _written(request, response, pieces if said.ends else pieces[:-1], said)


async def _stream(request: web.Request, body: Any, said: Says) -> web.StreamResponse:
    response = web.StreamResponse(headers={"Content-Type": "text/event-stream"})
    response.enable_chunked_encoding()
    await response.prepare(request)
    return await _written(request, response, list(completions.events(said, body)), said)


async def _written(
    request: web.Request, response: web.StreamResponse, pieces: list[bytes], said: Says
) -> web.StreamResponse:
    if not said.pause:
        pieces = [b"".join(pieces)]
    for number, piece in enumerate(pieces):
        if number:
            await asyncio.sleep(said.pause)
        await response.write(piece)
    if said.ends:
        await response.write_eof()
    else:
        _cut_off(request)
    return response


def _cut_off(request: web.Request) -> None:
    if request.transport is not None:
        request.transport.close()
