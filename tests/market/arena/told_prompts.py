"""Prompts of the hand-made market, and the budgets and wordings to try them in."""

from __future__ import annotations

from typing import Any

import pytest

from market.arena.prompts import ArenaPrompts
from market.language import Message
from market.policies.context import Context
from market.policies.wording import WORDINGS
from tests.market.arena.told_market import history_and_decision, rules

BUDGETS = [800, 1_000, 2_000, 6_000]
WORDED = pytest.mark.parametrize("wording", range(WORDINGS))


def prompt(
    tokens: int,
    step: int,
    turn: int,
    told: Any = None,
    wording: int = 0,
    context: Context = Context(),  # noqa: B008
    **how: Any,
) -> tuple[Message, ...]:
    past, decision = history_and_decision(told or rules(), step, turn, **how)
    return ArenaPrompts(tokens, wording=wording, context=context).messages(past, decision)
