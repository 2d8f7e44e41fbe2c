"""A recorded run, tournament or study, opened for questions.

    run = load("runs/scripted")
    run.episodes                     # which there are, and which of them count
    run.scores                       # per episode and seat
    run.table("offers")              # any table of the environment
    run.describe()                   # what each column means, and in what unit
    run.findings(reference="markup") # estimates, intervals and what they mean

    run = load("runs/supply")        # a study, or the URL of results
    run.cells                        # every outcome in every cell
    run.units                        # per episode and seat, with what was varied

Nothing is read before it is asked for. Tables are derived from journals, and are made here where
there are none or where a journal has grown since. A study of scripts has no journals: it has
`units` and `cells`, and whoever asks for more is told so.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from market import registry
from market.environment import OUTSIDE, Event, Json
from market.registry import EnvironmentKind
from market.study.estimands.games import Game

if TYPE_CHECKING:
    import pandas as pd

    from market.study.estimands.findings import Findings
    from market.study.frames import Seating

#: What an outcome of the whole market is called: `index:gini_net_worth`.
INDEX = "index:"

#: The file of a folder that `market study` began.
STUDY = "study.json"
#: The tables that only it leaves.
OF_STUDY = ("cells", "units")


class StudyError(RuntimeError):
    """A question that a recording cannot answer; one sentence."""


def load(path: Path | str) -> Run:
    """Open the results of a run, a tournament or a study.

    Args:
        path: Their folder; or their URL, of which a copy is kept as long as the run is.

    Raises:
        StudyError: If it holds no recorded episode and no study, the URL cannot be used, or the
            configuration cannot be read.
    """
    from market.storage.mirror import is_url

    if is_url(str(path)):
        copy = _fetched(str(path))
        return _opened(Path(copy.name), str(path), copy)
    return _opened(Path(path), str(path))


def _opened(folder: Path, where: str, copy: TemporaryDirectory[str] | None = None) -> Run:
    journals = sorted(folder.glob("episodes/*/journal.jsonl"))
    if not journals and not (folder / STUDY).exists():
        if not folder.is_dir():
            raise StudyError(f"there is no folder {where}; name that of a run or a study")
        raise StudyError(f"{where} holds no recorded episode; `market run --out` makes one")
    return Run(folder, _config(folder, journals[0] if journals else None), copy)


def _fetched(url: str) -> TemporaryDirectory[str]:
    from market.storage.mirror import Mirror

    copy = TemporaryDirectory(prefix="market-")
    try:
        Mirror(url, Path(copy.name)).fetch()
    except OSError as error:
        raise StudyError(error.strerror or str(error)) from error
    return copy


@dataclass(frozen=True, eq=False)
class Run:
    """A recorded run.

    Attributes:
        folder: Its folder.
        config: Its configuration as recorded in `config.json`, every default filled in.
        copy: What keeps the folder where it is a copy of what is at a URL.
    """

    folder: Path
    config: Mapping[str, Json]
    copy: TemporaryDirectory[str] | None = field(default=None, repr=False)

    @cached_property
    def kind(self) -> EnvironmentKind:
        """What the environment brings."""
        return registry.environment_kind(str(self.config["environment"]))

    @cached_property
    def seatings(self) -> Mapping[str, Seating]:
        """Who plays each recorded episode, by its id.

        Raises:
            StudyError: If the configuration is no longer valid.
        """
        from market.study.estimands.seatings import seatings

        return seatings(self.config, self._journals)

    @cached_property
    def episodes(self) -> pd.DataFrame:
        """One row per episode that was begun; see `frames.COLUMNS`."""
        from market.study import frames

        return frames.episodes(self.seatings, self.table("decisions"), self.table("results"))

    @cached_property
    def metrics(self) -> pd.DataFrame:
        """One row per finished episode, seat and metric, with the reason where it is null."""
        from market.study import frames

        return frames.metrics(self.seatings, self.episodes, self.table("results"))

    @cached_property
    def scores(self) -> pd.DataFrame:
        """One row per finished episode and seat, one column per metric."""
        from market.study import frames

        return frames.scores(self.metrics)

    @cached_property
    def retailers(self) -> pd.DataFrame:
        """One row per market, design of rosters and retailer, the best first."""
        from market.study import frames

        return frames.retailers(self.scores)

    @cached_property
    def units(self) -> pd.DataFrame:
        """Of a study, one row per episode and seat, what was varied in columns of its own.

        Raises:
            StudyError: If this is no study, or nothing of it was played.
        """
        from market.study.sweeps import swept

        return swept.frame(self.folder, "units")

    @cached_property
    def cells(self) -> pd.DataFrame:
        """Of a study, one row per outcome in every cell, market and roster.

        Raises:
            StudyError: If this is no study, or nothing of it was played.
        """
        from market.study.sweeps import swept

        return swept.frame(self.folder, "cells")

    @cached_property
    def tables(self) -> tuple[str, ...]:
        """The names of the tables."""
        return tuple(sorted(path.stem for path in _derived(self._tables)))

    def table(self, name: str, columns: list[str] | None = None) -> pd.DataFrame:
        """A table of all episodes, as it stands on disk.

        Args:
            name: Its name; `tables` has them all.
            columns: The columns to read; all where not given.

        Raises:
            StudyError: If there is no such table.
        """
        import pandas as pd
        import pyarrow as pa

        if name not in self.tables:
            raise StudyError(f"there is no table `{name}`; there are {', '.join(self.tables)}")
        path = self._tables / f"{name}.parquet"
        try:
            return pd.read_parquet(path, columns=columns)
        except pa.ArrowException as error:
            raise StudyError(
                f"{path} cannot be read as Parquet; `market report {self.folder}` makes it anew"
            ) from error

    def journal(self, episode: str) -> Path:
        """The journal of an episode.

        Raises:
            StudyError: If there is no such episode.
        """
        path = self.folder / "episodes" / episode / "journal.jsonl"
        if path not in self._journals:
            raise StudyError(f"there is no episode `{episode}` in {self.folder}")
        return path

    def describe(self) -> pd.DataFrame:
        """Every column of every table and frame, with its unit and meaning."""
        from market.study import frames
        from market.study.sweeps import swept

        of_study: dict[str, Mapping[str, tuple[str, str]]] = {}
        if (self.folder / STUDY).exists():
            varied = list(self.config.get("study", {}).get("vary", ()))
            of_study = {
                "units": swept.described(list(self.units.columns), "units", varied),
                "cells": swept.described(list(self.cells.columns), "cells", varied),
            }
        if not self._journals:
            return frames.described((), of_study)

        from market.tables import COMMON

        own: tuple[type[Event], ...] = registry.load(self.kind.events) if self.kind.events else ()
        seat_metrics = {
            name: ("of the metric", f"The metric `{name}`; null where undefined.")
            for name in self.scores.columns
            if name not in frames.COLUMNS["metrics"]
        }
        shared = frames.COLUMNS["metrics"]
        keys = {name: shared[name] for name in self.scores.columns if name in shared}
        more = {name: each for name, each in seat_metrics.items() if name != "score"}
        return frames.described(
            (*COMMON, *own),
            {
                **frames.COLUMNS,
                "scores": {**keys, **seat_metrics},
                "retailers": {**frames.COLUMNS["retailers"], **more},
                **of_study,
            },
        )

    def findings(self, outcome: str | None = None, reference: str | None = None) -> Findings:
        """Every estimate that the design allows; see `findings.find`."""
        from market.study.estimands.findings import find

        return find(self, outcome, reference)

    def games(self, outcome: str = "score", valid: bool = True) -> list[Game]:
        """The finished episodes as the estimands see them.

        Args:
            outcome: `score`, another metric of a seat, or a figure of the whole market at the end
                of an episode. `index:NAME` means the market's where both have one of that name.
            valid: Leave out episodes in which a provider failed a seat.

        Raises:
            StudyError: If there is no such outcome.
        """
        name = outcome.removeprefix(INDEX)
        rows = self.metrics[self.metrics["metric"] == name]
        seats = rows[rows["seat"] != OUTSIDE]
        of_market = outcome.startswith(INDEX) or seats.empty
        rows = rows[rows["seat"] == OUTSIDE] if of_market else seats
        if rows.empty and not self.metrics.empty:
            raise StudyError(f"no finished episode has the outcome `{outcome}`")
        values: dict[str, dict[str, float]] = {}
        for episode, seat, value in rows[["episode", "seat", "value"]].itertuples(index=False):
            values.setdefault(episode, {})
            if value == value:  # null is NaN here
                values[episode][seat] = float(value)
        counts = self.episodes.set_index("episode")["valid" if valid else "finished"]
        return [
            _game(episode, seating, values.get(episode, {}), of_market)
            for episode, seating in self.seatings.items()
            if counts[episode]
        ]

    @cached_property
    def _journals(self) -> tuple[Path, ...]:
        return tuple(sorted(self.folder.glob("episodes/*/journal.jsonl")))

    @cached_property
    def _tables(self) -> Path:
        """The folder of the tables, made where a journal is younger than they are."""
        from market.tables import write_tables

        if not self._journals:
            raise StudyError(
                f"{self.folder} is a study of scripts, whose episodes leave no journal; it has "
                "`units` and `cells`, and `market run` records a single episode of it"
            )
        folder = self.folder / "tables"
        made = [path.stat().st_mtime_ns for path in _derived(folder)]
        logs = self.folder.glob("episodes/*/calls.jsonl")
        if not made or min(made) < max(p.stat().st_mtime_ns for p in (*self._journals, *logs)):
            write_tables(self.folder)
        return folder


def _derived(tables: Path) -> list[Path]:
    """The tables that are made of journals, and not of the parts of a study."""
    return [path for path in tables.glob("*.parquet") if path.stem not in OF_STUDY]


def _game(episode: str, seating: Seating, values: Mapping[str, float], of_market: bool) -> Game:
    return Game(
        episode=episode,
        preset=seating.preset,
        roster=seating.roster,
        design=seating.design,
        seed=seating.seed,
        repetition=seating.repetition,
        players=seating.names,
        outcomes={} if of_market else values,
        market=values.get(OUTSIDE) if of_market else None,
    )


def _config(folder: Path, journal: Path | None) -> Mapping[str, Any]:
    """What `config.json` holds; without one, what the journal does."""
    from market.config import documents  # pydantic and YAML, which not every caller needs

    path = folder / "config.json"
    if not path.exists():
        if journal is None:
            raise StudyError(f"{path} is missing; without it nobody knows what was studied")
        from market.journal import JournalReader

        reader = JournalReader(journal)
        reader.close()
        return reader.header.config
    return documents.read(path)
