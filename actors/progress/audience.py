"""Who is told what happens in a run: of one episode everything, of many how far they are."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Protocol

from actors.progress.live import watcher
from actors.progress.scoreboard import Scoreboard, scoreboard
from actors.progress.watch import NOTHING, Watcher, Work
from actors.tournament import Ended
from market.config.plans import EpisodePlan


class Audience(Protocol):
    """Who is told."""

    def watch(self, plan: EpisodePlan) -> Watcher:
        """The watcher of an episode that begins, or goes on."""
        ...

    def ended(self, ended: Ended) -> None:
        """An episode ended for this run."""
        ...

    def finished(self, summary: Mapping[str, Any]) -> None:
        """The run is over; the summary is what `summary.json` holds."""
        ...


@dataclass(frozen=True, slots=True)
class OneEpisode:
    """The audience of a run of one episode: its watcher sees everything."""

    watcher: Watcher

    def watch(self, plan: EpisodePlan) -> Watcher:  # noqa: ARG002
        """The watcher."""
        return self.watcher

    def ended(self, ended: Ended) -> None:
        """The watcher saw it."""

    def finished(self, summary: Mapping[str, Any]) -> None:
        """Tell the watcher."""
        self.watcher.finished(summary)


@dataclass(frozen=True, slots=True)
class ManyEpisodes:
    """The audience of a tournament: a scoreboard."""

    board: Scoreboard

    def watch(self, plan: EpisodePlan) -> Watcher:
        """The scoreboard's watcher of an episode."""
        return self.board.watch(plan)

    def ended(self, ended: Ended) -> None:
        """Count it."""
        self.board.ended(ended)

    def finished(self, summary: Mapping[str, Any]) -> None:
        """Show the results."""
        self.board.conclude(summary)


@contextmanager
def audience(
    episodes: int, before: Mapping[str, Work] = MappingProxyType({})
) -> Iterator[Audience]:
    """The audience at the standard output of a run.

    Args:
        episodes: How many episodes it has.
        before: What earlier runs did, by episode.
    """
    if episodes == 1:
        with watcher(before=sum(before.values(), NOTHING)) as watching:
            yield OneEpisode(watching)
    else:
        with scoreboard(episodes, before=before) as board:
            yield ManyEpisodes(board)
