"""A language model that bids in the arena, and what is said to it."""

from __future__ import annotations

from market.environment import Decision
from market.language import Finish, Reply, ToolCall, Usage
from market.policies.llm import LanguageModel
from tests.market.arena.told_market import rules, turns

USAGE = Usage("fake", 1, 1, None, None, 0.0)
ARENA = "market.arena.prompts:ArenaPrompts"
GOOD = '{"bids":[{"item":"item1","quantity":2,"price":60}]}'
ACTION = {"bids": [{"item": "item1", "quantity": 2, "price": 60}]}


def reply(text: str, finish: Finish = "stop", *calls: ToolCall) -> Reply:
    return Reply(text, finish, USAGE, calls)


def policy(**options: object) -> LanguageModel:
    return LanguageModel("llm-1", 7, **{"model": "fake", "prompts": ARENA, **options})  # type: ignore[arg-type]


def first() -> Decision:
    return next(turns(rules(), 1))[0]
