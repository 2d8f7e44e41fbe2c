"""The example that ends a prompt, and the schema of its answer."""

from __future__ import annotations

import json
from typing import Any

import pytest

from market import canonical, forms
from market.arena.arena import Arena
from market.arena.auction import ItemTerms, Line, Terms, judge
from market.arena.prompts import ArenaPrompts
from market.arena.rules import ArenaRules
from market.environment import OUTSIDE, Answer, Decision, Form, NoAction
from market.policies.policy import History
from market.policies.prompts import ONLY_JSON
from market.policies.tokens import estimate_messages
from tests.market.arena.told_market import BID, SELL, history_and_decision, market, rules
from tests.market.arena.told_prompts import BUDGETS, WORDED


@pytest.mark.parametrize("tokens", [800, 6_000])
@pytest.mark.parametrize(
    "changes",
    [
        {},
        {"over_budget": "void", "lines_per_item": 1, "ties": "random"},
        {"round_rule": "monotone"},
        {"pricing": "uniform", "tick": 10},
    ],
)
@pytest.mark.parametrize("funds", [0, 49, 2_100, 45_000])
def test_every_example_of_a_bid_stands_whole(
    tokens: int, changes: dict[str, Any], funds: int
) -> None:
    told = rules(20, 8, **changes)
    terms = Terms(
        {ware["item"]: ItemTerms(ware["base"], ware["cap"]) for ware in told["items"]},
        told["tick"], told["lines_per_item"], told["ties"], told["over_budget"],
        told["pricing"], told["round_rule"],
    )  # fmt: skip
    for step, turn in ((1, 0), (1, 1), (3, 0), (3, 1)):
        _, decision = history_and_decision(told, step, turn)
        decision.observation.private["funds"] = funds  # type: ignore[index]
        earlier = None
        if turn:
            for line in decision.observation.private["bids"]:
                line["price"] += -line["price"] % told["tick"]
            earlier = [
                Line(line["item"], line["quantity"], line["price"], line["quantity"])
                for line in decision.observation.private["bids"]
            ]
        example = ArenaPrompts(tokens).example(decision)
        assert forms.check(BID, example) is None
        lines = judge(example["bids"], terms, funds, earlier)
        assert all(line.reason is None and line.stands for line in lines)
        assert bool(lines) == (funds >= 2_100)


def test_examples_differ_between_retailers_and_steps() -> None:
    firsts = set()
    for step in (1, 2, 3):
        _, decision = history_and_decision(rules(), step, 0)
        firsts.add(ArenaPrompts(800).example(decision)["bids"][0]["item"])
    assert len(firsts) == 3


@pytest.mark.parametrize("tokens", [800, 6_000])
@pytest.mark.parametrize("tick", [1, 7])
def test_every_example_of_a_price_is_above_cost_and_within_the_cap(tokens: int, tick: int) -> None:
    for held in range(9):
        _past, decision = history_and_decision(rules(tick=tick), 2, 2, held=held)
        example = ArenaPrompts(tokens).example(decision)
        assert forms.check(SELL, example) is None
        assert bool(example["prices"]) == bool(held)
        for item, price in example["prices"].items():
            lot = decision.observation.private["stock"][item]
            ware = next(w for w in decision.observation.rules["items"] if w["item"] == item)
            assert lot["cost"] < price * lot["units"]
            assert price <= ware["cap"]
            assert price % tick == 0


@WORDED
@pytest.mark.parametrize("tokens", BUDGETS)
def test_every_prompt_ends_with_its_example(tokens: int, wording: int) -> None:
    for turn in range(3):
        past, decision = history_and_decision(rules(), 3, turn)
        prompts = ArenaPrompts(tokens, wording=wording)
        last = prompts.messages(past, decision)[-1].content.splitlines()
        assert last[-2] == ONLY_JSON[wording].splitlines()[0]
        assert json.loads(last[-1]) == prompts.example(decision)


