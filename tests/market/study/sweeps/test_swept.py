"""The folder of a study, opened from Python."""

from __future__ import annotations

import json
import os
from pathlib import Path

import fsspec
import pandas as pd
import pyarrow.parquet as pq
import pytest

from market.config import resolved
from market.study import StudyError, load
from market.study.sweeps.plan import Sweep, described
from market.study.sweeps.swept import COLUMNS
from tests.market.study.sweeps.swept import study, written


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Two cells of four seeds; the second cell is worth 10 more to everybody."""
    config = study()
    swept = written(
        tmp_path,
        config,
        lambda cell, seed, seat: {"score": 10.0 * cell + seed, "profit": 10.0 * cell + seed},
        lambda cell, seed, seat: {"market.gini_net_worth": 0.5},
    )
    begin(tmp_path, swept)
    return tmp_path


def begin(folder: Path, swept: Sweep) -> None:
    (folder / "study.json").write_text(json.dumps(described(swept)))
    (folder / "config.json").write_text(json.dumps(resolved(swept.config)))


def test_a_study_has_units_and_cells_made_of_its_parts(folder: Path) -> None:
    run = load(folder)
    assert run.config["name"] == "paper"
    assert len(run.units) == 2 * 4 * (4 + 1)
    assert list(run.units["rules.attention.tau"].unique()) == [1.0, 0.5]
    cells = run.cells.set_index("cell")
    assert cells["primary"].all()
    assert cells.loc[run.cells["cell"][1], "difference_value"] == 10
    assert cells["blocks"].tolist() == [4, 4]


def test_every_column_of_a_study_is_described(folder: Path) -> None:
    run = load(folder)
    about = run.describe().set_index(["table", "column"])
    for frame in ("units", "cells"):
        own = about.loc[frame]
        assert list(own.index) == list(getattr(run, frame).columns)
        assert set(COLUMNS[frame]) - {"undefined"} <= set(own.index)
        assert (own["meaning"] != "").all()
    assert about.loc[("units", "rules.attention.tau"), "unit"] == "of the field"
    assert about.loc[("units", "market.gini_net_worth"), "unit"] == "of the figure"
    assert about.loc[("units", "profit"), "unit"] == "of the metric"


def test_tables_of_a_study_are_made_anew_when_a_part_is_younger(folder: Path) -> None:
    before = len(load(folder).units)
    last = sorted((folder / "parts").iterdir())[-1]
    pq.write_table(pq.read_table(last).slice(0, 0), last)
    later = max(p.stat().st_mtime_ns for p in (folder / "tables").iterdir()) + 10**9
    os.utime(last, ns=(later, later))
    assert len(load(folder).units) < before


def test_what_only_journals_know_is_refused_for_scripts_of_a_study(folder: Path) -> None:
    run = load(folder)
    for ask in (lambda: run.scores, lambda: run.table("offers"), run.findings):
        with pytest.raises(StudyError, match="leave no journal; it has `units` and `cells`"):
            ask()


def test_a_part_that_is_no_parquet_is_named(folder: Path) -> None:
    (folder / "parts" / "part-00000.parquet").write_bytes(b"PAR1 it is not")
    with pytest.raises(StudyError, match=r"part-00000\.parquet cannot be read as Parquet; remove"):
        load(folder).units  # noqa: B018


def test_a_study_of_which_nothing_was_played_says_so(folder: Path) -> None:
    for part in (folder / "parts").iterdir():
        part.unlink()
    with pytest.raises(StudyError, match="no played episode yet; go on"):
        load(folder).cells  # noqa: B018


def test_a_folder_or_url_without_results_is_refused(tmp_path: Path) -> None:
    with pytest.raises(StudyError, match=r"there is no folder .*nowhere"):
        load(tmp_path / "nowhere")
    with pytest.raises(StudyError, match="holds no recorded episode"):
        load(tmp_path)
    with pytest.raises(StudyError, match="memory://nothing-here holds no recorded episode"):
        load("memory://nothing-here")
    with pytest.raises(StudyError, match="cannot be used"):
        load("nonsense://here")


def test_results_at_a_url_are_read_from_a_copy_that_goes_with_the_run(folder: Path) -> None:
    store = fsspec.filesystem("memory")
    store.put(str(folder), "/of-a-study", recursive=True)
    run = load("memory://of-a-study")
    copy = run.folder
    pd.testing.assert_frame_equal(run.units, load(folder).units)
    assert copy != folder
    assert copy.exists()
    del run
    assert not copy.exists()
    store.rm("/of-a-study", recursive=True)
