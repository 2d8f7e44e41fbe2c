from __future__ import annotations

from math import log

import pytest

from market.study.estimands.games import Game
from market.study.estimands.strengths import strengths


def game(number: int, design: str = "subsets", **scores: float) -> Game:
    """A game of its own seed and company."""
    players = {name: name for name in scores}
    return Game(f"e{number}", None, "-".join(scores), number, 1, players, scores, design=design)


def test_three_wins_of_four_are_a_strength_of_log_three() -> None:
    # Between two players the likeliest chance of a win is the share won: 3/4 = 1/(1 + exp(-d)).
    games = [game(n, a=2.0, b=1.0) for n in (1, 2, 3)] + [game(4, a=1.0, b=2.0)]
    games += [game(5, a=1.0, b=2.0, c=1.5), game(6, c=2.0, a=1.0, b=0.5)]
    games += [game(7, a=3.0, c=1.0)]
    lines = {(line.figure, line.about.get("retailer")): line.estimate for line in strengths(games)}
    assert set(lines) == {
        *(("strength", name) for name in "abc"),
        *((fit, None) for fit in ("pseudo R2", "held out", "tied")),
    }
    values = [lines["strength", name].value for name in "abc"]
    assert sum(value for value in values if value is not None) == pytest.approx(0)
    two = [game(n, a=2.0, b=1.0) for n in (1, 2, 3)] + [game(4, a=1.0, b=2.0)]
    twice = [Game(g.episode, None, g.roster, g.seed, 1, g.players, g.outcomes) for g in two]
    doubled = Game("e9", None, "more", 9, 1, {"a-1": "a", "a-2": "a", "b": "b"}, {"a-1": 1.0})
    found = {
        line.about.get("retailer"): line.estimate.value
        for line in strengths([*twice, doubled])
        if line.figure == "strength"
    }
    assert found["a"] is not None
    assert found["b"] is not None
    assert found["a"] - found["b"] == pytest.approx(log(3), abs=1e-6)


def test_one_company_has_no_strengths() -> None:
    assert not list(strengths([game(n, "all", a=1.0, b=float(n)) for n in range(4)]))


def test_who_always_wins_has_no_finite_strength_and_the_reason_names_it() -> None:
    games = [game(1, a=2.0, b=1.0), game(2, a=2.0, c=1.0), game(3, b=1.0, c=2.0)]
    lines = list(strengths(games))
    assert all(line.estimate.value is None for line in lines)
    assert all("a" in (line.estimate.undefined or "") for line in lines)
