"""Sections of the page, from hand-made tables and from a recorded run."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from market import registry
from market.study import load
from market.study.frames import Seating
from market.tables import write_tables
from market.vending import pages
from tests.market.vending.recorded import record

EPISODE = {"episode": "e", "seed": 0, "turn": 0}


def frame(*rows: dict[str, Any]) -> pd.DataFrame:
    return pd.DataFrame([{**EPISODE, **row} for row in rows])


def path(section: Any, name: str) -> dict[int, float]:
    """A line of a section's only figure."""
    (spec,) = section.figures
    (line,) = [trace for trace in spec["data"] if trace["name"] == name]
    return dict(zip(line["x"], line["y"], strict=True))


def test_assets_are_means_over_episodes_in_cny() -> None:
    days = frame(
        {"name": "a", "step": 1, "net_assets": 1_000},
        {"name": "a", "step": 1, "net_assets": 3_000, "episode": "f"},
        {"name": "b", "step": 1, "net_assets": -500},
    )
    section = pages.assets(days)
    assert path(section, "a") == {1: 20.0}
    assert path(section, "b") == {1: -5.0}


def test_waste_is_of_all_that_was_received_so_far() -> None:
    days = frame(*({"name": "a", "step": d, "wasted": w} for d, w in ((1, 0), (2, 1), (3, 2))))
    deliveries = frame(*({"name": "a", "step": d, "units": u} for d, u in ((2, 10), (3, 20))))
    assert path(pages.waste(days, deliveries), "a") == {2: 1 / 10, 3: 3 / 30}


def test_visits_are_counted_by_week_and_operator() -> None:
    days = frame(*({"name": n, "seat": s, "step": 15} for n, s in (("a", "a-1"), ("a", "a-2"),
                                                                 ("b", "b"))))  # fmt: skip
    visited = frame(*({"name": "a", "seat": "a-1", "step": day} for day in (1, 7, 8)))
    section = pages.visits(visited, days)
    assert path(section, "a") == {1: 1.0, 2: 0.5}
    assert path(section, "b") == {1: 0.0, 2: 0.0}


def test_days_after_the_last_whole_week_are_no_drop_in_visits() -> None:
    days = frame(*({"name": "a", "seat": "a", "step": day} for day in range(1, 13)))
    visited = frame(*({"name": "a", "seat": "a", "step": day} for day in range(1, 13)))
    assert path(pages.visits(visited, days), "a") == {1: 7.0}
    assert pages.visits(visited[:6], days[:6]) is None


def test_the_axis_of_waste_begins_at_nought() -> None:
    days = frame({"name": "a", "step": 1, "wasted": 0})
    (spec,) = pages.waste(days, frame({"name": "a", "step": 1, "units": 3})).figures
    assert spec["layout"]["yaxis"]["rangemode"] == "tozero"


def seating(**names: str) -> Seating:
    return Seating(None, "all", "all", 0, 1, names, {}, {}, {})


def test_a_page_says_what_its_lines_are_means_of() -> None:
    one, two = seating(a="a"), seating(b_1="b", b_2="b", a="a")
    assert pages.whose([one]) == ""
    assert pages.whose([two]) == "The line of a retailer is the mean of its seats: b has 2."
    assert "mean over the episodes" in pages.whose([one, two])


def test_learning_is_told_where_episodes_are_long_enough() -> None:
    scores = frame(
        {"name": "a", "growth_early": 10.0, "growth_late": 5.0},
        {"name": "a", "growth_early": 10.0, "growth_late": 15.0},
        {"name": "b", "growth_early": None, "growth_late": None},
    )
    section = pages.learning(scores)
    assert section is not None
    assert section.rows == [["a", "10.0", "10.0", "1 of 2"]]
    assert pages.learning(scores[scores["name"] == "b"]) is None


def test_without_rows_there_is_no_section() -> None:
    none = frame({"name": "a", "step": 1, "seat": "a"})[:0]
    assert pages.assets(none) is None
    assert pages.visits(none, none) is None
    assert pages.waste(none, none) is None
    assert pages.machine_map(none, none) is None


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two operators of a small world, recorded."""
    folder = record(tmp_path_factory.mktemp("run"))
    write_tables(folder)
    return folder


def test_a_recorded_run_has_every_section_that_it_is_long_enough_for(run: Path) -> None:
    recorded = load(run)
    found = registry.load(recorded.kind.pages)(recorded, "seed-4")
    assert [section.anchor for section in found] == [
        "net-assets",
        "machines",
        "waste",
        "visits",
        "choices",
    ]
    json.dumps([section.figures for section in found], allow_nan=False)
    assert not any("episodes" in section.lead for section in (found[0], found[3]))
    machines = found[1]
    assert len(machines.rows) == 2 * 3
    assert len(machines.figures) == 2 * 2
    identities = [spec["id"] for section in found for spec in section.figures]
    assert len(set(identities)) == len(identities)


def test_a_retailer_looks_the_same_in_all_figures_and_the_best_comes_first(run: Path) -> None:
    recorded = load(run)
    found = {each.anchor: each for each in pages.sections(recorded, "seed-4")}
    best = recorded.scores.sort_values("score", ascending=False)["name"].tolist()
    for anchor in ("net-assets", "waste", "visits"):
        (spec,) = found[anchor].figures
        assert [entry["text"] for entry in spec["legend"]] == best
        assert [entry["colour"] for entry in spec["legend"]] == ["c1", "c2"]


def test_a_map_says_how_little_and_how_much_its_colours_are() -> None:
    machines = frame(
        *({"machine": "M01", "site_type": "office", "step": step, "sold": sold}
          for step, sold in ((1, 2), (7, 4), (8, 10)))
    )  # fmt: skip
    spec = pages.heat("map", "a", "units sold a day", machines, "sold")
    assert spec["note"] == "units sold a day, 3.0 to 10.0"
