from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from market.study import load
from market.study.estimands.effects import (
    CONDITIONAL,
    invasion,
    presence,
    replacement,
    self_play,
    standings,
)
from market.study.estimands.finding import Finding
from market.study.estimands.games import Game
from tests.market.study.purse import pool, tournament


def game(
    seed: int, players: dict[str, str], outcomes: dict[str, float], market: float | None = None
) -> Game:
    return Game(f"{sorted(players.items())}.{seed}", None, "r", seed, 1, players, outcomes, market)


def only(lines: list[Finding], figure: str, **about: str | int) -> Finding:
    (line,) = [
        each
        for each in lines
        if each.figure == figure and {**each.about, **about} == dict(each.about)
    ]
    return line


# Two seeds, seat `x` played by m and by r beside one rival in `y`.
TABLE = [
    game(1, {"x": "r", "y": "b"}, {"x": 10, "y": 7}),
    game(1, {"x": "m", "y": "b"}, {"x": 14, "y": 6}),
    game(2, {"x": "r", "y": "b"}, {"x": 20, "y": 9}),
    game(2, {"x": "m", "y": "b"}, {"x": 30, "y": 2}),
]


def test_a_replacement_effect_is_the_mean_over_seeds_of_paired_differences() -> None:
    lines = list(replacement(TABLE, "r"))
    effect = only(lines, "replacement effect", retailer="m").estimate
    # Differences 4 and 10: mean 7, standard error 3, and t(1) at 97.5% is 12.7062.
    assert effect.value == pytest.approx(7)
    assert effect.low == pytest.approx(7 - 3 * 12.7062, abs=1e-3)
    assert effect.high == pytest.approx(7 + 3 * 12.7062, abs=1e-3)
    assert effect.blocks == 2


def test_the_externality_is_the_mean_change_of_the_others() -> None:
    rest = only(list(replacement(TABLE, "r")), "externality of replacement", retailer="m").estimate
    assert rest.value == pytest.approx((-1 - 7) / 2)


def test_who_never_took_the_references_place_has_no_effect_but_a_reason() -> None:
    effect = only(list(replacement(TABLE, "r")), "replacement effect", retailer="b").estimate
    assert effect.value is None
    assert effect.undefined == "no seat was played by both b and r with all else equal"


def test_games_of_other_seeds_seats_or_rivals_are_no_pairs() -> None:
    games = [
        game(1, {"x": "r", "y": "b"}, {"x": 1, "y": 1}),
        game(2, {"x": "m", "y": "b"}, {"x": 1, "y": 1}),
        game(1, {"z": "m", "y": "b"}, {"z": 1, "y": 1}),
        game(1, {"x": "m", "y": "c"}, {"x": 1, "y": 1}),
    ]
    assert (
        only(list(replacement(games, "r")), "replacement effect", retailer="m").estimate.value
        is None
    )


def test_a_single_seed_has_an_effect_without_an_interval() -> None:
    effect = only(list(replacement(TABLE[:2], "r")), "replacement effect", retailer="m").estimate
    assert (effect.value, effect.low) == (4, None)
    assert effect.undefined


def test_an_undefined_outcome_of_a_seat_is_left_out_and_not_taken_for_zero() -> None:
    games = [*TABLE[:2], game(2, {"x": "r", "y": "b"}, {"y": 9}), TABLE[3]]
    lines = list(replacement(games, "r"))
    assert only(lines, "replacement effect", retailer="m").estimate.value == 4
    assert only(lines, "externality of replacement", retailer="m").estimate.value == (-1 - 7) / 2


def test_for_an_outcome_of_the_market_there_is_the_markets_change() -> None:
    games = [
        game(1, {"x": "r", "y": "b"}, {}, 0.4),
        game(1, {"x": "m", "y": "b"}, {}, 0.1),
    ]
    (line,) = [each for each in replacement(games, "r") if each.estimate.value is not None]
    assert (line.figure, line.estimate.value) == ("effect on the market", pytest.approx(-0.3))


def test_presence_is_what_the_others_get_more_with_a_seat_than_without() -> None:
    games = [
        game(1, {"x": "m", "y": "b", "z": "c"}, {"x": 9, "y": 5, "z": 6}),
        game(1, {"y": "b", "z": "c"}, {"y": 8, "z": 7}),
    ]
    (line,) = presence(games)
    assert line.about == {"retailer": "m"}
    assert line.estimate.value == (-3 - 1) / 2


def test_self_play_is_the_mean_seat_of_a_market_of_one_kind() -> None:
    games = [
        game(1, {"m-1": "m", "m-2": "m"}, {"m-1": 2, "m-2": 4}),
        game(2, {"m-1": "m", "m-2": "m"}, {"m-1": 6, "m-2": 8}),
        game(1, {"m-1": "m", "b": "b"}, {"m-1": 100, "b": 100}),
    ]
    (line,) = self_play(games)
    assert line.about == {"retailer": "m", "seats": 2}
    assert line.estimate.value == 5


def test_one_seller_alone_plays_against_nobody_and_is_no_self_play() -> None:
    assert list(self_play([game(1, {"m": "m"}, {"m": 2})])) == []


MANY = [
    game(1, {"b-1": "b", "b-2": "b", "b-3": "b"}, {"b-1": 6, "b-2": 3, "b-3": 3}),
    game(1, {"m": "m", "b-2": "b", "b-3": "b"}, {"m": 9, "b-2": 2, "b-3": 1}),
    game(1, {"b": "b", "m-2": "m", "m-3": "m"}, {"b": 5, "m-2": 4, "m-3": 6}),
]


