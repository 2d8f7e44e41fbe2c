from __future__ import annotations

from pathlib import Path

import pytest

from market.study import load
from market.study.estimands.finding import Finding
from market.study.estimands.frontier import costs, frontier, gains, pareto, shares
from market.study.estimands.games import Game
from market.study.yardsticks import Yardsticks
from tests.market.study.purse import paid, pool, tournament


def game(seed: int, **scores: float) -> Game:
    return Game(f"e{seed}", None, "r", seed, 1, {seat: seat for seat in scores}, scores)


def lines(found: list[Finding], figure: str) -> dict[str, Finding]:
    return {str(line.about["retailer"]): line for line in found if line.figure == figure}


def test_costs_are_summed_and_unknown_where_a_part_is_or_a_call_was_lost(tmp_path: Path) -> None:
    tournament(tmp_path, ["all"], pool(a=1, b=2, c=3), seeds=2)
    paid(tmp_path, "all.seed-0.rep-1", "a", 0.25, 0.5)
    paid(tmp_path, "all.seed-0.rep-1", "b", 0.25, None)
    paid(tmp_path, "all.seed-1.rep-1", "a", 0.25, lost=True)
    assert costs(load(tmp_path)) == {
        ("all.seed-0.rep-1", "a"): 0.75,
        ("all.seed-0.rep-1", "b"): None,
        ("all.seed-1.rep-1", "a"): None,
    }


def test_score_per_dollar_is_the_ratio_of_means(tmp_path: Path) -> None:
    games = [game(1, a=10, b=4), game(2, a=20, b=4)]
    spent = {("e1", "a"): 1.0, ("e2", "a"): 4.0}
    found = list(frontier(games, spent))
    assert lines(found, "cost")["a"].estimate.value == 2.5
    assert lines(found, "score per dollar")["a"].estimate.value == pytest.approx(15 / 2.5)
    free = lines(found, "score per dollar")["b"].estimate
    assert (free.value, free.undefined) == (None, "it cost nothing")
    assert lines(found, "cost")["b"].estimate.value == 0


def test_who_has_a_call_of_unknown_cost_is_on_no_frontier_and_rules_nobody_out() -> None:
    games = [game(1, a=10, b=99)]
    found = list(frontier(games, {("e1", "a"): 1.0, ("e1", "b"): None}))
    unknown = lines(found, "cost")["b"].estimate
    assert (unknown.value, unknown.undefined) == (None, "the cost of some of its calls is unknown")
    on = lines(found, "on the frontier")
    assert (on["a"].estimate.value, on["b"].estimate.value) == (1, None)


def test_the_frontier_are_those_whom_nobody_beats_in_both() -> None:
    points = {"free": (0.0, 5.0), "dear": (3.0, 9.0), "worse": (3.0, 8.0), "waste": (4.0, 9.0)}
    assert pareto(points) == {"free", "dear"}
    assert pareto({"a": (1.0, 2.0), "b": (1.0, 2.0)}) == {"a", "b"}
    assert pareto({}) == set()


def test_a_share_is_of_the_room_between_floor_and_bound() -> None:
    games = [game(1, a=10, b=0), game(2, a=40, b=0)]
    held = {
        "e1": Yardsticks(-10, {"a": 30}, "it never bid"),
        "e2": Yardsticks(-10, {"a": 90}, "it never bid"),
    }
    found = lines(list(shares(games, held)), "share of bound minus floor")
    assert found["a"].estimate.value == pytest.approx((20 + 50) / (40 + 100))
    assert (found["b"].estimate.value, found["b"].estimate.undefined) == (None, "it never bid")


def test_without_room_there_is_no_share() -> None:
    held = {"e1": Yardsticks(0, {"a": 0}, "")}
    found = lines(list(shares([game(1, a=0)], held)), "share of bound minus floor")
    assert found["a"].estimate.undefined == "the denominator is zero"


def test_an_environment_that_names_no_bound_has_no_share() -> None:
    found = lines(list(shares([game(1, a=0)], {})), "share of bound minus floor")
    assert found["a"].estimate.undefined == "the environment names no bound"


def test_gains_per_dollar_are_told_beside_scores() -> None:
    games = [game(1, a=10, b=4), game(2, a=20, b=4)]
    spent = {("e1", "a"): 1.0, ("e2", "a"): 4.0, ("e1", "b"): None}
    found = lines(list(gains(games, spent, "asset_growth")), "asset_growth per dollar")
    assert found["a"].estimate.value == pytest.approx(15 / 2.5)
    assert found["a"].unit == "asset_growth per USD"
    assert found["b"].estimate.undefined == "the cost of some of its calls is unknown"
