"""An event loop in virtual time: a wait takes none, and the clock shows it."""

from __future__ import annotations

import asyncio
import selectors
from collections.abc import Coroutine
from typing import Any, TypeVar

T = TypeVar("T")


class _Selector(selectors.SelectSelector):
    """Moves the clock to when something is due, instead of waiting for it."""

    now = 0.0

    def select(self, timeout: float | None = None) -> list[Any]:
        if timeout is None:
            raise RuntimeError("everybody waits, and for nothing")
        self.now += max(timeout, 0.0)
        return super().select(0)


class _Loop(asyncio.SelectorEventLoop):
    def __init__(self) -> None:
        self.selector = _Selector()
        super().__init__(self.selector)

    def time(self) -> float:
        return self.selector.now


def clock() -> float:
    """Virtual seconds, within `run`."""
    return asyncio.get_running_loop().time()


def run(main: Coroutine[Any, Any, T]) -> T:
    """Run to the end; a program in which everybody waits for nothing is an error.

    Threads cannot be waited for.
    """
    with asyncio.Runner(loop_factory=_Loop) as runner:
        return runner.run(main)
