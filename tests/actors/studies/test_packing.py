from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from actors.progress.audience import ManyEpisodes
from actors.progress.scoreboard import scoreboard
from actors.run import run
from actors.studies.packing import Packer, play, rows_of
from actors.studies.vectors import facts_here
from market.config import Config, load
from market.config.cells import cells
from market.config.loading import configured
from market.environment import OUTSIDE
from market.journal import journal_digest
from market.replay import verify
from market.study.sweeps.plan import plan, plans_of

STUDY = [
    "study.primary=profit",
    "study.vary={rules.attention.tau: [1.0, 0.1]}",
    "study.rosters=[all, {design: leave-one-out, of: retailers}]",
    "study.seeds=2",
    "rules.steps=2",
    "inline=true",
]


def study(*overrides: str) -> Config:
    return load("arena/default", [*STUDY, *overrides])


@pytest.fixture(scope="module")
def ordinary(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The second cell of the study, played as the tournament that it is."""
    folder = tmp_path_factory.mktemp("runs") / "cell"
    config = study("study.rosters=[all]")
    assert config.study is not None
    tournament = configured(config, cells(config.study)[1])
    with scoreboard(2, io.StringIO()) as board:
        run(tournament, folder, ManyEpisodes(board))
    return folder


def test_a_packed_unit_is_the_episode_that_a_run_plays(ordinary: Path) -> None:
    config = study("study.rosters=[all]")
    packer = Packer(config, facts_here)
    results = pd.read_parquet(ordinary / "tables" / "results.parquet")
    units = [unit for shard in plan(config).shards for unit in shard.units if unit.cell == 1]
    assert len(units) == 2
    for unit in units:
        told: dict[tuple[str, str], float | None] = {}
        for row in packer.rows(unit):
            for name, value in row.items():
                if name == "score" or name in METRICS or name.startswith("market."):
                    told[row["seat"], name.removeprefix("market.")] = value
        told.pop((OUTSIDE, "score"))
        own = results[results["episode"] == unit.episode]
        recorded = {
            (seat, metric): None if value != value else value
            for seat, metric, value in zip(own["seat"], own["metric"], own["value"], strict=True)
        }
        assert told == recorded


METRICS = frozenset(
    {
        "profit", "net_profit_margin", "risk_adjusted_return", "inventory_efficiency",
        "stockout_rate", "fill_rate", "bid_efficiency", "bid_efficiency_by_value",
        "order_stability", "mean_match",
    }
)  # fmt: skip


def test_its_journal_is_that_of_the_run_byte_by_byte(ordinary: Path, tmp_path: Path) -> None:
    config = study("study.rosters=[all]")
    assert config.study is not None
    for number, episode in enumerate(plans_of(config, cells(config.study)[1]).values()):
        path = tmp_path / f"{number}.jsonl"
        play(episode, facts_here(episode.config.encoder.model), journal=path)
        verify(path)
        other = ordinary / "episodes" / episode.id / "journal.jsonl"
        assert journal_digest(path) == journal_digest(other)


def test_a_shard_is_one_table_with_a_row_per_seat_and_one_for_the_whole() -> None:
    config = study()
    packed = Packer(config, facts_here).play(plan(config).shards[0])
    frame = packed.table.to_pandas()
    units = plan(config).shards[0].units
    assert packed.units == len(units)
    assert len(frame) == sum(unit.seats + 1 for unit in units)
    assert (frame["seat"] == OUTSIDE).sum() == len(units)
    assert frame.loc[frame["seat"] != OUTSIDE, "market.gini_net_worth"].isna().all()
    assert packed.memory > 0
    without = frame[frame["roster"] == "without-adaptive"]
    assert "adaptive" not in set(without["retailer"])


def test_a_policy_that_raises_costs_its_own_turn_as_in_a_run() -> None:
    raises = "{name: raises, policy: 'tests.actors.own_policies:Raises'}"
    config = study(f"retailers=[{raises}, {{name: markup, policy: markup}}]", "study.rosters=[all]")
    assert config.study is not None
    episode = next(iter(plans_of(config, cells(config.study)[0]).values()))
    result = play(episode, facts_here(config.encoder.model))
    assert result.seats["raises"].score == 0
    assert result.seats["markup"].score > 0


def test_a_key_of_any_name_stays_out_of_what_is_told_of_a_bug(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("MINE", "nobody-knows-0001")
    asks = "{name: a, policy: llm, options: {model: openai/any, api_key_env: MINE}}"
    config = study("study.rosters=[all]", f"retailers=[{asks}]")

    def facts(model: str) -> Any:
        raise RuntimeError("a bug with nobody-knows-0001")

    packed = Packer(config, facts).play(plan(config).shards[0])
    assert packed.failures
    assert all("a bug with ***" in told for told in packed.failures.values())


def test_a_unit_that_fails_by_a_bug_costs_no_other() -> None:
    config = study("study.rosters=[all]")
    shard = plan(config).shards[0]
    seen: list[int] = []

    def facts(model: str) -> Any:
        answer = facts_here(model)

        def sometimes(decision: Any) -> Any:
            seen.append(1)
            if len(seen) == 1:
                raise RuntimeError("a bug")
            return answer(decision)

        return sometimes

    shard = type(shard)(0, tuple(unit for each in plan(config).shards for unit in each.units))
    packed = Packer(config, facts).play(shard)
    assert packed.units == len(shard.units) - 1
    (name,) = packed.failures
    assert name.endswith("seed-1.rep-1")
    assert "a bug" in packed.failures[name]
    assert name not in set(packed.table.to_pandas()["unit"])


def test_reasons_for_undefined_figures_are_kept() -> None:
    idle = "retailers=[{name: idle, policy: idle}, {name: markup, policy: markup}]"
    config = study(idle, "study.rosters=[all]")
    assert config.study is not None
    episode = next(iter(plans_of(config, cells(config.study)[0]).values()))
    result = play(episode, facts_here(config.encoder.model))
    rows = {row["seat"]: row for row in rows_of("u", "c", episode, result, {})}
    assert rows["idle"]["fill_rate"] is None
    assert '"fill_rate":' in rows["idle"]["undefined"]
