"""Who may send a request now, and who waits.

    ticket = limits.ticket(provider, model, tokens)       once per request: its place in the queue
    async with limits.slot(ticket) as slot:               once per try: waits for its turn
        ...
        slot.rejected(retry_after) | slot.answered(tokens)

Two things make a request wait. A *provider* (an address and an account) has a window that adapts
to what it takes (`window.py`), and while it asks to be left alone, nobody asks it. A *model* has
the caps its user sets (`caps.py`), or that part of them which a gate leases (`gate.py`).

Turns are given in the order of arrival, and a request that is tried again keeps its place, so
nobody starves. A model that is held by its own caps lets those of other models pass. Who asks one
model at several providers has one cap for all: its next turn is for who arrived first, of those
whose provider can be asked.
"""

from __future__ import annotations

import asyncio
import heapq
import math
import time
from collections import deque
from collections.abc import AsyncIterator, Awaitable, Callable, Collection, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

from actors.language.caps import Caps, Load, Meter, Spent
from actors.language.window import ACCEPTED_SECONDS, Window


@dataclass(frozen=True, slots=True)
class Ticket:
    """A request's place: who arrived first goes first.

    Attributes:
        arrival: Counts requests in the order of their arrival.
        provider: Names the account at an address.
        model: Names the model, as in the caps.
        tokens: Most tokens it takes, read and written.
    """

    arrival: int
    provider: str
    model: str
    tokens: int


@dataclass(frozen=True, slots=True)
class Demand:
    """What a client does with a model: the ground on which a gate grants.

    Attributes:
        used: Under way, and counting towards the current minute.
        wanted: The same with all who wait; at least `used`.
        unit: Tokens of the largest request that waits: fewer are of no use.
    """

    used: Load
    wanted: Load
    unit: int = 0


@dataclass(slots=True)
class Slot:
    """The right to send one request, held while it is under way."""

    number: int
    sent: float
    spent: Spent
    _lane: _Lane
    _meter: Meter
    settled: bool = False
    tokens: int | None = None

    def answered(self, tokens: int | None) -> None:
        """Note an answer, and its tokens where the provider counted them."""
        self.tokens = tokens
        self._lane.accepted(self)

    def rejected(self, retry_after: float | None) -> None:
        """Note a 429: the window is cut, and nobody sends before `retry_after` seconds."""
        self._lane.rejected(self)
        self.failed(retry_after)

    def failed(self, retry_after: float | None) -> None:
        """Note another failure, which says nothing of room."""
        self.settled = True
        self._lane.pause(retry_after or 0.0)


class Limits:
    """The queues of one process. Plain asynchronous code, used from one event loop at a time.

    Args:
        caps: Limits per model.
        leased: The models whose caps a gate grants; nothing is sent to them before it does.
        clock: Seconds on a clock that only goes forward.
        sleep: Waits so many seconds.
        window: Makes the window of a provider.
    """

    def __init__(
        self,
        caps: Mapping[str, Caps] | None = None,
        *,
        leased: Collection[str] = (),
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
        window: Callable[[], Window] = Window,
    ) -> None:
        self.clock = clock
        self.sleep = sleep
        self._new_window = window
        self._capped = {model: Meter(cap, model in leased) for model, cap in (caps or {}).items()}
        #: The models whose caps a gate grants.
        self.leased = frozenset(leased)
        self._lanes: dict[str, _Lane] = {}
        self._arrivals = 0
        self._timer: asyncio.Task[None] | None = None
        self._timer_at = math.inf
        #: Called when a request has to wait.
        self.on_wait: Callable[[], None] = _nothing

    def ticket(self, provider: str, model: str, tokens: int = 0) -> Ticket:
        """Give a request its place."""
        self._arrivals += 1
        return Ticket(self._arrivals, provider, model, tokens)

    @asynccontextmanager
    async def slot(self, ticket: Ticket) -> AsyncIterator[Slot]:
        """Wait for the turn of a request, and hold it while the request is under way."""
        lane = self._lane(ticket.provider)
        turn = lane.queue(ticket, self._capped.get(ticket.model))
        self._admit()
        if not turn.done():
            self.on_wait()
        slot = await self._turn(turn)
        try:
            yield slot
        finally:
            self._release(slot)

    def allow(self, model: str, granted: Load, until: float) -> None:
        """Set what a gate grants of a model's caps until some time."""
        self._capped[model].allow(granted, until)
        self._admit()

    def freeze(self, model: str, used: Load) -> None:
        """Send nothing more to a model than is told a gate to be used, until it has answered."""
        self._capped[model].freeze(used)

    def thaw(self, model: str) -> None:
        """Go on with what a gate granted before: it cannot be reached."""
        self._capped[model].thaw()
        self._admit()

    def demand(self, model: str) -> Demand:
        """What is done with a capped model, and what waits."""
        meter = self._capped[model]
        used = meter.used(self.clock())
        waiting = [
            meter.counted(ticket.tokens)
            for lane in self._lanes.values()
            for ticket in lane.waiting(model)
        ]
        count = len(waiting)
        wanted = Load(used.in_flight + count, used.requests + count, used.tokens + sum(waiting))
        return Demand(used, wanted, max(waiting, default=0))

    def quiet(self) -> dict[str, float]:
        """For how many seconds the providers that want to be left alone still want it."""
        now = self.clock()
        waits = {provider: lane.quiet_until - now for provider, lane in self._lanes.items()}
        return {provider: seconds for provider, seconds in waits.items() if seconds > 0}

    def leave_alone(self, provider: str, seconds: float) -> None:
        """Ask a provider nothing for so many seconds."""
        self._lane(provider).pause(seconds)

    def window(self, provider: str) -> float:
        """Requests that a provider is sent at once, as far as is found out."""
        return self._lane(provider).window.size

    def _lane(self, provider: str) -> _Lane:
        lane = self._lanes.get(provider)
        if lane is None:
            lane = self._lanes[provider] = _Lane(self._new_window(), self.clock)
        return lane

    async def _turn(self, turn: asyncio.Future[Slot]) -> Slot:
        """Wait for a turn."""
        try:
            return await turn
        except asyncio.CancelledError:
            if turn.done() and not turn.cancelled():
                self._release(turn.result())
            raise

    def _release(self, slot: Slot) -> None:
        """End a turn."""
        slot._lane.release(slot)
        self._admit()

    def _admit(self) -> None:
        """Give turns to all who may have one, and look again when the next may."""
        now = self.clock()
        while True:
            soonest = math.inf
            # Lanes share the meter of a capped model: only the eldest request is held against it.
            eldest: dict[Meter, tuple[Ticket, _Lane, _Queue]] = {}
            for lane in self._lanes.values():
                heads = lane.heads()
                if heads and (opens := lane.opens(now)) > now:
                    soonest = min(soonest, opens)
                    continue
                for ticket, queue in heads:
                    known = eldest.get(queue.meter)
                    if known is None or ticket.arrival < known[0].arrival:
                        eldest[queue.meter] = ticket, lane, queue
            chosen: tuple[Ticket, _Lane, _Queue] | None = None
            for meter, one in eldest.items():
                wait = meter.wait(now, meter.counted(one[0].tokens))
                if wait > 0:
                    soonest = min(soonest, now + wait)
                elif chosen is None or one[0].arrival < chosen[0].arrival:
                    chosen = one
            if chosen is None:
                return self._look_again(soonest)
            chosen[1].send(chosen[2], now)

    def _look_again(self, at: float) -> None:
        if math.isinf(at):
            return
        if self._timer is not None and not self._timer.done():
            if self._timer_at <= at:
                return
            self._timer.cancel()
        self._timer_at = at
        self._timer = asyncio.ensure_future(self._tick(at))

    async def _tick(self, at: float) -> None:
        # A floor, so that rounding cannot make a wait that never ends of waits of no time.
        await self.sleep(max(at - self.clock(), 1e-3))
        self._timer = None
        self._admit()


