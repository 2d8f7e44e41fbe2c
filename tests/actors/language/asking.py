"""What the tests of this folder share: requests, and a client that never really waits."""

from __future__ import annotations

import asyncio
import random
import time
from collections.abc import Callable
from typing import Any

import pytest

from actors.language.backoff import Backoff
from actors.language.client import LanguageClient
from market.environment import Json, Tool
from market.language import Message, ModelSettings, ProviderFailure, Reply, Request

either_way = pytest.mark.parametrize("stream", [False, True], ids=["whole", "streamed"])

#: Spelled nowhere else, so that a text that holds it leaked it.
CANARY = "sk-canary-0b5e77aa91f3"

BIDS: Json = {
    "type": "object",
    "properties": {
        "bids": {
            "type": "array",
            "maxItems": 2,
            "items": {
                "type": "object",
                "properties": {
                    "item": {"enum": ["item1", "item2"]},
                    "quantity": {"type": "integer", "minimum": 0, "maximum": 100},
                    "price": {"type": "integer", "minimum": 0, "maximum": 100},
                },
                "required": ["item", "quantity", "price"],
                "additionalProperties": False,
            },
        }
    },
    "required": ["bids"],
    "additionalProperties": False,
}
ORDER = Tool(
    "order",
    "Orders goods.",
    {"type": "object", "properties": {"units": {"type": "integer"}}, "required": ["units"]},
)


def question(
    model: str = "openai/any",
    *,
    schema: Json = None,
    tools: tuple[Tool, ...] = (),
    messages: tuple[Message, ...] = (Message("user", "What do you bid?"),),
    **settings: Any,
) -> Request:
    return Request(ModelSettings(model, **settings), messages, schema, tools)


class Asker:
    """Runs a client to the end of one or more requests; waits are noted, not waited."""

    def __init__(self, tries: int = 5, **client: Any) -> None:
        self.waits: list[float] = []
        self._build: Callable[[], LanguageClient] = lambda: LanguageClient(
            backoff=Backoff(tries=tries, limited_tries=tries),
            clock=self._clock,
            sleep=self._sleep,
            jitter=random.Random(1),
            **client,
        )

    def _clock(self) -> float:
        return time.monotonic() + sum(self.waits)

    async def _sleep(self, seconds: float) -> None:
        self.waits.append(seconds)

    def ask(self, *requests: Request) -> list[Reply | ProviderFailure]:
        async def run() -> list[Reply | ProviderFailure]:
            client = self._build()
            try:
                return list(await asyncio.gather(*map(client.complete, requests)))
            finally:
                await client.close()

        return asyncio.run(run())

    def reply(self, request: Request) -> Reply:
        (reply,) = self.ask(request)
        assert isinstance(reply, Reply), reply
        return reply

    def failure(self, request: Request) -> ProviderFailure:
        (failure,) = self.ask(request)
        assert isinstance(failure, ProviderFailure), failure
        return failure
