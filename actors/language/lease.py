"""A client's side of a gate: asks for permits when requests wait, and before a lease ends."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Final, Protocol

from actors.language.caps import Load
from actors.language.gate import LEASE_SECONDS
from actors.language.limits import Demand, Limits

#: A lease is renewed so many seconds after it was last asked for.
_RENEW_SECONDS: Final = LEASE_SECONDS / 3

#: An answer is waited for so long. Who then asks again does so before the lease has ended, so that
#: the gate goes on counting what is under way, however late its answers are.
_ANSWER_SECONDS: Final = LEASE_SECONDS / 2

#: Those who wait ask again after so many seconds.
_POLL_SECONDS: Final = 0.5


class Leasing(Protocol):
    """A gate, wherever it is."""

    async def renew(
        self,
        client: str,
        number: int,
        demands: Mapping[str, Demand],
        quiet: Mapping[str, float],
    ) -> tuple[dict[str, Load], dict[str, float]]:
        """See `Gate.renew`. May raise whatever it likes when the gate cannot be reached."""
        ...


class Lessee:
    """Keeps the leases of one client while it has use for them.

    While the gate cannot be reached a client goes on until its leases end, and then waits for the
    gate: nothing else keeps the caps. Models without caps are asked without the gate.

    Args:
        name: The client's name, unlike any other's.
        gate: The gate.
        limits: The client's queues, made with the `leased` models.
    """

    def __init__(self, name: str, gate: Leasing, limits: Limits) -> None:
        self._name = name
        self._gate = gate
        self._limits = limits
        self._task: asyncio.Task[None] | None = None
        self._more = asyncio.Event()
        self._asked = 0
        limits.on_wait = self._wake

    async def close(self) -> None:
        """Stop. What is held returns when the lease ends."""
        if self._task is not None:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)

    def _wake(self) -> None:
        if self._task is None or self._task.done():
            self._more = asyncio.Event()  # of the loop that runs now
            self._task = asyncio.ensure_future(self._keep())
        self._more.set()

    async def _keep(self) -> None:
        while True:
            self._more.clear()
            reached = await self._renew(self._demands())
            after = self._demands().values()
            if any(demand.wanted.in_flight > demand.used.in_flight for demand in after):
                # Others hold what is wanted: to ask each time that somebody joins the queue is
                # of no use.
                await self._limits.sleep(_POLL_SECONDS)
            elif any(demand.wanted.in_flight for demand in after):
                await self._pause(_RENEW_SECONDS if reached else _POLL_SECONDS)
            elif reached:
                return

    async def _renew(self, demands: Mapping[str, Demand]) -> bool:
        asked = self._limits.clock()
        self._asked += 1
        # From here on the gate may give to others whatever this client does not say that it uses.
        for model, demand in demands.items():
            self._limits.freeze(model, demand.used)
        try:
            async with asyncio.timeout(_ANSWER_SECONDS):
                granted, quiet = await self._gate.renew(
                    self._name, self._asked, demands, self._limits.quiet()
                )
        except TimeoutError:
            return False  # and held to what it said: the gate may have heard it
        except Exception:
            for model in demands:
                self._limits.thaw(model)
            return False
        for provider, seconds in quiet.items():
            self._limits.leave_alone(provider, seconds)
        for model, load in granted.items():
            self._limits.allow(model, load, until=asked + LEASE_SECONDS)
        return True

    async def _pause(self, seconds: float) -> None:
        sleeping = asyncio.ensure_future(self._limits.sleep(seconds))
        waking = asyncio.ensure_future(self._more.wait())
        try:
            await asyncio.wait((sleeping, waking), return_when=asyncio.FIRST_COMPLETED)
        finally:
            sleeping.cancel()
            waking.cancel()

    def _demands(self) -> dict[str, Demand]:
        return {model: self._limits.demand(model) for model in self._limits.leased}
