"""What holds in every game of the arena holds with each extension of its buyers and supply."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.market.arena import test_properties as always
from tests.market.arena.games import Game, games

SOME = settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.too_slow])

NOISE = {"supply_noise": {"variation": 1.0, "shock": 0.3}}
MEMORY = {
    "persona_draw": "iid",
    "buyer_memory": {"returning": 0.7, "loyalty": 1.0, "grudge": 2.0, "decay": 0.6},
}
APPETITE = {
    "personas": {
        "Few": {"share": 0.5, "sensitivity": 1.0, "theme": "a", "demand": 7.5},
        "Many": {"share": 0.5, "sensitivity": 0.1, "theme": "b", "rho": 0.1},
    },
    "tier_affinity": None,
    "willingness_to_pay": {"Few": [[1, 0.5, 1.0], [2, 1.5, 3.0]], "Many": [1.0, 2.0]},
}
EXTENSIONS = {"noise": NOISE, "memory": MEMORY, "appetite": APPETITE, "german": {"language": "de"}}
PROPERTIES = [
    always.test_every_unit_and_every_coin_is_accounted_for,
    always.test_profit_is_the_sum_of_step_profits_and_what_the_owner_is_left_with,
    always.test_all_that_is_shown_is_json_and_all_that_happened_fits_its_table,
    always.test_a_game_played_again_is_the_same_in_any_order_of_answers,
    always.test_a_seat_that_does_nothing_can_be_left_out,
]


@pytest.mark.parametrize("extension", EXTENSIONS)
@pytest.mark.parametrize("holds", PROPERTIES, ids=lambda test: test.__name__[5:40])
@SOME
@given(st.data())
def test_it_holds(holds: Any, extension: str, data: st.DataObject) -> None:
    inner: Callable[[Game], None] = holds.hypothesis.inner_test
    fixed = EXTENSIONS[extension]
    if holds is always.test_a_seat_that_does_nothing_can_be_left_out:
        fixed = {**fixed, "initial_funds": 2_000}
    inner(data.draw(games(**fixed)))


@SOME
@given(games(retail="market", fixed_cost=0, holding_cost=0.0, **NOISE, **MEMORY), st.integers())
def test_two_rosters_meet_the_same_buyers_and_the_same_supply(game: Game, temper: int) -> None:
    inner: Any = always.test_two_rosters_on_one_seed_meet_the_same_buyers.hypothesis.inner_test
    inner(game, abs(temper) % 2**32)
