from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pandas as pd
import pytest

from market.config import load as load_config
from market.study import load
from market.study.estimands.dynamics import associations, indices, welfare
from market.study.estimands.finding import Finding
from market.study.estimands.frontier import references, shares, yardsticks
from market.study.estimands.pass_through import pass_through
from tests.market.study.purse import pool, tournament


def run_of(rows: list[tuple[str, int, int, str, float | None]], scores: Any = None) -> Any:
    """A recording of hand-made indices: (episode, seed, step, index, value)."""
    table = pd.DataFrame(rows, columns=["episode", "seed", "step", "index", "value"])
    table["item"] = ""
    about = table[["episode"]].drop_duplicates().assign(preset=None, design="all")
    return SimpleNamespace(
        tables=("indices",), table=lambda *_: table, episodes=about, scores=scores
    )


def test_an_index_is_averaged_within_seeds_first() -> None:
    rows = [("a", 1, 1, "gini", 0.1), ("b", 1, 1, "gini", 0.3), ("c", 2, 1, "gini", 0.6)]
    (line,) = indices(run_of(rows), ["a", "b", "c"])
    assert line.about == {"design": "all", "index": "gini", "step": 1}
    assert line.estimate.value == pytest.approx((0.2 + 0.6) / 2)
    assert line.estimate.blocks == 2


def test_an_undefined_index_is_left_out_and_counted() -> None:
    rows = [("a", 1, 1, "hhi", None), ("b", 1, 1, "hhi", 0.5), ("a", 1, 2, "hhi", None)]
    first, second = indices(run_of(rows), ["a", "b"])
    assert first.estimate.value == 0.5
    assert "left out, in 1 of 2 episodes" in first.sentence
    assert (second.estimate.value, second.estimate.undefined) == (None, "in no episode defined")


def test_episodes_that_do_not_count_are_not_in_an_index() -> None:
    rows = [("a", 1, 1, "gini", 0.1), ("b", 2, 1, "gini", 0.9)]
    (line,) = indices(run_of(rows), ["a"])
    assert line.estimate.value == pytest.approx(0.1)


def test_welfare_is_summed_over_steps_and_its_accounts_add_up() -> None:
    names = ("consumer_surplus", "retailer_surplus", "supplier_surplus")
    values = {1: (10, 4, 1), 2: (20, -2, 3)}
    rows = [
        ("a", 1, step, name, float(value))
        for step, figures in values.items()
        for name, value in zip(names, figures, strict=True)
    ]
    found = {line.figure: line.estimate.value for line in welfare(run_of(rows), ["a"])}
    assert found == {
        "consumer_surplus": 30,
        "retailer_surplus": 2,
        "supplier_surplus": 4,
        "total_surplus": 36,
    }


def test_without_limits_of_buyers_neither_they_nor_all_together_have_a_surplus() -> None:
    rows = [("a", 1, 1, "consumer_surplus", None), ("a", 1, 1, "retailer_surplus", 5.0)]
    rows += [("a", 1, 1, "supplier_surplus", 2.0)]
    found = {line.figure: line.estimate for line in welfare(run_of(rows), ["a"])}
    assert found["retailer_surplus"].value == 5
    for name in ("consumer_surplus", "total_surplus"):
        assert found[name].value is None
        assert found[name].undefined == "in no episode defined in all steps"


def test_within_and_between_are_kept_apart() -> None:
    # In each market who fills more earns less; those who fill more on average earn more.
    rows = [
        ("a", 1, "x", 1.0, 30.0), ("a", 1, "y", 2.0, 20.0), ("a", 1, "z", 3.0, 10.0),
        ("b", 2, "u", 11.0, 130.0), ("b", 2, "v", 12.0, 120.0), ("b", 2, "w", 13.0, 110.0),
    ]  # fmt: skip
    scores = pd.DataFrame(rows, columns=["episode", "seed", "name", "fill", "score"])
    scores = scores.assign(preset=None, design="all")
    scores = scores[["episode", "preset", "design", "seed", "name", "score", "fill"]]
    found = {line.figure: line for line in associations(run_of([], scores), ["a", "b"])}
    assert found["within episodes"].estimate.value == -1
    # Ranks of fill 1 to 6 against those of the score, 3 2 1 6 5 4: 1 - 6 * 16 / 210.
    assert found["between retailers"].estimate.value == pytest.approx(1 - 6 * 16 / 210)


