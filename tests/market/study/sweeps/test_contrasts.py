from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pandas as pd
import pytest

from market.config import Config
from market.study.sweeps import gathering
from market.study.sweeps.contrasts import Told, tell, write_cells
from tests.market.study.sweeps.swept import study, written

TALENT = {"a": 4.0, "b": 3.0, "c-1": 2.0, "c-2": 1.0}


def figures(cell: int, seed: int, seat: str) -> Mapping[str, float | None]:
    """The second cell turns the ranking round and adds 10, and a seed adds itself to all."""
    talent = TALENT[seat] if cell == 0 else 5 - TALENT[seat] + 10
    score = talent + seed
    fill = None if seat == "c-2" else talent * (1 if cell == 0 else -1)
    return {"score": score, "profit": score, "fill_rate": fill}


def totals(cell: int, seed: int, seat: str) -> Mapping[str, float | None]:
    return {
        "market.gini": seed / 10 if cell == 0 else None,
        "reference.competitive": 0.0,
        "reference.cartel": 20.0 if cell == 0 else 0.0,
    }


def told(folder: Path, config: Config) -> dict[tuple[str, str], Told]:
    sweep = written(folder, config, figures, totals)
    assert config.study is not None
    found = tell(sweep, gathering.gather(folder, config.study.told))
    return {(line.outcome, line.cell): line for line in found}


def test_an_outcome_is_the_mean_over_seats_and_its_interval_is_over_seeds(tmp_path: Path) -> None:
    line = told(tmp_path, study())["profit", "tau-1.0"]
    # Per seed 2.5 + seed, for seeds 1 to 4; Student's t of 3 degrees is 3.182.
    assert line.estimate.value == pytest.approx(5.0)
    half = 3.182446 * 1.2909944 / 2
    assert line.estimate.low == pytest.approx(5.0 - half, rel=1e-5)
    assert line.estimate.high == pytest.approx(5.0 + half, rel=1e-5)
    assert (line.estimate.blocks, line.primary, line.difference) == (4, True, None)


def test_differences_are_taken_seed_by_seed(tmp_path: Path) -> None:
    difference = told(tmp_path, study())["profit", "tau-0.5"].difference
    assert difference is not None
    # On every seed the second cell earns 10 more: nothing is random about it.
    assert (difference.value, difference.low, difference.high) == (10, 10, 10)


def test_one_retailer_is_the_mean_over_its_own_seats(tmp_path: Path) -> None:
    found = told(tmp_path, study("study.outcomes=[c.profit, a.profit]"))
    assert found["c.profit", "tau-1.0"].estimate.value == pytest.approx(1.5 + 2.5)
    assert found["a.profit", "tau-1.0"].estimate.value == pytest.approx(4.0 + 2.5)
    assert not found["a.profit", "tau-1.0"].primary


def test_a_figure_of_the_market_may_be_undefined_and_says_why(tmp_path: Path) -> None:
    found = told(tmp_path, study("study.outcomes=[market.gini]"))
    assert found["market.gini", "tau-1.0"].estimate.value == pytest.approx(0.25)
    other = found["market.gini", "tau-0.5"]
    assert other.estimate.value is None
    assert other.estimate.undefined == "undefined in every episode"
    assert other.difference is not None
    assert other.difference.undefined == "no seed has both cells"


def test_ranks_agree_with_themselves_and_not_with_their_reverse(tmp_path: Path) -> None:
    found = told(tmp_path, study("study.outcomes=[rank_agreement]"))
    assert found["rank_agreement", "tau-1.0"].estimate.value == pytest.approx(1.0)
    # a 4, b 3, c 1.5 against a 1, b 2, c 3.5.
    assert found["rank_agreement", "tau-0.5"].estimate.value == pytest.approx(-1.0)


def test_collusion_is_counted_per_episode_and_undefined_without_a_cartel(tmp_path: Path) -> None:
    found = told(tmp_path, study("study.outcomes=[collusion_index]"))
    assert found["collusion_index", "tau-1.0"].estimate.value == pytest.approx(5.0 / 20)
    assert found["collusion_index", "tau-0.5"].estimate.value is None


def test_figures_of_a_cell_are_over_the_means_of_its_seats(tmp_path: Path) -> None:
    asked = "study.outcomes=[correlation.fill_rate, best.fill_rate, best.profit]"
    found = told(tmp_path, study(asked))
    correlation = found["correlation.fill_rate", "tau-1.0"].estimate
    assert correlation.value == pytest.approx(1.0)
    assert correlation.blocks == 3  # the fourth seat has none
    assert found["correlation.fill_rate", "tau-0.5"].estimate.value == pytest.approx(-1.0)
    assert found["best.fill_rate", "tau-1.0"].estimate.value == pytest.approx(4.0)
    assert found["best.profit", "tau-1.0"].estimate.value == pytest.approx(4.0 + 2.5)


def test_repetitions_of_a_seed_are_no_further_blocks(tmp_path: Path) -> None:
    found = told(tmp_path, study("study.repetitions=3"))
    assert found["profit", "tau-1.0"].estimate.blocks == 4


def test_tables_hold_settings_seats_and_estimates(tmp_path: Path) -> None:
    config = study("study.outcomes=[market.gini]")
    sweep = written(tmp_path, config, figures, totals)
    gathering.write_units(sweep, tmp_path)
    assert config.study is not None
    write_cells(sweep, tell(sweep, gathering.gather(tmp_path, config.study.told)), tmp_path)
    units = pd.read_parquet(tmp_path / "tables" / "units.parquet")
    assert len(units) == 2 * 4 * (4 + 1)
    assert set(units["rules.attention.tau"]) == {1.0, 0.5}
    assert units.loc[units["seat"] == "b", "score"].notna().all()
    cells = pd.read_parquet(tmp_path / "tables" / "cells.parquet")
    assert list(cells["outcome"]) == ["profit", "profit", "market.gini", "market.gini"]
    assert list(cells["primary"]) == [True, True, False, False]
    assert cells["undefined"][3] == "undefined in every episode"
