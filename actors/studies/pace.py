"""How far a sweep is: one line that follows it, or a line every few seconds."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TextIO

from rich.console import Console
from rich.live import Live
from rich.text import Text

from actors.progress.live import PLAIN_WIDTH

#: Seconds between two lines where no terminal follows.
EVERY = 5.0


class Pace:
    """Counts episodes.

    Args:
        show: Is called with the line whenever it changed, and whether it is the last.
        clock: Seconds.
    """

    def __init__(
        self, show: Callable[[str, bool], None], clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._show = show
        self._clock = clock
        self._units = self._done = 0
        self._first: tuple[float, int] | None = None

    def started(self, units: int, done: int) -> None:
        """A sweep begins, or goes on where so many were played before."""
        self._units, self._done = units, done
        self._show(self.line, done == units)

    def played(self, units: int) -> None:
        """So many more were played."""
        self._done += units
        self._first = self._first or (self._clock(), self._done)
        self._show(self.line, self._done == self._units)

    @property
    def line(self) -> str:
        """Everything in one line."""
        parts = [f"{self._done:,}/{self._units:,} episodes"]
        rate = self._rate()
        if rate:
            parts.append(f"{rate:,.1f} per second")
            if self._done < self._units:
                parts.append(f"{_time((self._units - self._done) / rate)} to go")
        return ", ".join(parts)

    def _rate(self) -> float | None:
        """Episodes per second since the first were told of, so that starting does not count."""
        if self._first is None:
            return None
        when, done = self._first
        seconds = self._clock() - when
        return (self._done - done) / seconds if seconds > 0 else None


@contextmanager
def pace(stream: TextIO | None = None) -> Iterator[Pace]:
    """A pace on the stream (the standard output), until the block ends."""
    console = Console(file=stream or sys.stdout, highlight=False)
    if console.is_terminal:
        with Live(console=console, refresh_per_second=4) as live:
            yield Pace(lambda line, _: live.update(Text(line)))
        return
    console.width = PLAIN_WIDTH
    said = [-EVERY]

    def say(line: str, last: bool) -> None:
        now = time.monotonic()
        if last or now - said[0] >= EVERY:
            said[0] = now
            console.print(Text(line), soft_wrap=True)

    yield Pace(say)


def _time(seconds: float) -> str:
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"
