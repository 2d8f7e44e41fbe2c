"""How far a study is, from its records alone: nothing that plays it is asked, or need be alive.

What is planned stands in `study.json`, what was played in the parts, what failed in `errors/`. A
part is there whole or not at all, so of a study that was killed it tells what a resumed one will
not play again. Somebody plays while the lock of `study.json` is held, which the kernel takes back
from a process that was killed. Episodes that were recorded, since models are asked, are told as
those of a run are, with what they spent.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from itertools import pairwise
from pathlib import Path

from actors.progress.status import EpisodeStatus, Spend, State, episode_status, is_held, spent
from actors.studies.registering import STUDY
from market.config import ConfigError, documents
from market.environment import Json
from market.study.recording import StudyError
from market.study.sweeps import gathering
from market.study.sweeps.amendments import amendments


@dataclass(frozen=True, slots=True)
class StudyStatus:
    """A study.

    Attributes:
        folder: Where.
        name: Its name.
        planned: Episodes in all.
        finished: Episodes whose results are there.
        failures: For each episode that failed by a bug, the file that tells of it.
        parts: Parts that are there, and in all.
        damaged: Parts that cannot be read, one sentence each.
        recorded: Episodes that have journals.
        playing: Whether somebody plays now.
        amendments: How it was extended, a sentence each.
    """

    folder: Path
    name: str
    planned: int
    finished: int
    failures: Mapping[str, Path]
    parts: tuple[int, int]
    damaged: tuple[str, ...]
    recorded: tuple[EpisodeStatus, ...]
    playing: bool
    amendments: tuple[str, ...]

    @property
    def counts(self) -> dict[State, int]:
        """Episodes by state; of packed ones nobody knows which are running."""
        found = Counter(episode.state for episode in self.recorded)
        if not self.recorded:
            found.update({State.FINISHED: self.finished, State.FAILED: len(self.failures)})
        found[State.NOT_BEGUN] = max(0, self.planned - found.total())
        return {state: found[state] for state in State}

    @property
    def spend(self) -> Spend:
        """What model calls took."""
        return sum((episode.spend for episode in self.recorded), Spend())

    def json(self) -> dict[str, Json]:
        """Everything, for programs."""
        return {
            "folder": str(self.folder),
            "study": self.name,
            "units": {"planned": self.planned, **self.counts},
            "parts": {"done": self.parts[0], "total": self.parts[1]},
            "failures": {unit: str(path) for unit, path in self.failures.items()},
            "damaged": list(self.damaged),
            "playing": self.playing,
            "spend": asdict(self.spend),
            "amendments": list(self.amendments),
            "each": [asdict(episode) for episode in self.recorded],
        }


def status(folder: Path) -> StudyStatus:
    """How far a study is.

    Args:
        folder: Its folder, with a `study.json`.

    Raises:
        market.config.ConfigError: If that is damaged.
    """
    told = documents.read(folder / STUDY)
    # First the lock: whoever ends while we read has let it go after the last part was written.
    playing = is_held(folder / STUDY)
    finished, damaged = 0, []
    parts = gathering.parts(folder)
    for path in parts:
        try:
            finished += gathering.played(path)
        except StudyError as error:
            damaged.append(str(error))
    done = {path.stem for path in parts}
    errors = sorted((folder / "errors").glob("part-*.txt"))
    failures = {
        unit: path for path in errors if path.stem not in done for unit in _failed_units(path)
    }
    found = {path.parent for path in folder.glob("episodes/*/journal.jsonl")}
    found |= {path.parent for path in folder.glob("episodes/*/error.txt")}
    try:
        return StudyStatus(
            folder,
            str(told["name"]),
            int(told["units"]),
            finished,
            failures,
            (len(parts) - len(damaged), int(told["shards"])),
            tuple(damaged),
            tuple(episode_status(path, None, planned=True) for path in sorted(found)),
            playing,
            tuple(each.sentence for each in amendments(told)),
        )
    except (KeyError, TypeError, ValueError) as error:
        raise ConfigError(f"{folder / STUDY} holds no plan; name the folder of a study.") from error


def as_json(found: StudyStatus) -> str:
    """A status for programs."""
    return json.dumps(found.json(), indent=2) + "\n"


def as_text(found: StudyStatus) -> str:
    """A status for people."""
    counts = ", ".join(f"{count:,} {state}" for state, count in found.counts.items() if count)
    done, of = found.parts
    ended = found.finished >= found.planned
    lines = [
        f"study {found.name}: {found.finished:,} of {found.planned:,} episodes in {done:,} of "
        f"{of:,} parts",
        f"episodes: {counts}",
    ]
    if found.spend != Spend():
        lines.append(f"spent: {spent(found.spend)}")
    lines += [f"{unit}: failed (see {path})" for unit, path in found.failures.items()]
    lines += [
        f"{episode.id}: {episode.state}{f', {episode.note}' if episode.note else ''}"
        for episode in found.recorded
        if episode.state is not State.FINISHED or episode.note
    ]
    lines += [*found.damaged, *found.amendments]
    if found.playing:
        lines.append("Somebody plays it now.")
    elif not ended:
        lines.append("Nobody plays it; go on with `market study` and --resume.")
    return "\n".join(lines) + "\n"


def _failed_units(path: Path) -> list[str]:
    """The units that a file of errors tells of: each stands above its traceback."""
    lines = path.read_text(encoding="utf-8", errors="replace").splitlines()
    return [
        line
        for line, following in pairwise(lines)
        if following.startswith("Traceback ") and line and not line[0].isspace()
    ]
