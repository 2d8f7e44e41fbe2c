"""An event loop without waiting: when nothing is ready, its time jumps to the next timer.

Equal programs take equal courses. Tasks and futures hash by the order in which they were made,
since a set of them is else iterated in the order of their addresses. What runs "in a thread" runs
at once, and its caller is told later.
"""

from __future__ import annotations

import asyncio
import itertools
import selectors
from collections.abc import Callable, Coroutine, Mapping
from contextvars import Context
from typing import Any

#: Most turns of the loop and most seconds in one life of a driver; what needs more hangs.
MOST_TURNS = 100_000
MOST_SECONDS = 6 * 3_600.0


class Killed(KeyboardInterrupt):
    """The driver's process is gone, in the middle of whatever it was doing.

    It leaves the loop at once, as an interrupt does: nothing that plays may catch it.
    """


class HungError(RuntimeError):
    """Nothing will ever happen again, or too much does."""


class VirtualLoop(asyncio.SelectorEventLoop):
    """An event loop with a time of its own.

    Args:
        now: Seconds at which it begins.
        delay: Seconds after which the caller of a thread is told.
        turned: Is called before each turn of the loop with its number, from 1.
        made: Is called with each new task.

    Attributes:
        turns: Turns of the loop so far.
        complaints: What asyncio had to complain about, such as exceptions that nobody took.
    """

    def __init__(
        self,
        now: float,
        delay: Callable[[], float],
        turned: Callable[[int], None],
        made: Callable[[VirtualTask], None],
    ) -> None:
        super().__init__(_Jumping(self))
        self._now = self._began = now
        self._delay = delay
        self._turned = turned
        self._made = made
        self._numbers = itertools.count()
        self.turns = 0
        self.complaints: list[str] = []
        self.set_exception_handler(self._complain)
        self.set_task_factory(self._task)

    def time(self) -> float:
        """Seconds on the loop's own clock."""
        return self._now

    def create_future(self) -> asyncio.Future[Any]:
        """A future that hashes by its number."""
        return _Future(next(self._numbers), self)

    def run_in_executor(  # type: ignore[override]
        self, _: Any, func: Any, *args: Any
    ) -> asyncio.Future[Any]:
        """Call at once and tell later. `Killed` is not caught: it ends the thread's process too."""
        future = self.create_future()
        try:
            result = func(*args)
        except Exception as error:
            self.call_later(self._delay(), _settle, future, None, error)
        else:
            self.call_later(self._delay(), _settle, future, result, None)
        return future

    def mute(self) -> None:
        """Complain no more: what is still there is going to be ended."""
        self.set_exception_handler(lambda *_: None)

    def jump(self, seconds: float | None) -> None:
        """Let time pass, as nothing is ready before."""
        self.turns += 1
        self._turned(self.turns)
        if seconds is None:
            raise HungError("everything waits and nothing will ever happen")
        self._now += seconds
        if self.turns > MOST_TURNS or self._now - self._began > MOST_SECONDS:
            raise HungError(
                f"no end after {self.turns:,} turns and {self._now - self._began:,.0f} s"
            )

    def _task(
        self,
        loop: asyncio.AbstractEventLoop,
        work: Any,
        *,
        context: Context | None = None,
    ) -> asyncio.Future[Any]:
        task = VirtualTask(next(self._numbers), work, loop, context)
        self._made(task)
        return task

    def _complain(self, _: asyncio.AbstractEventLoop, about: Mapping[str, Any]) -> None:
        error = about.get("exception")
        self.complaints.append(f"{about.get('message')}: {error!r}")


class _Future(asyncio.Future[Any]):
    def __init__(self, number: int, loop: asyncio.AbstractEventLoop) -> None:
        self._number = number
        super().__init__(loop=loop)

    def __hash__(self) -> int:
        return self._number


class VirtualTask(asyncio.Task[Any]):
    """A task.

    Attributes:
        home: The pretended process that it belongs to; None for the driver's own.
    """

    home: object = None

    def __init__(
        self,
        number: int,
        work: Coroutine[Any, Any, Any],
        loop: asyncio.AbstractEventLoop,
        context: Context | None,
    ) -> None:
        self._number = number
        super().__init__(work, loop=loop, context=context)

    def __hash__(self) -> int:
        return self._number


class _Jumping(selectors.DefaultSelector):
    """Never waits for a file: there is none but the loop's own pipe, which nobody writes to."""

    def __init__(self, loop: VirtualLoop) -> None:
        super().__init__()
        self._loop = loop

    def select(self, timeout: float | None = None) -> list[Any]:
        self._loop.jump(timeout)
        return []


def _settle(future: asyncio.Future[Any], result: Any, error: Exception | None) -> None:
    if not future.done():
        if error is None:
            future.set_result(result)
        else:
            future.set_exception(error)
