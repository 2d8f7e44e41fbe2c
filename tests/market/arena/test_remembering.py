"""Markets whose buyers return: what is remembered of a step, and what it changes in the next."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import ValidationError

from market.arena.attention import considered
from market.arena.buyers import NO_LIMIT, Buyers
from market.arena.regulars import BOUGHT, LET_DOWN, UNIT
from market.arena.retail import Sales, settle
from market.arena.rules import ArenaRules
from market.arena.selling import Selling
from market.arena.storefront import CLOSED, Storefront
from market.config import load
from market.config import rules as rules_of
from market.play import Played, drive, play
from tests.market.arena.games import Game, anything, facts, games

FAITHFUL = {"returning": 1.0, "loyalty": 2.0, "grudge": 2.0, "decay": 1.0}


def test_visits_are_those_of_the_table_worked_by_hand() -> None:
    # Three sellers of one good at 10, 20 and 30, with 2, 0 and 9 units; buyers want 1, 2, 1, 1
    # units, of whom the last pays 9 at most and the third 20, and the third sees the dear two only.
    units, limit = [1, 2, 1, 1], [NO_LIMIT, NO_LIMIT, 20, 9]
    buyers = Buyers(
        persona=np.zeros(4, np.int16),
        item=np.zeros(4, np.int16),
        units=np.array(units, np.int64),
        limit=np.array(limit, np.int64),
        luck=np.arange(4, dtype=np.uint64),
    )
    seen = np.array([[1, 1, 0, 1], [1, 1, 1, 1], [1, 1, 1, 1]], np.bool_)
    visits = np.zeros((4, 3), np.int8)
    prices, stock = np.array([[10, 20, 30]]), np.array([[2, 0, 9]])
    luck, sales = np.arange(3, dtype=np.uint64), Sales.none(1, 3)
    settle(buyers, seen, prices, stock, luck, sales, visits)
    assert visits.tolist() == [
        [BOUGHT, 0, 0],
        [BOUGHT, LET_DOWN, BOUGHT],  # one unit, then an empty shelf, then the other
        [0, LET_DOWN, LET_DOWN],  # an empty shelf, then too high a price
        [LET_DOWN, 0, 0],
    ]
    without = Sales.none(1, 3)
    settle(buyers, seen, prices, np.array([[2, 0, 9]]), luck, without)
    assert all((getattr(sales, n) == getattr(without, n)).all() for n in Sales.__slots__)


def test_all_equally_dear_sellers_that_turn_a_buyer_away_are_remembered() -> None:
    buyers = Buyers(
        np.zeros(1, np.int16), np.zeros(1, np.int16), np.ones(1, np.int64),
        np.array([5], np.int64), np.zeros(1, np.uint64),
    )  # fmt: skip
    visits = np.zeros((1, 3), np.int8)
    prices, stock = np.array([[7, 7, 8]]), np.array([[1, 1, 1]])
    luck = np.arange(3, dtype=np.uint64)
    settle(buyers, np.ones((3, 1), np.bool_), prices, stock, luck, Sales.none(1, 3), visits)
    assert visits.tolist() == [[LET_DOWN, LET_DOWN, 0]]


def test_a_favour_multiplies_the_chance_of_being_considered() -> None:
    # One of two, with weights 1 and 3 for the first half of the buyers, 1 and 1 for the second.
    many = 40_000
    favour = np.ones((2, many))
    favour[1, : many // 2] = 3.0
    persona = np.zeros(many, np.int16)
    weight = np.ones((2, 1))
    found = [
        np.concatenate(
            [
                seen
                for _, seen in considered(
                    1, 1, ["a", "b"], weight, [1], persona, at_once=at_once, favour=favour
                )
            ],
            axis=1,
        )
        for at_once in (many, 1_000)
    ]
    assert (found[0] == found[1]).all()
    assert found[0][1, : many // 2].mean() == pytest.approx(0.75, abs=0.01)
    assert found[0][1, many // 2 :].mean() == pytest.approx(0.5, abs=0.01)


def shop(**changes: Any) -> ArenaRules:
    """Two retailers of one good, of whom a buyer considers one."""
    given: dict[str, Any] = {
        "items": [{"item": "tea", "tier": "plain", "quantity": 1_000, "base": 10}],
        "personas": {"All": {"share": 1.0, "sensitivity": 0.0, "theme": "anything"}},
        "buyers": 1_000,
        "demand_ratio": 1.0,
        "attention": {"rho": 1.0, "k_max": 1, "similarity": "none"},
        "willingness_to_pay": {"All": [2.0, 2.0]},
        "buyer_memory": FAITHFUL,
        "steps": 9,
    }
    return ArenaRules.model_validate(given | changes)


def sell(
    selling: Selling, step: int, prices: tuple[int, int], stock: tuple[int, int] = (2_000, 2_000)
) -> list[int]:
    """Who bought where."""
    fronts = {
        seat: Storefront({"tea": price}, "") if price else CLOSED
        for seat, price in zip("ab", prices, strict=True)
    }
    held = {seat: [units] for seat, units in zip("ab", stock, strict=True)}
    outcome = selling.sell(step, fronts, held, {})
    return [sum(o.sold for o in outcome.seats[seat].offers.values()) for seat in "ab"]


def test_buyers_come_back_to_where_they_bought() -> None:
    selling = Selling(shop(), 1)
    first = sell(selling, 1, (15, 15))
    assert sum(first) == 1_000
    assert selling.clientele is not None
    at_a = selling.clientele.memory["a"] > 0
    assert at_a.sum() == first[0]
    assert set(selling.clientele.memory["a"].tolist()) == {0, 2 * UNIT}
    sell(selling, 2, (15, 15))
    again = selling.clientele.memory["a"]
    # Those who know one shop consider it with odds of e^2, which is 0.881 of them.
    assert (again[at_a] == 4 * UNIT).mean() == pytest.approx(0.881, abs=0.05)


@pytest.mark.parametrize(("prices", "stock"), [((15, 15), (0, 2_000)), ((21, 15), (2_000, 2_000))])
def test_an_empty_shelf_and_too_high_a_price_are_held_against_a_shop(
    prices: tuple[int, int], stock: tuple[int, int]
) -> None:
    selling = Selling(shop(), 1)
    sell(selling, 1, prices, stock)
    assert selling.clientele is not None
    let_down = selling.clientele.memory["a"] < 0
    assert 400 < let_down.sum() < 600
    after = sell(selling, 2, (15, 15))
    assert after[0] < 0.2 * sum(after)


def test_where_nobody_returns_nothing_is_remembered() -> None:
    strangers = Selling(shop(buyer_memory={**FAITHFUL, "returning": 0.0}), 1)
    indifferent = Selling(shop(buyer_memory={**FAITHFUL, "loyalty": 0.0, "grudge": 0.0}), 1)
    for step in (1, 2, 3):
        assert sell(strangers, step, (15, 15)) == sell(indifferent, step, (15, 15))


def test_a_step_in_which_nobody_is_open_is_a_step_for_memory() -> None:
    selling = Selling(shop(buyer_memory={**FAITHFUL, "decay": 0.5}), 1)
    sell(selling, 1, (15, 15))
    sell(selling, 2, (0, 0))
    assert selling.clientele is not None
    assert selling.clientele.step == 2
    assert max(selling.clientele.memory["a"]) == UNIT


def test_the_market_tells_that_buyers_return_and_how_much_it_matters_to_nobody() -> None:
    played = play("arena/regulars", ["rules.steps=2"], outside=facts)
    shown = played.history[0][0].observation.rules
    assert shown["returning_buyers"] is True
    assert "0.8" not in str({k: v for k, v in shown.items() if k != "items"})


def test_memory_changes_who_sells_to_whom_from_the_second_step_on() -> None:
    base = ["rules.steps=3"]

    def sold(*more: str) -> dict[int, list[int]]:
        played = play("arena/regulars", [*base, *more], outside=facts, events=True)
        steps: dict[int, list[int]] = {}
        for row in played.rows("offers"):
            steps.setdefault(row.step, []).append(row.sold)
        return steps

    strong, none = sold(), sold("rules.buyer_memory.loyalty=0", "rules.buyer_memory.grudge=0")
    assert strong[1] == none[1]
    assert strong[2] != none[2]


def test_repeat_purchases_are_an_index_of_the_market_from_nothing_up() -> None:
    played = play("arena/regulars", ["rules.steps=3"], outside=facts, events=True)
    values = [row.value for row in played.rows("indices") if row.index == "repeat_purchases"]
    assert values[0] == 0
    assert 0 < values[1] < values[2] < 1
    assert played.environment.result.totals["repeat_purchases"] == values[2]


def test_personas_cannot_be_stratified_where_they_stay() -> None:
    with pytest.raises(ValidationError, match="persona_draw: with `buyer_memory`"):
        shop(persona_draw="stratified")


SOME = settings(max_examples=25, deadline=None)
MEMORIES = {"returning": 0.7, "loyalty": 1.0, "grudge": 2.0, "decay": 0.6}


@SOME
@given(
    games(retail="market", persona_draw="iid", buyer_memory=MEMORIES, steps=4),
    st.integers(0, 2**32),
)
def test_nobodys_answers_move_who_comes_and_what_they_want(game: Game, temper: int) -> None:
    loud = game.seats[-1]
    players = game.players()
    one = drive(game.arena(), players, outside=facts, events=True)
    changed = {**players, loud: anything(game.rules, temper)}
    other = drive(game.arena(), changed, outside=facts, events=True)

    def demand(played: Played) -> list[Any]:
        return [(row.step, row.item, row.buyers, row.wanted) for row in played.rows("demand")]

    both = dict(zip(((r[0], r[1]) for r in demand(one)), demand(one), strict=True))
    for row in demand(other):
        assert both.get((row[0], row[1]), row) == row


@SOME
@given(games(retail="market", persona_draw="iid", buyer_memory=MEMORIES))
def test_a_game_of_buyers_who_remember_is_the_same_when_played_again(game: Game) -> None:
    one, other = game.play(), game.play()
    assert one.history == other.history
    assert one.events == other.events
    quiet = replace(game, seats=("idle", *game.seats))
    assert quiet.play().scores.keys() == {"idle", *game.seats}


def test_the_regulars_preset_lasts_long_enough_to_matter() -> None:
    rules: ArenaRules = rules_of(load("arena/regulars"))
    assert rules.buyer_memory is not None
    assert rules.steps == 20
