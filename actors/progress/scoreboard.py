"""Shows a tournament while it is played: how much is done, what it took, how long it may last."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from types import MappingProxyType
from typing import Any, TextIO

from rich.console import Console, Group
from rich.live import Live
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text

from actors.progress.live import PLAIN_WIDTH, forecast, results
from actors.progress.watch import NOTHING, Plan, Progress, Watcher, Work
from actors.tournament import Ended
from market.config.plans import EpisodePlan

#: Running episodes that are shown.
SHOWN = 8


class Scoreboard:
    """Adds up what the watchers of all episodes see.

    Args:
        episodes: How many episodes there are to play.
        show: Is called whenever something changed.
        conclude: Is given the summary at the end.
        clock: Seconds.
        before: What earlier runs did, by episode.
    """

    def __init__(
        self,
        episodes: int,
        show: Callable[[Scoreboard], None],
        conclude: Callable[[Mapping[str, Any]], None],
        clock: Callable[[], float] = time.monotonic,
        before: Mapping[str, Work] = MappingProxyType({}),
    ) -> None:
        over = [work for work in before.values() if work.share >= 1]
        self.episodes = episodes
        self.conclude = conclude
        self.counts = {"finished": len(over), "owed": 0, "failed": 0}
        self.running: dict[str, Progress | None] = {}
        self._show = show
        self._clock = clock
        self._began = clock()
        self._ended = sum(over, NOTHING)
        self._begun = {name: work for name, work in before.items() if work.share < 1}
        self._before = sum(before.values(), NOTHING)

    def watch(self, plan: EpisodePlan) -> Watcher:
        """The watcher of one episode."""
        return _EpisodeWatcher(self, plan.id)

    def ended(self, ended: Ended) -> None:
        """Count an episode that ended for this run."""
        self.running.pop(ended.plan.id, None)
        work = self._begun.pop(ended.plan.id, NOTHING)
        if ended.played is None:
            self.counts["failed"] += 1
        elif ended.played.owed:
            self.counts["owed"] += 1
        else:
            self.counts["finished"] += 1
            work = replace(work, share=1.0)
        # What is owed or failed is not done: it is gone on with later, and takes what it takes.
        self._ended += work
        self._show(self)

    def progressed(self, episode: str, progress: Progress | None) -> None:
        """Note how far an episode is."""
        self.running[episode] = progress
        if progress is not None:
            self._begun[episode] = Work(
                _share(progress), progress.calls, progress.tokens, progress.cost_usd
            )
        self._show(self)

    @property
    def done(self) -> Work:
        """What is done in all, in episodes, by earlier runs too."""
        return sum(self._begun.values(), self._ended)

    @property
    def share(self) -> float:
        """Share of the work that is done, from 0 to 1."""
        return min(1.0, self.done.share / max(1, self.episodes))

    @property
    def seconds(self) -> float:
        """Seconds since the start."""
        return self._clock() - self._began

    @property
    def seconds_left(self) -> float | None:
        """Seconds that the rest may take at the pace of this run; None before it did anything."""
        done = self.done.share
        now = done - self._before.share
        return self.seconds * max(0.0, self.episodes - done) / now if now > 0 else None

    def line(self) -> str:
        """Everything in one line."""
        parts = [f"{self.counts['finished']}/{self.episodes} episodes"]
        troubles = {name: self.counts[name] for name in ("owed", "failed")}
        parts += [f"{count} {name}" for name, count in troubles.items() if count]
        parts.append(f"{_time(self.seconds)} so far")
        if self.seconds_left is not None:
            parts.append(f"{_time(self.seconds_left)} to go")
        done = self.done
        if done.calls:
            price = "cost unknown" if done.cost_usd is None else f"${done.cost_usd:,.4f}"
            parts.append(f"{done.calls:,} model calls, {done.tokens:,} tokens, {price}")
            parts += forecast(done, self._before, self.episodes)
        return ", ".join(parts)


class _EpisodeWatcher:
    def __init__(self, board: Scoreboard, episode: str) -> None:
        self._board = board
        self._episode = episode

    def started(self, plan: Plan) -> None:  # noqa: ARG002
        self._board.progressed(self._episode, None)

    def progressed(self, progress: Progress) -> None:
        self._board.progressed(self._episode, progress)

    def finished(self, summary: Mapping[str, Any]) -> None:
        """Nothing: the tournament is concluded as a whole."""


@contextmanager
def scoreboard(
    episodes: int,
    stream: TextIO | None = None,
    before: Mapping[str, Work] = MappingProxyType({}),
) -> Iterator[Scoreboard]:
    """A scoreboard on the stream (the standard output), until the block ends.

    Args:
        episodes: How many episodes there are, those included that are finished.
        stream: The stream.
        before: What earlier runs did, by episode.
    """
    console = Console(file=stream or sys.stdout, highlight=False)
    if not console.is_terminal:
        console.width = PLAIN_WIDTH
        shown = [-1]

        def say(board: Scoreboard) -> None:
            ended = sum(board.counts.values())
            if ended != shown[0]:
                shown[0] = ended
                console.print(Text(board.line()), soft_wrap=True)

        yield Scoreboard(
            episodes, say, lambda summary: console.print(results(summary)), before=before
        )
        return
    with Live(console=console, refresh_per_second=4) as live:

        def update(board: Scoreboard) -> None:
            live.update(_picture(board))

        def conclude(summary: Mapping[str, Any]) -> None:
            live.update(Text(""), refresh=True)
            console.print(results(summary, console.width))

        yield Scoreboard(episodes, update, conclude, before=before)


def _picture(board: Scoreboard) -> Group:
    table = Table(box=None, show_header=False, padding=(0, 2, 0, 0))
    for episode, progress in list(board.running.items())[:SHOWN]:
        at = "starting" if progress is None else f"step {progress.step}/{progress.steps}"
        table.add_row(Text(episode), Text(at))
    more = len(board.running) - SHOWN
    if more > 0:
        table.add_row(Text(f"and {more} more"), Text(""))
    return Group(Text(board.line()), ProgressBar(total=1.0, completed=board.share), table)


def _share(progress: Progress | None) -> float:
    """Share of an episode that is done: of its decisions, or else of the steps that are over."""
    if progress is None:
        return 0.0
    if progress.share is not None:
        return progress.share
    return max(0, progress.step - 1) / progress.steps if progress.steps else 0.0


def _time(seconds: float) -> str:
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"
