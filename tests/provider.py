"""A model provider for tests: the rehearsal server, playing a script.

    with Provider(Says('{"bids": []}'), Fails(429, retry_after="2")) as provider:
        settings = ModelSettings("openai/any", api_base=provider.api_base)

Requests are answered by the script's entries in the order of their arrival; the last entry
answers all that follow. A function of the request's body may stand for an entry. What was asked
is kept, so that a test can count requests and see what was in them.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack

from actors.language.rehearsal.reactions import Asked, Body, Drops, Fails, Hangs, Reaction, Says
from actors.language.rehearsal.server import Server, in_thread

__all__ = ["Asked", "Body", "Drops", "Entry", "Fails", "Hangs", "Provider", "Says"]

Entry = Reaction


class Provider:
    """The server; a context manager that listens on a free loopback port in a thread."""

    def __init__(self, *script: Entry | Callable[[Body], Entry]) -> None:
        self.asked: list[Asked] = []
        self._script = script
        self._server = Server(self._next)
        self._stack = ExitStack()

    @property
    def api_base(self) -> str:
        return self._server.api_base

    @property
    def served_tokens(self) -> int:
        """Tokens of whole answers."""
        return self._server.counts.prompt_tokens + self._server.counts.completion_tokens

    @property
    def most_at_once(self) -> int:
        return self._server.counts.most_at_once

    def _next(self, asked: Asked) -> Entry:
        entry = self._script[min(len(self.asked), len(self._script) - 1)]
        self.asked.append(asked)
        return entry(asked.body) if callable(entry) else entry

    def __enter__(self) -> Provider:
        self._stack.enter_context(in_thread(self._server))
        return self

    def __exit__(self, *_: object) -> None:
        self._stack.close()
