"""Counterfactuals of markets with uncertain supply, returning buyers and other mixes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from market.arena.counterfactual.redraws import settle
from market.arena.counterfactual.regret import regret
from tests.market.arena.counterfactual import test_residual, test_scene
from tests.market.arena.counterfactual.recordings import recorded_scenes
from tests.market.arena.games import games
from tests.market.arena.test_varied_properties import APPETITE, MEMORY, NOISE

FIXED = {"noise": NOISE, "memory": MEMORY, "appetite": APPETITE, "all": NOISE | MEMORY | APPETITE}
SOME = settings(max_examples=10, deadline=None, suppress_health_check=list(HealthCheck))


@pytest.mark.parametrize("extension", FIXED)
@SOME
@given(data=st.data())
def test_the_recorded_luck_gives_the_recorded_step(
    tmp_path_factory: pytest.TempPathFactory, extension: str, data: Any
) -> None:
    holds: Any = test_scene.test_the_recorded_answers_under_the_recorded_luck_give_the_recorded_step
    game = data.draw(games(retail="market", **FIXED[extension]))
    holds.hypothesis.inner_test(tmp_path_factory, game, 0)


@pytest.mark.parametrize("extension", FIXED)
@SOME
@given(data=st.data())
def test_a_seat_sells_in_the_arrays_what_it_sells_in_the_arena(
    tmp_path_factory: pytest.TempPathFactory, extension: str, data: Any
) -> None:
    holds: Any = test_residual.test_a_seat_sells_in_the_arrays_what_it_sells_in_the_arena
    game = data.draw(games(retail="market", **FIXED[extension]))
    holds.hypothesis.inner_test(tmp_path_factory, game, data)


def test_a_redraw_keeps_what_buyers_remember_and_draws_who_returns(tmp_path: Path) -> None:
    scenes = recorded_scenes(tmp_path / "journal", "arena/regulars", "rules.steps=3")
    last = scenes[-1]
    assert last.clientele is not None
    assert last.clientele.step == 2
    known = {seat: memory.copy() for seat, memory in last.clientele.memory.items()}
    one, other = settle(last, 1), settle(last, 2)
    assert (one.buyers.persona != other.buyers.persona).any()
    assert all((last.clientele.memory[seat] == known[seat]).all() for seat in known)
    assert any(np.abs(memory).max() for memory in known.values())


def test_regret_is_found_where_deliveries_were_missed(tmp_path: Path) -> None:
    overrides = [
        "rules.supply_noise={variation: 0.5, shock: 0.5}", "rules.steps=2", "rules.buyers=40",
        "rules.supply_scale=0.1",
    ]  # fmt: skip
    scenes = recorded_scenes(tmp_path / "journal", "arena/default", *overrides)
    assert any(units == 0 for scene in scenes for units in scene.offers.values())
    found = regret(scenes, 4, ["markup-1"])
    assert found.seats["markup-1"].gains["bid+price+slogan"].in_sample >= 0
