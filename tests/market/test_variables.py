from __future__ import annotations

from typing import Any

import pytest

from market import variables
from market.registry import environment_kind
from market.replay import build_environment
from market.rng import ForkedSeed
from market.vending import world
from tests.market.vending.operations import rules

VENDING = environment_kind("vending")
HELD_OUT = {**rules().model_dump(mode="json"), "worlds": "held_out"}
SALT = "MARKET_WORLD_SALT"


@pytest.fixture(autouse=True)
def _unsalted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(SALT, raising=False)


def test_a_public_world_needs_nothing() -> None:
    public = rules().model_dump(mode="json")
    assert variables.needed(VENDING, public) == {}
    assert variables.problem(VENDING, public) is None
    assert variables.needed(environment_kind("arena"), {}) == {}


def test_a_missing_variable_is_told_in_one_sentence() -> None:
    assert variables.problem(VENDING, HELD_OUT) == (
        "The environment variable MARKET_WORLD_SALT is not set; it holds the salt of held-out "
        "worlds."
    )
    other = {**HELD_OUT, "salt_variable": "MY_SALT"}
    assert "MY_SALT" in (variables.problem(VENDING, other) or "")


def test_what_is_held_is_what_is_needed_and_set(monkeypatch: pytest.MonkeyPatch) -> None:
    assert variables.held(VENDING, HELD_OUT) == {}
    monkeypatch.setenv(SALT, "pepper")
    assert variables.problem(VENDING, HELD_OUT) is None
    assert variables.held(VENDING, HELD_OUT) == {SALT: "pepper"}


def held_out(seed: int, **changes: Any) -> world.Seeds:
    return world.seeds(rules(worlds="held_out", **changes), seed)


def test_held_out_seeds_are_those_of_the_salt(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(ValueError, match="need a salt"):
        held_out(1)
    monkeypatch.setenv(SALT, "pepper")
    one = held_out(1)
    assert one == held_out(1)
    assert one.world != one.luck
    assert held_out(1, world=7).world == held_out(2, world=7).world != one.world
    monkeypatch.setenv(SALT, "cumin")
    assert held_out(1) != one


def test_a_forked_held_out_episode_keeps_its_world_and_its_first_luck(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv(SALT, "pepper")
    plain, forked = held_out(1), held_out(ForkedSeed(1, 5, 99))
    assert forked.world == plain.world
    assert isinstance(forked.luck, ForkedSeed)
    assert (int(forked.luck), forked.luck.step) == (plain.luck, 5)
    assert forked.luck.later == held_out(99).luck


def test_a_held_out_journal_is_refused_without_its_salt() -> None:
    config = {
        "environment": "vending",
        "seed": 1,
        "rules": HELD_OUT,
        "retailers": [{"name": "a", "policy": "idle", "count": 1, "options": {}}],
    }
    with pytest.raises(ValueError, match=SALT):
        build_environment(config)
