"""Requests to a rehearsal provider, and one that serves."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from actors.language.rehearsal.reactions import Asked, Body, Says, digest
from actors.language.rehearsal.rehearsal import Rehearsal
from actors.language.rehearsal.server import Server, in_thread
from actors.language.rehearsal.settings import Settings

BID = '{"bids": [{"item": "item1", "price": 52, "quantity": 10}]}'


def body(text: str = f"What now?\n{BID}", **more: Any) -> Body:
    return {"model": "any", "messages": [{"role": "user", "content": text}], **more}


def asked(text: str = f"What now?\n{BID}", earlier: int = 0, **more: Any) -> Asked:
    content = body(text, **more)
    return Asked(content, digest=digest(content), earlier=earlier)


def said(settings: Settings, content: Asked) -> Says:
    reaction = Rehearsal(settings)(content)
    assert isinstance(reaction, Says)
    return reaction


@contextmanager
def serving(**options: Any) -> Iterator[Server]:
    settings = Settings(**options)
    with in_thread(Server(Rehearsal(settings), settings.at_once)) as server:
        yield server
