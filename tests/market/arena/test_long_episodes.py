"""Episodes of 60 steps: what is told and kept does not grow with them."""

from __future__ import annotations

import pytest

from market.arena.prompts import ArenaPrompts
from market.arena.rules import ArenaRules
from market.config import load
from market.config import rules as rules_of
from market.play import play
from market.policies.context import Context, Kind
from market.policies.tokens import estimate_messages
from tests.market.arena.told_market import history_and_decision, rules

STEPS = 60


def tokens(step: int, context: Context, budget: int = 100_000) -> int:
    past, decision = history_and_decision(rules(steps=STEPS), step, 0)
    return estimate_messages(ArenaPrompts(budget, context=context).messages(past, decision))


@pytest.mark.parametrize("steps", [1, 3])
def test_prompts_of_the_last_steps_are_no_longer_at_the_end(steps: int) -> None:
    context = Context("last", steps)
    early, late = tokens(6, context), tokens(STEPS, context)
    assert late - early <= 20  # a step's number has a digit more


@pytest.mark.parametrize("kind", ["full", "groups", "notebook"])
def test_the_budget_holds_to_the_end_of_a_long_episode(kind: Kind) -> None:
    assert tokens(STEPS, Context(kind), 6_000) <= 6_000


def test_the_full_past_would_grow() -> None:
    assert tokens(STEPS, Context()) > 5 * tokens(6, Context())


def test_the_long_preset_is_the_default_market_for_longer() -> None:
    long: ArenaRules = rules_of(load("arena/long"))
    default: ArenaRules = rules_of(load("arena/default"))
    assert long.steps == STEPS
    assert long.model_dump() | {"steps": 6} == default.model_dump()


def test_a_long_episode_keeps_the_last_steps_and_no_others() -> None:
    played = play("arena/long", ["rules.attention.similarity=none", "retailers.0.count=1"])
    arena = played.environment
    assert len(arena.result.seats) == 18
    assert len(arena._records) == 2
    assert {len(steps) for steps in arena._seat_steps.values()} == {STEPS}
