from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from market.arena.counterfactual.board import Board
from market.arena.counterfactual.redraws import settle
from market.arena.counterfactual.scene import scenes
from market.arena.counterfactual.seat import Seat
from market.arena.storefront import Storefront
from tests.market.arena.counterfactual.recordings import record_game
from tests.market.arena.games import Game, games

_ROWS = 3


@settings(max_examples=40, deadline=None, suppress_health_check=list(HealthCheck))
@given(game=games(retail="market"), data=st.data())
def test_a_seat_sells_in_the_arrays_what_it_sells_in_the_arena(
    tmp_path_factory: pytest.TempPathFactory, game: Game, data: Any
) -> None:
    journal = record_game(tmp_path_factory.mktemp("game") / "journal.jsonl", game)
    for scene in scenes(journal):
        board = Board(scene, _ROWS - 1)
        for column, name in enumerate(board.seats):
            seat = Seat(board, column)
            text = data.draw(st.sampled_from(["", *sorted(scene.similarities)]))
            said = tuple(scene.similarities.get(text, board.nothing))
            prices, held = {}, []
            for index, item in enumerate(scene.rules.items):
                rivals = seat.ladder(index)[1].tolist()
                prices[item.item] = data.draw(st.sampled_from([item.base, *rivals, *rivals]))
                held.append(data.draw(st.integers(0, 12)))
            fronts = dict(scene.fronts) | {name: Storefront(prices, text)}
            stock = dict(scene.stock) | {name: tuple(held)}
            outcomes = [settle(scene, row, fronts=fronts, stock=stock) for row in range(_ROWS)]
            for index, item in enumerate(scene.rules.items):
                price = prices[item.item]
                lot = replace(seat.recorded_lot(index), held=held[index])
                sold = seat.sold(index, price, lot.held, lot.stocks, said)
                assert sold.tolist() == [out.seats[name].offers[index].sold for out in outcomes]
                asked = seat.curve(index, np.array([price]), lot.stocks, said)[:, 0]
                if price not in seat.ladder(index)[1]:
                    assert np.minimum(asked, lot.held).tolist() == sold.tolist()
