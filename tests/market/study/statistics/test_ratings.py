from __future__ import annotations

from collections.abc import Sequence
from math import exp, log

import numpy as np
import pytest
from scipy.optimize import minimize

from market.rng import generator
from market.study.statistics.ratings import Game, Ratings, ratings


def won(block: int, *names: str) -> Game:
    """A game with its players from best to worst."""
    return Game(block, {name: -float(place) for place, name in enumerate(names)})


def strengths(found: Ratings) -> dict[str, float]:
    assert found.undefined is None
    return {name: own.value for name, own in found.players.items() if own.value is not None}


def test_two_players_are_as_far_apart_as_their_odds() -> None:
    # a wins 3 of 4: log 3. The log likelihood is 3 log 3/4 + log 1/4, that of equals 4 log 1/2.
    found = ratings([won(1, "a", "b"), won(2, "a", "b"), won(3, "a", "b"), won(4, "b", "a")])
    assert strengths(found)["a"] == pytest.approx(log(3) / 2, abs=1e-5)
    assert strengths(found)["b"] == pytest.approx(-log(3) / 2, abs=1e-5)
    assert found.pseudo_r2 == pytest.approx(1 - (3 * log(3 / 4) + log(1 / 4)) / (4 * log(1 / 2)))
    assert found.held_out == 3 / 4, "without any one block a is still the better"
    assert found.tied == 0


def test_strengths_are_those_of_the_greatest_likelihood() -> None:
    games = sampled(30, 3, (0.0, 0.5, 1.0, 1.5))
    found = strengths(ratings(games, draws=5))

    def loss(parameters: np.ndarray) -> float:
        total = 0.0
        for game in games:
            order = sorted(game.scores, key=lambda name: -game.scores[name])
            values = [parameters["abcd".index(name)] for name in order]
            for place, value in enumerate(values):
                total -= value - log(sum(exp(other) for other in values[place:]))
        return total

    best = minimize(loss, np.zeros(4)).x
    assert list(found) == list("abcd")
    assert list(found.values()) == pytest.approx(best - best.mean(), abs=1e-3)


def test_intervals_are_of_blocks_and_cover_the_truth() -> None:
    true = (-0.75, -0.25, 0.25, 0.75)
    found = ratings(sampled(40, 5, true))
    for own, strength in zip(found.players.values(), true, strict=True):
        assert own.low is not None
        assert own.high is not None
        assert (own.blocks, own.method) == (8, "percentile bootstrap")
        assert own.low < strength < own.high
    assert found.pseudo_r2 is not None
    assert found.held_out is not None
    assert 0 < found.pseudo_r2 < 1
    assert 0.5 < found.held_out < 1
    assert ratings(sampled(40, 5, true)) == found


def test_repeating_what_a_block_showed_makes_nobody_surer() -> None:
    games = sampled(30, 1, (0.0, 0.5, 1.0))
    once, often = ratings(games), ratings([game for game in games for _ in range(5)])
    for name, own in once.players.items():
        again = often.players[name]
        assert own.low is not None
        assert again.low == pytest.approx(own.low, abs=0.05)
        assert again.value == pytest.approx(own.value, abs=1e-4)


def test_a_design_that_is_not_connected_is_refused_by_name() -> None:
    found = ratings([won(1, "a", "b"), won(2, "b", "a"), won(1, "c", "d"), won(2, "d", "c")])
    assert found.undefined == ("the design is not connected: no game links {a, b} and {c, d}")
    assert (found.players, found.pseudo_r2, found.held_out, found.tied) == ({}, None, None, None)


def test_who_is_always_above_the_others_has_no_finite_strength() -> None:
    found = ratings([won(1, "a", "b", "c"), won(2, "a", "c", "b")])
    assert found.undefined == (
        "some are always above the others, so no distance is finite: apart are {a} and {b, c}"
    )


def test_a_game_of_one_says_nothing() -> None:
    assert ratings([won(1, "a")]).undefined == "no game has two players"
    assert ratings([]).undefined == "no game has two players"
    pair = [won(1, "a", "b"), won(2, "b", "a")]
    assert ratings([*pair, won(3, "z")]).players.keys() == {"a", "b"}


def test_few_blocks_have_strengths_without_intervals_and_one_no_held_out_share() -> None:
    found = ratings([won(1, "a", "b"), won(1, "b", "a"), won(1, "a", "b")])
    assert found.players["a"].value == pytest.approx(log(2) / 2, abs=1e-5)
    assert found.players["a"].undefined == "fewer than 5 blocks"
    assert found.held_out is None


def test_ties_are_put_in_a_drawn_order_and_told() -> None:
    level = [Game(block, {"a": 1.0, "b": 1.0}) for block in range(40)]
    found = ratings(level)
    assert found.tied == 1
    assert found.held_out is None
    assert abs(strengths(found)["a"]) < 0.5
    assert len({strengths(ratings(level, draws=5, seed=seed))["a"] for seed in range(5)}) > 1


def test_an_interval_that_hangs_on_one_block_is_refused() -> None:
    found = ratings([*(won(block, "a", "b") for block in range(5)), won(5, "b", "a")])
    assert found.players["a"].value == pytest.approx(log(5) / 2, abs=1e-5)
    assert found.players["a"].undefined == (
        "some are always above the others in too many resamples of blocks"
    )


def sampled(games: int, per_block: int, true: Sequence[float]) -> list[Game]:
    """Games of the model itself: strengths with Gumbel noise."""
    rng = generator(3, "games")
    names = "abcdefgh"[: len(true)]
    return [
        Game(
            number // per_block,
            {name: own + float(rng.gumbel()) for name, own in zip(names, true, strict=True)},
        )
        for number in range(games)
    ]
