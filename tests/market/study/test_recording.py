from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pandas as pd
import pytest

import market.study as study
from market.config import ConfigError
from market.environment import Cause
from market.study import StudyError, load
from market.study.frames import COLUMNS, unit
from tests.market.study.purse import pool, tournament

POOL = pool(a=1, b=4)


def recorded(folder: Path, **more: object) -> study.Run:
    return load(tournament(folder, ["all", "self-play"], POOL, seeds=2, **more))


def test_importing_studies_imports_nothing_heavy() -> None:
    code = (
        "import sys, market.study; assert market.study.load\n"
        "heavy = {'pandas', 'scipy', 'pyarrow', 'pydantic', 'plotly', 'ray'}\n"
        "assert not heavy & sys.modules.keys(), heavy & sys.modules.keys()"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def test_episodes_are_told_with_their_plan(tmp_path: Path) -> None:
    frame = recorded(tmp_path).episodes
    assert list(frame.columns) == list(COLUMNS["episodes"])
    rows = {row["episode"]: row for row in frame.to_dict("records")}
    assert len(rows) == (1 + 2) * 2
    one = rows["self-b-x2.seed-1.rep-1"]
    assert (one["roster"], one["seed"], one["repetition"]) == ("self-b-x2", 1, 1)
    assert (one["finished"], one["valid"], one["steps"], one["decisions"]) == (True, True, 1, 2)


def test_what_a_provider_left_unanswered_makes_an_episode_invalid_and_a_crash_does_not(
    tmp_path: Path,
) -> None:
    silent = {
        ("all.seed-0.rep-1", "a"): Cause.UNANSWERED,
        ("all.seed-1.rep-1", "a"): Cause.CRASHED,
    }
    run = recorded(tmp_path, silent=silent, begun=("self-a-x2.seed-0.rep-1",))
    frame = run.episodes.set_index("episode")
    assert frame["valid"]["all.seed-1.rep-1"]
    assert frame["finished"]["all.seed-0.rep-1"]
    assert not frame["valid"]["all.seed-0.rep-1"]
    assert not frame["finished"]["self-a-x2.seed-0.rep-1"]
    assert (len(run.games()), len(run.games(valid=False))) == (4, 5)
    assert frame["no_actions"].tolist().count(1) == 2


def test_scores_are_wide_and_metrics_long_with_the_reason_of_what_is_undefined(
    tmp_path: Path,
) -> None:
    run = recorded(tmp_path)
    scores = run.scores
    assert len(scores) == 2 * 3 * 2
    assert list(scores.columns[-3:]) == ["score", "named", "taste"]
    assert scores["taste"].isna().all()
    own = scores[(scores["roster"] == "all") & (scores["name"] == "b")]
    assert own["named"].tolist() == [4, 4]
    assert own["policy"].str.endswith(":Names").all()
    taste = run.metrics[run.metrics["metric"] == "taste"]
    assert set(taste["undefined"]) == {"nobody asked"}
    pot = run.metrics[(run.metrics["seat"] == "outside") & (run.metrics["roster"] == "all")]
    assert pot["value"].tolist() == [5, 5]
    assert pot["name"].isna().all()


def test_retailers_are_averaged_over_seeds_and_told_best_first(tmp_path: Path) -> None:
    run = load(tournament(tmp_path, ["all"], POOL, seeds=3))
    frame = run.retailers
    assert frame["name"].tolist() == ["b", "a"]
    assert frame["seeds"].tolist() == [3, 3]
    by_hand = run.scores[run.scores["name"] == "b"]["score"].mean()
    assert frame["score"][0] == pytest.approx(by_hand)
    assert frame["low"][0] < frame["score"][0] < frame["high"][0]
    assert frame["named"].tolist() == [4, 1]


def test_neutral_seats_are_told_by_the_retailer_that_plays_them(tmp_path: Path) -> None:
    run = load(tournament(tmp_path, ["latin"], POOL, seeds=1))
    found = run.scores[["roster", "seat", "name", "named"]].to_records(index=False).tolist()
    assert found == [
        ("turn-1-of-2", "seat-1", "a", 1),
        ("turn-1-of-2", "seat-2", "b", 4),
        ("turn-2-of-2", "seat-1", "b", 4),
        ("turn-2-of-2", "seat-2", "a", 1),
    ]


def test_tables_are_made_where_there_are_none_and_again_where_a_journal_is_younger(
    tmp_path: Path,
) -> None:
    run = recorded(tmp_path)
    assert run.tables == ("calls", "decisions", "named", "results")
    table = tmp_path / "tables" / "named.parquet"
    made = table.stat().st_mtime_ns
    assert len(load(tmp_path).table("named")) == 12
    assert table.stat().st_mtime_ns == made
    os.utime(next(tmp_path.glob("episodes/*/journal.jsonl")), ns=(made + 1, made + 10**9))
    assert len(load(tmp_path).table("named")) == 12
    assert table.stat().st_mtime_ns > made


def test_every_column_is_described(tmp_path: Path) -> None:
    run = recorded(tmp_path)
    about = run.describe()
    for frame in ("episodes", "metrics", "scores", "retailers"):
        own = about[about["table"] == frame]
        assert own["column"].tolist() == list(getattr(run, frame).columns)
    assert about["meaning"].str.len().min() > 0
    named = about[(about["table"] == "named") & (about["column"] == "amount")].iloc[0]
    assert (named["type"], named["unit"], named["meaning"]) == ("int", "money", "Money named.")


@pytest.mark.parametrize(
    ("meaning", "expected"),
    [
        ("Money taken from buyers.", "money"),
        ("Units sold.", "units"),
        ("Cosine in units of 1e-6.", "1e-6"),
        ("Price in US dollars.", "USD"),
        ("Tokens read.", "tokens"),
        ("Step of the episode, from 1.", ""),
    ],
)
def test_a_unit_is_told_by_what_the_documentation_says(meaning: str, expected: str) -> None:
    assert unit(int, meaning) == expected


def test_a_folder_without_a_plan_is_read_by_its_headers(tmp_path: Path) -> None:
    recorded(tmp_path)
    (tmp_path / "config.json").unlink()
    run = load(tmp_path)
    assert set(run.scores["name"]) == {"a", "b"}
    assert set(run.episodes["roster"]) == {"all"}


def test_mistakes_are_told_in_a_sentence(tmp_path: Path) -> None:
    with pytest.raises(StudyError, match="holds no recorded episode"):
        load(tmp_path)
    run = recorded(tmp_path)
    with pytest.raises(StudyError, match="no table `sales`; there are calls, decisions"):
        run.table("sales")
    with pytest.raises(StudyError, match="no finished episode has the outcome `fame`"):
        run.games("fame")
    with pytest.raises(StudyError, match="no episode `e9`"):
        run.journal("e9")
    (tmp_path / "config.json").write_text("[]")
    with pytest.raises(ConfigError, match=r"config\.json is no mapping"):
        load(tmp_path)
    (tmp_path / "config.json").write_text(json.dumps({"tournament": {"rosters": ["x"]}}))
    with pytest.raises(StudyError, match="none of this version"):
        load(tmp_path).episodes.empty  # noqa: B018


def test_a_market_outcome_is_one_of_the_game_and_not_of_its_seats(tmp_path: Path) -> None:
    run = recorded(tmp_path)
    assert {game.market for game in run.games("index:pot")} == {5, 2, 8}
    assert all(not game.outcomes for game in run.games("pot"))
    assert isinstance(run.table("results"), pd.DataFrame)
