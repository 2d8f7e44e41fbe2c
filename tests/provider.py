"""A model provider for tests: a small OpenAI-compatible server that plays a script.

    with Provider(Says('{"bids": []}'), Fails(429, retry_after="2")) as provider:
        settings = ModelSettings("openai/any", api_base=provider.api_base)

Requests are answered by the script's entries in the order of their arrival; the last entry
answers all that follow. A function of the request's body may stand for the whole script. What
was asked is kept, so that a test can count requests and see what was in them.
"""

from __future__ import annotations

import contextlib
import json
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

Body = Mapping[str, Any]


@dataclass(frozen=True)
class Says:
    """An answer, streamed in pieces.

    `usage=False` leaves the token counts out; `ends=False` breaks the stream off before the
    finish reason; `after` seconds pass before the first byte.
    """

    text: str = ""
    calls: tuple[tuple[str, str], ...] = ()  # (tool, arguments)
    finish: str = "stop"
    refusal: str | None = None
    model: str = "stub-model-1"
    prompt_tokens: int = 11
    completion_tokens: int = 7
    cached_tokens: int = 0
    usage: bool = True
    ends: bool = True
    after: float = 0.0
    piece: int = 5


@dataclass(frozen=True)
class Fails:
    """An HTTP error with OpenAI's error body."""

    status: int = 500
    message: str = "the stub fails"
    code: str | None = None
    retry_after: str | None = None


@dataclass(frozen=True)
class Hangs:
    """Takes the request and says nothing until the server closes."""


@dataclass(frozen=True)
class Drops:
    """Closes the connection without an answer."""


Entry = Says | Fails | Hangs | Drops


@dataclass
class Asked:
    """A request as it arrived."""

    body: Body
    authorization: str | None
    at: float = field(default_factory=time.monotonic)


class Provider:
    """The server; a context manager that listens on a free loopback port in a thread."""

    def __init__(self, *script: Entry | Callable[[Body], Entry]) -> None:
        self.asked: list[Asked] = []
        self.served_tokens = 0
        self.most_at_once = 0
        self.closing = threading.Event()
        self._script = script
        self._lock = threading.Lock()
        self._at_once = 0
        self._server = _Server(("127.0.0.1", 0), _Handler)
        self._server.provider = self

    @property
    def api_base(self) -> str:
        return f"http://127.0.0.1:{self._server.server_address[1]}/v1"

    def next(self, asked: Asked) -> Entry:
        """Note a request and choose its answer."""
        with self._lock:
            entry = self._script[min(len(self.asked), len(self._script) - 1)]
            self.asked.append(asked)
            self._at_once += 1
            self.most_at_once = max(self.most_at_once, self._at_once)
        return entry(asked.body) if callable(entry) else entry

    def count(self, tokens: int) -> None:
        """Add the tokens of a whole answer."""
        with self._lock:
            self.served_tokens += tokens

    def done(self) -> None:
        """Note that a request is no longer worked on."""
        with self._lock:
            self._at_once -= 1

    def __enter__(self) -> Provider:
        threading.Thread(target=self._server.serve_forever, args=(0.02,), daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self.closing.set()
        self._server.shutdown()
        self._server.server_close()


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 128
    provider: Provider


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    server: _Server

    def log_message(self, *_: object) -> None:
        pass

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        entry = self.server.provider.next(Asked(body, self.headers["Authorization"]))
        with contextlib.suppress(ConnectionError), contextlib.ExitStack() as stack:
            stack.callback(self.server.provider.done)
            match entry:
                case Says():
                    self._say(entry)
                case Fails():
                    self._fail(entry)
                case Hangs():
                    self.server.provider.closing.wait()
                    self.close_connection = True
                case Drops():
                    self.close_connection = True

    def _fail(self, entry: Fails) -> None:
        payload = json.dumps(
            {"error": {"message": entry.message, "type": "stub", "code": entry.code}}
        ).encode()
        self.send_response(entry.status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(payload)))
        if entry.retry_after is not None:
            self.send_header("Retry-After", entry.retry_after)
        self.end_headers()
        self.wfile.write(payload)

    def _say(self, entry: Says) -> None:
        self.server.provider.closing.wait(entry.after)
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        for chunk in _chunks(entry):
            self._write(b"data: " + json.dumps(chunk).encode() + b"\n\n")
        if not entry.ends:
            self.close_connection = True
            return
        self._write(b"data: [DONE]\n\n")
        self._write(b"")
        self.server.provider.count(entry.prompt_tokens + entry.completion_tokens)

    def _write(self, piece: bytes) -> None:
        self.wfile.write(f"{len(piece):x}\r\n".encode() + piece + b"\r\n")


def _chunks(entry: Says) -> Iterator[dict[str, Any]]:
    head = {"id": "stub", "object": "chat.completion.chunk", "created": 1, "model": entry.model}

    def chunk(delta: dict[str, Any], finish: str | None = None) -> dict[str, Any]:
        return {**head, "choices": [{"index": 0, "delta": delta, "finish_reason": finish}]}

    yield chunk({"role": "assistant", "content": ""})
    for start in range(0, len(entry.text), entry.piece):
        yield chunk({"content": entry.text[start : start + entry.piece]})
    if entry.refusal is not None:
        yield chunk({"refusal": entry.refusal})
    for index, (name, arguments) in enumerate(entry.calls):
        call = {"index": index, "id": f"call-{index}", "type": "function"}
        yield chunk({"tool_calls": [{**call, "function": {"name": name, "arguments": ""}}]})
        for start in range(0, len(arguments), entry.piece):
            part = arguments[start : start + entry.piece]
            yield chunk({"tool_calls": [{"index": index, "function": {"arguments": part}}]})
    if not entry.ends:
        return
    yield chunk({}, entry.finish)
    if entry.usage:
        counts = {
            "prompt_tokens": entry.prompt_tokens,
            "completion_tokens": entry.completion_tokens,
            "total_tokens": entry.prompt_tokens + entry.completion_tokens,
            "prompt_tokens_details": {"cached_tokens": entry.cached_tokens},
        }
        yield {**head, "choices": [], "usage": counts}