@pytest.fixture(scope="module")
def arena(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """A small tournament of the arena in which costs change and words mean nothing."""
    overrides = ["rules.attention.similarity=none", "rules.steps=3"]
    rules = load_config("arena/default", overrides).rules
    retailers = [
        {"name": "markup", "policy": "markup", "count": 2},
        {"name": "zi", "policy": "zi-constrained"},
        {"name": "idle", "policy": "idle"},
    ]
    folder = tmp_path_factory.mktemp("arena")
    return load(tournament(folder, ["all"], retailers, seeds=3, environment="arena", rules=rules))


def test_every_index_of_the_arena_is_there_at_every_step(arena: Any) -> None:
    found = list(indices(arena, arena.episodes["episode"]))
    names = {line.figure for line in found}
    assert {"gini_net_worth", "hhi_revenue", "cr4_net_worth", "bluff", "net_margin"} <= names
    assert len(found) == 3 * len(names)
    mobility = [line for line in found if line.figure == "rank_mobility_profit"]
    assert mobility[0].estimate.value is None
    assert mobility[1].estimate.value is not None


def test_surpluses_of_the_arena_are_those_of_its_books(arena: Any) -> None:
    found = {line.figure: line for line in welfare(arena, arena.episodes["episode"])}
    profits = arena.table("standings").groupby("seed")["profit"].sum()
    assert found["retailer_surplus"].estimate.value == pytest.approx(profits.mean())


def test_a_retailer_without_prices_has_no_pass_through(arena: Any) -> None:
    lines = list(pass_through(arena, arena.episodes["episode"]))
    names = {str(line.about["retailer"]): line.estimate for line in lines}
    assert names.keys() == {"*", "markup", "zi"}
    assert names["*"].value is not None


def test_no_score_of_the_arena_passes_its_bound_and_idle_is_the_floor(arena: Any) -> None:
    games = arena.games()
    held = yardsticks(arena, games)
    for game in games:
        stick = held[game.episode]
        assert stick.floor == 0 == game.outcomes["idle"]
        assert all(game.outcomes[seat] <= bound for seat, bound in stick.bounds.items())
    found: dict[str, Finding] = {str(x.about["retailer"]): x for x in shares(games, held)}
    assert 0 < found["markup"].estimate.value < 1  # type: ignore[operator]
    assert found["idle"].estimate.undefined == "it never bid"
    named = {line.figure: line.estimate.value for line in references(arena, games)}
    assert named["competitive"] < named["cartel"] < named["industry_bound"]  # type: ignore[operator]


def test_every_number_of_the_arenas_tables_has_a_unit(arena: Any) -> None:
    about = arena.describe()
    keys = {"seed", "step", "turn", "round"}
    tables = set(arena.tables) - {"decisions", "results", "calls"}
    numbers = about[about["table"].isin(tables) & about["type"].isin(["int", "float"])]
    units = numbers[~numbers["column"].isin(keys)].set_index(["table", "column"])["unit"]
    assert units[units == ""].index.tolist() == [("indices", "value")]
    assert units["standings", "attempts"] == units["standings", "failed"] == "attempts"
    assert set(units) - {""} == {"money", "units", "buyers", "attempts", "1e-6"}


def test_an_environment_without_indices_or_prices_has_no_such_lines(tmp_path: Path) -> None:
    run = load(tournament(tmp_path, ["all"], pool(a=1, b=2), seeds=1))
    episodes = run.episodes["episode"]
    assert not list(indices(run, episodes)) + list(welfare(run, episodes))
    assert not list(pass_through(run, episodes))
