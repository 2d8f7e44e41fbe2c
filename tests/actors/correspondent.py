"""A provider that answers when it is told to, letters to it, and a price that is easy to read."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from actors.budget import Budget
from actors.ceilings import most_tokens
from actors.correspondence import Correspondence
from actors.language.prices import Prices
from actors.wants import Wanted
from market.calls import CallLog, read_calls
from market.config.spending import Price
from market.language import Message, ModelSettings, ProviderFailure, Reply, Request, Usage

MODEL = "openai/mine"
#: A dollar per thousand tokens, so that figures are easy to read.
PRICES = Prices(
    {MODEL: Price(input_per_million=1_000.0, output_per_million=1_000.0)}, lambda *_: None
)


def request(prompt: str = "What now?", most: int = 100, model: str = MODEL) -> Request:
    return Request(ModelSettings(model, max_tokens=most), (Message("user", prompt),))


def reply(read: int | None, written: int | None, cost: float | None = None) -> Reply:
    return Reply("{}", "stop", Usage(MODEL, read, written, None, cost, 0.1))


def ceiling(asked: Request) -> int:
    return sum(most_tokens(asked))


def wanted(number: int, asked: Request | None = None, seat: str = "a") -> Wanted:
    return Wanted((1, number, seat, 0), asked or request())


@dataclass
class Provider:
    """Answers each call when it is told to.

    Attributes:
        open: Calls under way, in the order in which they began.
        begun: How many there were.
    """

    open: list[tuple[Request, asyncio.Future[Any]]] = field(default_factory=list)
    begun: int = 0

    async def complete(self, request: Request) -> Reply | ProviderFailure:
        self.begun += 1
        done: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
        self.open.append((request, done))
        outcome: Reply | ProviderFailure = await done
        return outcome

    async def end(self, index: int, outcome: object) -> None:
        _, done = self.open.pop(index)
        if isinstance(outcome, BaseException):
            done.set_exception(outcome)
        else:
            done.set_result(outcome)
        await rest()


async def rest() -> None:
    """Let everything happen that can."""
    for _ in range(12):
        await asyncio.sleep(0)


async def at_once(call: Callable[[], None]) -> None:
    call()


def letters(
    folder: Path, provider: Provider, budget: Budget, names: dict[str, str] | None = None
) -> Correspondence:
    path = folder / "calls.jsonl"
    return Correspondence(
        "e1", CallLog(path), provider, read_calls(path), budget, names, run=at_once
    )
