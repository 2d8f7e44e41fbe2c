"""Which episodes the page's browser of decisions holds, and where they come from.

A page holds so many bytes of packed episodes at most; of an episode that does not fit by itself
the first decisions are kept. An episode is played again to be packed; whoever plays it anyway, such
as the maker of the tables, lets somebody look on (`Gathered`), and nobody plays it a second time.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from market.calls import CallLogError, read_calls
from market.journal import JournalError
from market.replay import Moment, Replay, ReplayError
from market.study.report.packing import Episode, Packed

#: Most characters of packed episodes in a page.
BUDGET = 8_000_000
#: Most episodes of a page, so that making it does not take as long as playing.
MOST = 24


@dataclass(frozen=True, slots=True)
class Browser:
    """What the page can browse.

    Attributes:
        episodes: The episodes that it holds.
        recorded: Episodes that there are.
    """

    episodes: tuple[Packed, ...]
    recorded: int

    @property
    def note(self) -> str:
        """What was left out; empty if nothing was."""
        parts = []
        if left := self.recorded - len(self.episodes):
            parts.append(
                f"The page holds {len(self.episodes):,} of {self.recorded:,} episodes; the other "
                f"{left:,} are in their journals."
            )
        parts += [
            f"Of {each.id} it holds the first {each.shown:,} of {each.decisions:,} decisions."
            for each in self.episodes
            if each.shown < each.decisions
        ]
        return " ".join(parts)


class Gathered:
    """Episodes that were packed while somebody else played them again.

        gathered = Gathered()
        write_tables(folder, gathered.play)
        write_report(folder, gathered=gathered)

    As many are kept as fit into a page.
    """

    def __init__(self, budget: int = BUDGET, most: int = MOST) -> None:
        self._episodes: dict[str, Episode] = {}
        self._budget, self._most = budget, most

    def play(self, journal: Path) -> Replay:
        """Begin to play a journal again; what happens is gathered on the way.

        Raises:
            market.journal.JournalError: As `Replay`.
            market.replay.ReplayError: As `Replay`.
        """
        if len(self._episodes) >= self._most or self._budget <= 0:
            return Replay(journal)
        return _Watched(journal, self)

    def episode(self, journal: Path) -> Episode | None:
        """The episode of a journal; None where it was not gathered."""
        return self._episodes.get(journal.parent.name)

    def keep(self, episode: Episode) -> None:
        """Keep an episode that was played to its end."""
        self._budget -= len(episode.whole.data)
        if self._budget >= 0 or not self._episodes:
            self._episodes[episode.id] = episode


class _Watched(Replay):
    """A replay on which somebody looks on.

    Raises:
        market.calls.CallLogError: While iterating, if the answer log is damaged.
    """

    def __init__(self, path: Path, watcher: Gathered) -> None:
        super().__init__(path)
        self._path, self._watcher = path, watcher

    def __iter__(self) -> Iterator[Moment]:
        """Play on, compare and gather."""
        calls = read_calls(self._path.with_name("calls.jsonl"))
        episode = Episode(self._path.parent.name, self.environment.rules, calls)
        for moment in super().__iter__():
            episode.add(moment)
            yield moment
        episode.end()
        self._watcher.keep(episode)


def browser(
    journals: Sequence[Path],
    budget: int = BUDGET,
    most: int = MOST,
    gathered: Gathered | None = None,
) -> Browser:
    """Pack the first episodes, as many as the budget holds; of the first one a part at least.

    Args:
        journals: Of all episodes, in the order in which they are to be kept.
        budget: Characters of all together.
        most: Episodes at most.
        gathered: Episodes that need not be played again.

    Episodes whose records are damaged, or not of this version's game, are left out.
    """
    kept: list[Packed] = []
    for journal in journals[:most]:
        try:
            episode = (gathered and gathered.episode(journal)) or _played(journal)
        except (JournalError, ReplayError, CallLogError):
            continue
        packed = episode.whole
        while not kept and len(packed.data) > budget and packed.shown > 1:
            packed = episode.pack(packed.shown // 2)
        if kept and len(packed.data) > budget:
            break
        budget -= len(packed.data)
        kept.append(packed)
    return Browser(tuple(kept), len(journals))


def _played(journal: Path) -> Episode:
    alone = Gathered()
    for _ in alone.play(journal):
        pass
    episode = alone.episode(journal)
    assert episode is not None  # the first one is kept, whatever its size
    return episode
