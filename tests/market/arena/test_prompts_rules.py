"""The rules as prompts tell them, in every wording."""

from __future__ import annotations

import re
from typing import Any

import pytest

from market.arena.prompts import ArenaPrompts
from market.policies.wording import WORDINGS
from tests.market.arena.told_market import history_and_decision, rules
from tests.market.arena.told_prompts import WORDED, prompt

CHANGES: list[dict[str, Any]] = [
    {"ties": "random"},
    {"pricing": "uniform"},
    {"over_budget": "void"},
    {"round_rule": "monotone"},
    {"bid_feedback": "full"},
    {"bid_feedback": "own"},
    {"fixed_cost": 77},
    {"terminal_stock": "cost"},
    {"terminal_stock": {"salvage": 0.7}},
    {"stockless_offers": "allowed"},
    {"attention_feedback": "none"},
    {"tick": 5},
    {"lines_per_item": 1},
    {"bidding_rounds": 1},
    {"bidding_rounds": 4},
    {"slogan_words": 19},
    {"initial_funds": 12_345},
    {"objective": "rank"},
    {"retail": "induced", "redeemable_units": 2},
    {"supply_noise": {"variation": 0.3, "shock": 0.0}},
    {"supply_noise": {"variation": 0.3, "shock": 0.05}},
    {"returning_buyers": True},
]


@WORDED
@pytest.mark.parametrize("changes", CHANGES, ids=str)
def test_a_changed_rule_is_told_in_every_wording(changes: dict[str, Any], wording: int) -> None:
    told, usual = (
        prompt(6_000, 1, 0, rules(20, 8, **change), wording)[0].content for change in (changes, {})
    )
    assert told != usual
    for value in changes.values():
        if isinstance(value, int) and value > 1:
            assert str(value) in told
        for figure in value.values() if isinstance(value, dict) else ():
            assert not figure or str(figure) in told
    assert prompt(800, 1, 0, rules(20, 8, **changes), wording)[0].content


@pytest.mark.parametrize(("tokens", "places"), [(800, [0]), (50_000, [0, -1])])
def test_wordings_differ_in_words_and_in_no_figure(tokens: int, places: list[int]) -> None:
    for turn in range(3):
        messages = [prompt(tokens, 2, turn, None, wording) for wording in range(WORDINGS)]
        for place in places:
            texts = [told[place].content for told in messages]
            assert len(set(texts)) == WORDINGS
            figures = [set(re.findall(r"\d+(?:\.\d+)?", text)) for text in texts]
            assert figures[0] == figures[1] == figures[2]


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"ties": "random"}, "random order"),
        ({"pricing": "uniform"}, "highest losing bid"),
        ({"over_budget": "void"}, "the whole bid is void"),
        ({"round_rule": "monotone"}, "no price may be lower"),
        ({"bid_feedback": "full"}, "also all bids"),
        ({"fixed_cost": 77}, "costs 77 per step"),
        ({"terminal_stock": "cost"}, "stock counts at what it cost"),
        ({"stockless_offers": "allowed"}, "price items you do not hold"),
        ({"tick": 5}, "multiples of 5"),
        ({"bidding_rounds": 1}, "one bidding round"),
        ({"retail": "induced", "redeemable_units": 2}, "up to 2 units of each item are redeemed"),
        ({"supply_noise": {"variation": 0.3, "shock": 0.0}}, "deviation of 0.3 times"),
        ({"supply_noise": {"variation": 0, "shock": 0.05}}, "a chance of 0.05 a delivery"),
        ({"returning_buyers": True}, "Who bought from you is likelier to consider you again"),
    ],
)
def test_a_changed_rule_is_told(changes: dict[str, Any], words: str) -> None:
    told, usual = (
        prompt(6_000, 1, 0, rules(20, 8, **change))[0].content for change in (changes, {})
    )
    assert words in told
    assert words not in usual
    assert prompt(800, 1, 0, rules(20, 8, **changes))[0].content


def test_a_market_of_unequal_caps_and_costs_has_its_columns() -> None:
    told = rules(4, 2)
    told["items"][0] |= {"cap": None, "holding_cost": 9}
    brief = prompt(800, 1, 0, told)[0].content
    assert "item1,commodity,200,50,none,9\nitem2,commodity,200,50,150,1\n" in brief


def test_instructions_end_the_rules() -> None:
    past, decision = history_and_decision(rules(), 1, 0)
    plain, told = (
        ArenaPrompts(6_000, words).messages(past, decision)[0].content for words in ("", "Be bold.")
    )
    assert told == f"{plain}\n\nBe bold."
