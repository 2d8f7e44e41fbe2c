from __future__ import annotations

import pytest

from market.study.estimands.games import Game
from market.study.estimands.separability import separability


def game(seed: int, **scores: float) -> Game:
    players = {name: name for name in scores}
    return Game(f"e{seed}", None, "all", seed, 1, players, scores)


def test_pairs_are_compared_on_equal_seeds() -> None:
    games = [game(seed, a=10.0 * seed + 5, b=10.0 * seed) for seed in range(1, 7)]
    difference, p = separability(games)
    assert (difference.figure, dict(difference.about)) == (
        "difference",
        {"design": "all", "first": "a", "second": "b"},
    )
    assert difference.estimate.value == 5
    assert difference.estimate.blocks == 6
    assert (p.figure, p.unit) == ("adjusted p", "probability")
    assert p.estimate.value == pytest.approx(2 / 2**6)
    assert p.estimate.undefined == "a p-value has no interval"


def test_those_that_never_met_a_seed_together_are_not_compared() -> None:
    games = [game(1, a=1.0, c=3.0), game(2, b=2.0, c=3.0)]
    lines = {
        (line.about["first"], line.about["second"], line.figure): line
        for line in separability(games)
    }
    assert lines["a", "b", "difference"].estimate.value is None
    assert lines["a", "b", "adjusted p"].estimate.undefined == "no seed has both"


def test_a_market_of_one_kind_or_of_designs_that_do_not_compare_has_no_pairs() -> None:
    alone = Game("e", None, "r", 1, 1, {"a-1": "a", "a-2": "a"}, {"a-1": 1.0, "a-2": 2.0})
    unlike = Game(
        "e", None, "r", 1, 1, {"a": "a", "b": "b"}, {"a": 1.0, "b": 2.0}, design="replacement"
    )
    assert list(separability([alone, unlike])) == []