def play(config: dict[str, Any], tokens: int) -> tuple[Arena, int]:
    """Play a real market by answering every prompt with its own example."""
    arena = Arena(ArenaRules(**config), ("a", "b", "c", "d"), 5)
    past: dict[str, list[tuple[Decision, Answer | NoAction]]] = {}
    prompts, longest = ArenaPrompts(tokens), 0
    decisions = arena.start()
    while decisions:
        answers: dict[str, Answer | NoAction] = {}
        for decision in decisions:
            if decision.seat == OUTSIDE:
                asked = decision.observation.private
                rows = [[500_000] * len(asked["references"]) for _ in asked["texts"]]
                answers[OUTSIDE] = Answer({"similarities": rows, "convergence": None})
                continue
            history: History = past.setdefault(decision.seat, [])
            messages = prompts.messages(history, decision)
            longest = max(longest, estimate_messages(messages))
            action = canonical.loads(messages[-1].content.splitlines()[-1])
            assert forms.check(decision.form, action) is None
            answers[decision.seat] = Answer(action)
            past[decision.seat].append((decision, answers[decision.seat]))
        decisions = arena.apply(answers)
    return arena, longest


ITEMS = [
    {"item": "tea", "tier": "standard", "quantity": 40, "base": 50},
    {"item": "silk", "tier": "luxury", "quantity": 10, "base": 300},
]
PERSONAS = {"Thrifty": {"share": 1.0, "sensitivity": 0.5, "theme": "cheap"}}


@pytest.mark.parametrize("tokens", [800, 6_000])
@pytest.mark.parametrize(
    "changes",
    [
        {},
        {"bid_feedback": "full", "rival_text": "hidden", "attention_feedback": "none"},
        {"bidding_rounds": 1, "price_cap": None, "terminal_stock": {"salvage": 0.5}},
        {"bidding_rounds": 3, "round_rule": "monotone", "fixed_cost": 30, "holding_cost": 0.02},
        {"retail": "induced", "induced": {"low": 0, "high": 900, "units": 3}},
    ],
)
def test_examples_play_a_real_market_to_its_end(tokens: int, changes: dict[str, Any]) -> None:
    config = {"steps": 3, "items": ITEMS, "personas": PERSONAS, "buyers": 20, **changes}
    arena, longest = play(config, tokens)
    assert longest <= tokens
    assert all(result.metrics["bid_efficiency"] for result in arena.result.seats.values())


def test_the_hand_made_market_has_the_shape_of_the_real_one() -> None:
    config = ArenaRules(**{"steps": 2, "items": ITEMS, "personas": PERSONAS, "buyers": 20})
    arena = Arena(config, ("a", "b"), 5)
    real = arena.start()[0].observation
    _, made = history_and_decision(rules(), 1, 0)
    assert made.observation.rules.keys() <= real.rules.keys()
    assert made.observation.rules["items"][0].keys() == real.rules["items"][0].keys()
    assert made.observation.public.keys() == real.public.keys()
    assert made.observation.private.keys() == real.private.keys()
    assert market(rules(), 1).keys() == {"step", "retailers"}


@pytest.mark.parametrize("tokens", [60, 120, 512])
@pytest.mark.parametrize("turn", [0, 1, 2])
def test_the_schema_for_a_model_admits_the_example_and_nothing_that_the_form_refuses(
    tokens: int, turn: int
) -> None:
    _, decision = history_and_decision(rules(), 2, turn, held=3)
    prompts = ArenaPrompts(800)
    schema = prompts.schema(decision, tokens)
    narrow = Form(schema, {})
    example = prompts.example(decision)
    assert forms.check(narrow, example) is None
    assert forms.check(decision.form, example) is None
    if decision.kind == "bid":
        line = {"item": "item1", "quantity": 1, "price": 50}
        assert forms.check(narrow, {"bids": [{**line, "item": "item99"}]})
        assert forms.check(narrow, {"bids": [line] * tokens})
    else:
        assert forms.check(narrow, {"prices": {"slogan": 1}, "slogan": ""})
        assert forms.check(narrow, {"prices": {}, "slogan": "long " * tokens})
