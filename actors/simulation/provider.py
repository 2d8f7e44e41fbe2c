"""A pretended provider of models: answers by content, and fails as drawn.

What it answers is a pure function of the conversation, refusals, nonsense and truncated answers
included: they are the model's own doing. Everything else is a fault.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from contextvars import ContextVar
from functools import lru_cache
from typing import Protocol

from actors.language.transport import AttemptError, Completion
from actors.simulation.faults import Fault, Faults
from actors.simulation.limits import ANSWER_USD, READ, WRITTEN
from market.environment import Json
from market.language import Finish
from market.rng import draws

#: The conversation that the running task asks about.
ASKING: ContextVar[str] = ContextVar("asking")


class Ledger(Protocol):
    """Who keeps the books of what was asked."""

    def arrived(self, conversation: str) -> None:
        """A request arrived."""
        ...

    def worked(self) -> None:
        """A request was worked on: whatever becomes of the answer, it is billed."""
        ...

    def answered(self, conversation: str) -> None:
        """Its answer reached the client."""
        ...

    def under_way(self, change: int) -> None:
        """So many more requests are under way at the provider."""
        ...


class PretendedTransport:
    """A `Transport` to the provider.

    Args:
        faults: What strikes.
        ledger: Who keeps the books.
        clock: Seconds.
    """

    def __init__(self, faults: Faults, ledger: Ledger, clock: Callable[[], float]) -> None:
        self._faults = faults
        self._ledger = ledger
        self._clock = clock
        self._refusing_until = 0.0

    def prepare(self) -> None:
        """Nothing takes long."""

    def takes_schema(self, model: str) -> bool:  # noqa: ARG002
        """It takes none."""
        return False

    def takes_tools(self, model: str) -> bool:  # noqa: ARG002
        """It takes none."""
        return False

    def check(self, model: str, keyed: bool) -> str | None:  # noqa: ARG002
        """Nothing speaks against any model."""
        return None

    async def close(self) -> None:
        """There is nothing to close."""

    async def send(self, parameters: Mapping[str, Json], stream: bool = False) -> Completion:  # noqa: ARG002
        """Answer, or fail."""
        conversation = ASKING.get()
        self._ledger.arrived(conversation)
        self._ledger.under_way(1)
        try:
            return await self._answer(conversation)
        finally:
            self._ledger.under_way(-1)

    async def _answer(self, conversation: str) -> Completion:
        faults = self._faults
        await asyncio.sleep(faults.soon())
        if self._clock() < self._refusing_until:
            raise AttemptError("rejected", "this key has no credit")
        if faults.strikes(Fault.REFUSING, conversation[:8]):
            self._refusing_until = self._clock() + faults.draws.uniform() * 100
            raise AttemptError("rejected", "this key has no credit")
        if faults.strikes(Fault.LIMITED, conversation[:8]):
            wait = faults.draws.choice((None, 0.5, 30.0, 600.0))
            raise AttemptError("rate_limit", "too many requests", wait)
        if faults.strikes(Fault.FAILING, conversation[:8]):
            raise AttemptError("server", "internal error")
        if faults.strikes(Fault.HANGING, conversation[:8]):
            await asyncio.Event().wait()
        if faults.strikes(Fault.SLOW, conversation[:8]):
            await asyncio.sleep(faults.draws.uniform() * 100)
        self._ledger.worked()
        if faults.strikes(Fault.CUT, conversation[:8]):
            what = "the connection was lost within the answer"
            raise AttemptError("unreachable", what, unsure=True)
        self._ledger.answered(conversation)
        text, finish = said(conversation)
        return Completion(text, finish, (), "pretended", READ, WRITTEN, None, ANSWER_USD)


@lru_cache(maxsize=65536)
def said(conversation: str) -> tuple[str, Finish]:
    """What the model says to a conversation."""
    chance = draws(int(conversation[:15], 16), "said")
    draw = chance.uniform()
    text = f'{{"amount": {chance.integer(0, 999)}}}'
    if draw < 0.05:
        return "I would rather not.", "refusal"
    if draw < 0.1:
        return text[:5], "length"
    if draw < 0.2:
        return "Let me think about that.", "stop"
    return (f"```json\n{text}\n```", "stop") if draw < 0.3 else (text, "stop")