@dataclass(slots=True)
class _Queue:
    """Those who wait for a model: a heap by arrival, from which the cancelled go when met."""

    meter: Meter
    heap: list[tuple[int, Ticket, asyncio.Future[Slot]]] = field(default_factory=list)

    def head(self) -> Ticket | None:
        """Who is next."""
        while self.heap and self.heap[0][2].done():
            heapq.heappop(self.heap)
        return self.heap[0][1] if self.heap else None


def _nothing() -> None:
    pass


class _Lane:
    """What goes to one provider."""

    def __init__(self, window: Window, clock: Callable[[], float]) -> None:
        self.window = window
        self._clock = clock
        self._under_way = 0
        self._sent = 0
        self.quiet_until = -math.inf
        self._queues: dict[str, _Queue] = {}
        self._young: deque[Slot] = deque()

    def queue(self, ticket: Ticket, meter: Meter | None) -> asyncio.Future[Slot]:
        """Queue for a turn."""
        queue = self._queues.get(ticket.model)
        if queue is None:
            queue = self._queues[ticket.model] = _Queue(meter or Meter(Caps()))
        turn: asyncio.Future[Slot] = asyncio.get_running_loop().create_future()
        heapq.heappush(queue.heap, (ticket.arrival, ticket, turn))
        return turn

    def heads(self) -> list[tuple[Ticket, _Queue]]:
        """Who is next for each model that is waited for."""
        queues = self._queues.values()
        return [(ticket, queue) for queue in queues if (ticket := queue.head()) is not None]

    def waiting(self, model: str) -> list[Ticket]:
        """Those who wait for a model, in no order."""
        queue = self._queues.get(model)
        return [] if queue is None else [t for _, t, turn in queue.heap if not turn.done()]

    def release(self, slot: Slot) -> None:
        """End a turn."""
        slot.settled = True
        self._under_way -= 1
        slot._meter.end(slot.spent, self._clock(), slot.tokens)

    def accepted(self, slot: Slot) -> None:
        """Note that a request was not rejected."""
        if not slot.settled:
            slot.settled = True
            self.window.accepted(self._under_way)

    def rejected(self, slot: Slot) -> None:
        """Note that a request was rejected."""
        self.window.rejected(slot.number, self._sent, self._under_way)

    def pause(self, seconds: float) -> None:
        """Send nothing for so long."""
        self.quiet_until = max(self.quiet_until, self._clock() + seconds)

    def opens(self, now: float) -> float:
        """When the provider may be asked by the clock; infinite if only an answer can help."""
        if now < self.quiet_until:
            return self.quiet_until
        self._grow(now)
        if self._under_way < int(self.window.size):
            return now
        return self._young[0].sent + ACCEPTED_SECONDS if self._young else math.inf

    def send(self, queue: _Queue, now: float) -> None:
        """Give the next turn to who is next for a model."""
        _, ticket, turn = heapq.heappop(queue.heap)
        spent = queue.meter.begin(now, queue.meter.counted(ticket.tokens))
        self._sent += 1
        self._under_way += 1
        slot = Slot(self._sent, now, spent, self, queue.meter)
        while self._young and self._young[0].settled:
            self._young.popleft()
        self._young.append(slot)
        turn.set_result(slot)

    def _grow(self, now: float) -> None:
        """Count those as accepted that have been under way for long enough."""
        while self._young:
            oldest = self._young[0]
            if not oldest.settled:
                if oldest.sent + ACCEPTED_SECONDS > now:
                    return
                self.accepted(oldest)
            self._young.popleft()
