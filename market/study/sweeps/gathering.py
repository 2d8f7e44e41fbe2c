"""From the parts of a sweep to one table, and to what its outcomes were in each episode.

`tables/units.parquet` holds every row that was played, with the varied settings as columns. Parts
are read one after the other, so that memory does not grow with what was played.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from market import canonical
from market.environment import OUTSIDE
from market.study.recording import StudyError
from market.study.sweeps import outcomes
from market.study.sweeps.outcomes import AGREEMENT, EPISODE, GAME
from market.study.sweeps.plan import Sweep

if TYPE_CHECKING:
    import pandas as pd
    import pyarrow as pa

#: A cell, a market (empty where there is one only) and a roster.
Game = tuple[str, str, str]


@dataclass(frozen=True, slots=True)
class Gathered:
    """What was played of a sweep.

    Attributes:
        episodes: Outcomes indexed by `EPISODE`.
        seats: Per game and seat, sums and counts of metrics, for figures of cells.
        scores: Per episode and retailer, the mean score.
    """

    episodes: pd.DataFrame
    seats: pd.DataFrame
    scores: pd.DataFrame

    @property
    def games(self) -> list[Game]:
        """The games that were played, in the order of their first episodes."""
        levels = [self.episodes.index.get_level_values(name) for name in GAME]
        return list(dict.fromkeys(zip(*levels, strict=True)))


def parts(folder: Path) -> list[Path]:
    """The parts of a sweep that were written, in order."""
    return sorted((folder / "parts").glob("part-*.parquet"))


def part_of(path: Path, columns: Sequence[str] | None = None) -> pa.Table:
    """What a part holds.

    Raises:
        StudyError: If it cannot be read.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        return pq.read_table(path, columns=None if columns is None else list(columns))
    except (pa.ArrowException, OSError) as error:
        raise _unreadable(path) from error


def played(path: Path) -> int:
    """How many episodes a part holds.

    Raises:
        StudyError: If it cannot be read.
    """
    import pyarrow.compute as pc

    return int(pc.sum(pc.equal(part_of(path, ["seat"]).column(0), OUTSIDE)).as_py() or 0)


def _schema_of(path: Path) -> pa.Schema:
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        return pq.read_schema(path)
    except (pa.ArrowException, OSError) as error:
        raise _unreadable(path) from error


def _unreadable(path: Path) -> StudyError:
    return StudyError(
        f"{path} cannot be read as Parquet; remove it, and `market study --resume` plays it again"
    )


def write_units(sweep: Sweep, folder: Path) -> None:
    """Write `tables/units.parquet` from the parts.

    Raises:
        StudyError: If a part cannot be read.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    settings = {cell.id: cell.settings for cell in sweep.cells}
    assert sweep.config.study is not None
    fields = {key: _column(settings.values(), key) for key in sweep.config.study.vary}
    whole = pa.unify_schemas([_schema_of(path) for path in parts(folder)])
    for key, numeric in fields.items():
        whole = whole.append(pa.field(key, pa.float64() if numeric else pa.string()))
    path = folder / "tables" / "units.parquet"
    path.parent.mkdir(exist_ok=True)
    new = path.with_suffix(".parquet.part")
    with pq.ParquetWriter(new, whole, compression="zstd") as writer:
        for part in parts(folder):
            writer.write_table(_widened(part_of(part), settings, fields, whole))
    new.replace(path)


def gather(folder: Path, asked: Sequence[str]) -> Gathered:
    """Read the outcomes of all episodes that were played.

    Args:
        folder: Folder of the sweep.
        asked: Names of outcomes.

    Raises:
        StudyError: If a part cannot be read.
    """
    import pandas as pd

    episodes, seats, scores = [], [], []
    metrics = [name.partition(".")[2] for name in asked if outcomes.of_cell(name)]
    for path in parts(folder):
        names = _schema_of(path).names
        wanted = ["seat", "retailer", *EPISODE, *outcomes.needed(asked, names)]
        part = part_of(path, wanted).to_pandas()
        episodes.append(outcomes.of_episodes(part, asked))
        own = part[part["seat"] != OUTSIDE].assign(preset=part["preset"].fillna(""))
        if metrics:
            columns = list(dict.fromkeys(["score", *metrics]))
            by_seat = own.groupby([*GAME, "seat"], sort=False)[columns]
            seats.append(pd.concat({"sum": by_seat.sum(), "count": by_seat.count()}, axis=1))
        if AGREEMENT in asked:
            scores.append(own.groupby([*EPISODE, "retailer"], sort=False)["score"].mean())
    return Gathered(
        pd.concat(episodes),
        pd.concat(seats).groupby(level=[0, 1, 2, 3], sort=False).sum() if seats else pd.DataFrame(),
        pd.concat(scores).unstack("retailer") if scores else pd.DataFrame(),
    )


def _widened(
    table: pa.Table,
    settings: Mapping[str, Mapping[str, Any]],
    fields: Mapping[str, bool],
    whole: pa.Schema,
) -> pa.Table:
    """A part with the settings of its cells, in the columns of the whole table."""
    import pyarrow as pa

    own = table.column("cell").to_pylist()
    for key, numeric in fields.items():
        values = [plain(settings[cell][key]) for cell in own]
        kind = pa.float64() if numeric else pa.string()
        spelled = values if numeric else [text(value) for value in values]
        table = table.append_column(key, pa.array(spelled, kind))
    columns = [
        table.column(each.name).cast(each.type)
        if each.name in table.column_names
        else pa.nulls(table.num_rows, each.type)
        for each in whole
    ]
    return pa.Table.from_arrays(columns, schema=whole)


def _column(settings: Iterable[Mapping[str, Any]], key: str) -> bool:
    """Whether a setting is a number in every cell."""
    return all(
        isinstance(each[key], int | float) and not isinstance(each[key], bool) for each in settings
    )


def plain(value: Any) -> Any:
    """A setting as a value of a table."""
    return value if isinstance(value, int | float | str | None) else canonical.dumps(value)


def text(value: Any) -> str | None:
    """A setting as a text of a table."""
    return value if value is None or isinstance(value, str) else canonical.dumps(value)
