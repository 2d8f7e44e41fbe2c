from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from market.arena.counterfactual.board import Board, asked
from market.arena.counterfactual.prices import Candidates, best_price, candidates
from market.arena.counterfactual.scene import scenes
from market.arena.counterfactual.seat import Lot, Seat
from market.arena.storefront import PriceReason, RefusedPrice, Storefront
from tests.market.arena.counterfactual.recordings import record_game, recorded_scenes
from tests.market.arena.games import Game, games

EVERY = slice(None)


@settings(max_examples=40, deadline=None, suppress_health_check=list(HealthCheck))
@given(game=games(retail="market", price_cap=3.0), data=st.data())
def test_no_valid_price_is_better_than_the_best_one(
    tmp_path_factory: pytest.TempPathFactory, game: Game, data: Any
) -> None:
    journal = record_game(tmp_path_factory.mktemp("game") / "journal.jsonl", game)
    for scene in scenes(journal):
        board = Board(scene, 2)
        seat = Seat(board, data.draw(st.integers(0, len(board.seats) - 1)))
        for index, item in enumerate(scene.rules.items):
            lot = replace(seat.recorded_lot(index), held=data.draw(st.integers(0, 9)))
            tried = candidates(seat, index)
            price, sales = best_price(seat, index, lot, seat.said, EVERY, tried)

            def value(price: int, index: int = index, lot: Lot = lot, seat: Seat = seat) -> float:
                return float(seat.payoff(index, price, lot, seat.said).sum())

            cap = scene.rules.cap(item) or 0
            every = range(scene.rules.tick, cap + 1, scene.rules.tick)
            assert value(price) >= max(map(value, [0, *every])) - 1e-6
            sold = seat.sold(index, price, lot.held, lot.stocks, seat.said) if price else sales * 0
            assert np.minimum(sales, lot.held).tolist() == sold.tolist()


def test_the_candidates_worked_by_hand(tmp_path: Path) -> None:
    (scene,) = recorded_scenes(
        tmp_path / "journal",
        "arena/monopoly",
        "rules.buyers=1",
        "rules.tick=10",
        "rules.attention.k_max=2",
        "rules.willingness_to_pay={Everybody: [1.57, 1.57]}",
        "retailers=[{name: own, policy: fixed, options: {multiple: 1.5, premium: 0.0}}, "
        "{name: rival, policy: fixed, options: {multiple: 1.4, premium: 0.0}}]",
    )
    tried = candidates(Seat(Board(scene, 1), 0), 0)
    # Below the rival, the rival, its own, the limit of 157 on the tick (its own too), the cap.
    assert tried.prices.tolist() == [130, 140, 150, 300]
    assert tried.ties == ((140, 0),)


def test_nothing_held_or_nothing_to_try_is_not_offered(tmp_path: Path) -> None:
    (scene,) = recorded_scenes(tmp_path / "journal", "arena/monopoly")
    seat = Seat(Board(scene, 1), 0)
    empty = replace(seat.recorded_lot(0), held=0)
    assert best_price(seat, 0, empty, seat.said, EVERY, candidates(seat, 0))[0] == 0
    none = Candidates(np.zeros(0, np.int64), ())
    assert best_price(seat, 0, seat.recorded_lot(0), seat.said, EVERY, none)[0] == 0


def test_a_price_refused_for_want_of_stock_is_the_one_it_would_ask(tmp_path: Path) -> None:
    (scene,) = recorded_scenes(tmp_path / "journal", "arena/monopoly")
    (seat,) = scene.fronts

    def with_refusal(price: int, reason: PriceReason) -> list[int]:
        front = Storefront({}, "", (RefusedPrice("good", price, reason),))
        return asked(replace(scene, fronts={seat: front}), seat)

    assert asked(scene, seat) == [150]
    assert with_refusal(140, PriceReason.NOT_HELD) == [140]
    assert with_refusal(301, PriceReason.NOT_HELD) == [0]
    assert with_refusal(-1, PriceReason.NOT_HELD) == [0]
    assert with_refusal(140, PriceReason.OFF_TICK) == [0]