def test_the_invasion_matrix_has_both_ways() -> None:
    lines = list(invasion(MANY))
    into_b = {line.figure: line.estimate.value for line in lines if line.about["entrant"] == "m"}
    # Among copies of b a seat gets 4; the entrant gets 9 and the two residents 2 and 1, less
    # 3 and 3 among themselves.
    assert into_b == {"entrant": 9, "residents": 1.5, "advantage": 7.5, "gain": 5, "loss": 1.5}
    into_m = {line.figure: line.estimate.value for line in lines if line.about["entrant"] == "b"}
    assert into_m == {"entrant": 5, "residents": 5, "advantage": 0, "gain": None, "loss": None}


def test_two_of_two_kinds_are_no_invasion_unless_the_design_says_so() -> None:
    duel = game(1, {"x": "m", "y": "b"}, {"x": 1, "y": 2})
    assert not list(invasion([duel]))
    lines = list(invasion([replace(duel, design="one-among-many")]))
    assert {(line.about["entrant"], line.about["host"]) for line in lines} == {
        ("m", "b"),
        ("b", "m"),
    }


def test_a_gain_without_self_play_says_what_is_missing() -> None:
    gain = only(list(invasion(MANY)), "gain", entrant="b", host="m").estimate
    assert gain.undefined == "no game of 3 copies of m on the same seed"


def test_one_market_of_all_together_gives_a_rank_in_this_company_only() -> None:
    games = [
        game(seed, {"x": "m", "y": "b", "z": "c"}, {"x": 30 + seed, "y": 20, "z": 10 - seed})
        for seed in range(8)
    ]
    lines = list(standings(games))
    assert {line.sentence for line in lines} == {CONDITIONAL}
    rank = only(lines, "rank", retailer="b")
    assert (rank.estimate.value, rank.estimate.low, rank.estimate.high) == (2, 2, 2)


def test_equal_retailers_may_have_any_rank() -> None:
    games = [game(seed, {"x": "m", "y": "b"}, {"x": 5, "y": 5}) for seed in range(6)]
    ranks = [line.estimate for line in standings(games) if line.figure == "rank"]
    assert [(rank.value, rank.low, rank.high) for rank in ranks] == [(1, 1, 2), (1, 1, 2)]


def test_each_design_ranks_by_itself_and_those_that_treat_retailers_unlike_rank_nobody() -> None:
    both = game(1, {"x": "m", "y": "b"}, {"x": 5, "y": 3})
    three = game(1, {"x": "m", "y": "b", "z": "c"}, {"x": 1, "y": 3, "z": 2})
    games = [
        replace(both, design="subsets"),
        replace(three, design="subsets"),
        replace(both, design="latin"),
        replace(both, design="replacement"),
        replace(both, design="one-among-many"),
    ]
    found = {
        (str(line.about["design"]), str(line.about["retailer"])): line
        for line in standings(games)
        if line.figure == "mean"
    }
    assert {design for design, _ in found} == {"subsets", "latin"}
    assert found["subsets", "m"].estimate.value == 3
    assert "2 companies" in found["subsets", "m"].sentence
    assert found["latin", "m"].sentence == CONDITIONAL


def test_of_one_seed_there_are_means_but_no_ranks() -> None:
    lines = list(standings([game(1, {"x": "m", "y": "b"}, {"x": 5, "y": 3})]))
    assert only(lines, "mean", retailer="m").estimate.value == 5
    assert "two seeds" in str(only(lines, "rank", retailer="m").estimate.undefined)


def test_what_was_planted_is_found_in_a_recorded_tournament(tmp_path: Path) -> None:
    design = {"design": "replacement", "reference": "ref", "size": 4, "count": 4, "among": ["bg"]}
    retailers = [*pool(ref=2, strong=7, weak=1), {**pool(bg=3)[0], "count": 5}]
    run = load(tournament(tmp_path, [design], retailers, seeds=3))
    lines = list(replacement(run.games(), "ref"))
    for name, more in (("strong", 5), ("weak", -1)):
        effect = only(lines, "replacement effect", retailer=name).estimate
        assert (effect.value, effect.low, effect.high) == (10 * more, 10 * more, 10 * more)
        assert effect.blocks == 3
        rest = only(lines, "externality of replacement", retailer=name).estimate
        assert (rest.value, rest.low, rest.high) == (-more, -more, -more)
    markets = list(replacement(run.games("pot"), "ref"))
    assert only(markets, "effect on the market", retailer="strong").estimate.value == 5


def test_seats_that_go_round_take_the_luck_of_the_seat_out_of_every_seed(tmp_path: Path) -> None:
    run = load(tournament(tmp_path, ["latin"], pool(a=1, b=4, c=6), seeds=4))
    means = {
        str(line.about["retailer"]): line.estimate
        for line in standings(run.games())
        if line.figure == "mean"
    }
    # Everybody has had the luck of every seat, so that differences are exact on each seed.
    assert means["b"].value - means["a"].value == pytest.approx(11 * 3)
    assert means["c"].value - means["b"].value == pytest.approx(11 * 2)


def test_invasion_of_a_recorded_tournament_is_as_planted(tmp_path: Path) -> None:
    rosters = [{"design": name, "size": 4} for name in ("self-play", "one-among-many")]
    run = load(tournament(tmp_path, rosters, pool(a=1, b=3), seeds=5))
    lines = list(invasion(run.games()))
    # A resident gets 2 less for an entrant that names 2 more, luck and all else equal.
    loss = only(lines, "loss", entrant="b", host="a").estimate
    assert (loss.value, loss.low, loss.high) == (2, 2, 2)
    assert only(lines, "loss", entrant="a", host="b").estimate.value == -2
