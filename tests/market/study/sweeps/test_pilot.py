from __future__ import annotations

import json
from collections.abc import Mapping
from math import sqrt
from pathlib import Path
from statistics import stdev

import pandas as pd
import pytest

from market.config import expand, load, resolved
from market.environment import OUTSIDE
from market.study.report import ReportError
from market.study.sweeps import pilot
from tests.market.study.sweeps.swept import study, written

#: What the second cell earns more, by seed.
GAPS = {1: 1.0, 2: 4.0, 3: 2.0, 4: 9.0}


def figures(cell: int, seed: int, seat: str) -> Mapping[str, float | None]:
    score = 1_000.0 * seed + (GAPS[seed] if cell else 0.0)
    return {"score": score, "profit": score}


def nothing(cell: int, seed: int, seat: str) -> Mapping[str, float | None]:
    return {}


def test_what_counts_is_the_scatter_of_differences_on_equal_seeds(tmp_path: Path) -> None:
    written(tmp_path, study(), figures, nothing)
    found = pilot.of_folder(tmp_path, "profit")
    assert found.deviation == pytest.approx(stdev(GAPS.values()))
    assert (found.seeds, found.paired) == (4, True)


def test_one_cell_alone_is_taken_as_if_seeds_were_not_shared(tmp_path: Path) -> None:
    written(tmp_path, study("study.vary={}"), figures, nothing)
    found = pilot.of_folder(tmp_path, "profit")
    assert found.deviation == pytest.approx(sqrt(2) * stdev(1_000.0 * seed for seed in GAPS))
    assert not found.paired


def test_a_run_of_several_rosters_shows_it_too(tmp_path: Path) -> None:
    config = load(
        "arena/paper",
        [
            "retailers=[{name: a, policy: markup}, {name: b, policy: markup}]",
            "tournament={seeds: 4, rosters: [all, {name: alone, retailers: [a]}]}",
        ],
    )
    (tmp_path / "tables").mkdir()
    (tmp_path / "config.json").write_text(json.dumps(resolved(config)))
    rows = [
        (plan.id, seat, metric, float(scores[metric] or 0))
        for plan in expand(config)
        for retailer in plan.config.retailers
        for seat in retailer.seats
        for metric in ("score", "profit")
        for scores in [figures(int(plan.roster == "alone"), plan.seed, seat)]
    ] + [(plan.id, OUTSIDE, "gini", 0.5) for plan in expand(config)]
    frame = pd.DataFrame(rows, columns=["episode", "seat", "metric", "value"])
    frame.to_parquet(tmp_path / "tables" / "results.parquet")
    found = pilot.of_folder(tmp_path, "profit")
    assert found.deviation == pytest.approx(stdev(GAPS.values()))
    assert (found.seeds, found.paired) == (4, True)
    assert pilot.of_folder(tmp_path, "market.gini").deviation == 0


def test_two_seeds_say_too_little(tmp_path: Path) -> None:
    written(tmp_path, study("study.seeds=2"), figures, nothing)
    with pytest.raises(ReportError, match="fewer than three seeds"):
        pilot.of_folder(tmp_path, "profit")


def test_a_folder_without_results_is_told(tmp_path: Path) -> None:
    with pytest.raises(ReportError, match="holds no results"):
        pilot.of_folder(tmp_path, "profit")
