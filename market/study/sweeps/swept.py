"""The folder of a study as frames: what was played, and what every outcome came to in every cell.

    units    one row per episode and seat, and one of the seat `outside` for the whole market
    cells    one row per outcome in every cell, market and roster

Both are derived from `parts/`, and are made here where there are none or where a part is younger.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from market.study.recording import StudyError

if TYPE_CHECKING:
    import pandas as pd

#: Unit and meaning of the columns of each frame that every study has, in order.
COLUMNS: Mapping[str, Mapping[str, tuple[str, str]]] = {
    "units": {
        "unit": ("", "Id of the episode in its study: the cell's and the episode's."),
        "cell": ("", "Id of the cell."),
        "preset": ("", "Name of the market; null where there is one only."),
        "roster": ("", "Name of the roster."),
        "seed": ("", "The seed: episodes of one seed are one block."),
        "repetition": ("", "From 1."),
        "seat": ("", "The seat; `outside` for figures of the whole market."),
        "retailer": ("", "The retailer that played it; null for the whole market."),
        "undefined": ("", "JSON: why a figure of the row is undefined; null where none is."),
        "score": ("score", "What the seat was to maximise; null for the whole market."),
    },
    "cells": {
        "cell": ("", "Id of the cell."),
        "preset": ("", "Name of the market; null where there is one only."),
        "roster": ("", "Name of the roster."),
        "outcome": ("", "Name of the outcome."),
        "primary": ("", "Whether the study named it before anything was played."),
        "value": ("of the outcome", "Its mean over seeds; null where undefined."),
        "low": ("of the outcome", "Lower end of the 95% interval; null where there is none."),
        "high": ("of the outcome", "Upper end of it."),
        "blocks": ("seeds", "Seeds behind it."),
        "method": ("", "How the interval was made."),
        "undefined": ("", "Why value or interval is null; null where neither is."),
        "difference_value": (
            "of the outcome",
            "Mean difference from the first cell on equal seeds; null in the first cell itself.",
        ),
        "difference_low": ("of the outcome", "Lower end of its 95% interval."),
        "difference_high": ("of the outcome", "Upper end of it."),
        "difference_blocks": ("seeds", "Seeds that both cells have."),
        "difference_method": ("", "How its interval was made."),
        "difference_undefined": ("", "Why difference or interval is null."),
    },
}

#: What a column is about by the beginning of its name: its unit, and its meaning up to the name.
_BEGINNINGS = {
    "market.": ("of the figure", "The figure of the whole market"),
    "reference.": ("score", "What the market would earn per seat if it were"),
}


def frame(folder: Path, name: str) -> pd.DataFrame:
    """`units` or `cells` of a study.

    Args:
        folder: Its folder.
        name: Which.

    Raises:
        StudyError: If the folder is no study's, nothing was played, or a file cannot be read.
        market.config.ConfigError: If its configuration is none of this version.
    """
    import pandas as pd
    import pyarrow as pa

    path = folder / "tables" / f"{name}.parquet"
    _made(folder, path)
    try:
        return pd.read_parquet(path)
    except (pa.ArrowException, OSError) as error:
        raise StudyError(
            f"{path} cannot be read as Parquet; remove it, and it is made anew"
        ) from error


def described(
    columns: Sequence[str], frame: str, varied: Sequence[str]
) -> dict[str, tuple[str, str]]:
    """Unit and meaning of each column of a frame.

    Args:
        columns: Its columns.
        frame: `units` or `cells`.
        varied: The keys that the study varies.
    """
    known = COLUMNS[frame]
    return {name: known.get(name) or _about(name, varied) for name in columns}


def _about(name: str, varied: Sequence[str]) -> tuple[str, str]:
    if name in varied:
        return "of the field", f"What the study set `{name}` to; JSON where it is no plain value."
    for beginning, (unit, meaning) in _BEGINNINGS.items():
        if name.startswith(beginning):
            return unit, f"{meaning} `{name.removeprefix(beginning)}`; null for seats."
    return "of the metric", f"The metric `{name}`; null where undefined, and for the whole market."


def _made(folder: Path, path: Path) -> None:
    """Make the tables of a study where they are missing or older than a part."""
    from market.config import configure, documents
    from market.study.sweeps import concluding, gathering
    from market.study.sweeps.amendments import amendments
    from market.study.sweeps.plan import plan

    if not (folder / "study.json").exists():
        raise StudyError(
            f"{folder} is no study's; only `market study` leaves units and cells, a run has "
            "episodes and scores"
        )
    parts = gathering.parts(folder)
    if not parts:
        raise StudyError(f"{folder} holds no played episode yet; go on with it by --resume")
    if path.exists() and path.stat().st_mtime_ns >= max(p.stat().st_mtime_ns for p in parts):
        return
    source = folder / "config.json"
    made = amendments(documents.read(folder / "study.json"))
    concluding.tabulate(plan(configure(documents.read(source), str(source)), made), folder)
