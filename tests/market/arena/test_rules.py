"""The configuration: derived numbers of the presets, and wrong rules that name their key."""

from __future__ import annotations

import json
from typing import Any

import pytest
from pydantic import ValidationError

from market.arena.rules import MOST_TRADE, ArenaRules
from market.config import ConfigError, load
from market.config import rules as rules_of

ITEM = {"item": "tea", "tier": "plain", "quantity": 10, "base": 10}
COFFEE = {"item": "coffee", "tier": "fine", "quantity": 10, "base": 10}
PERSONA = {"share": 1.0, "sensitivity": 0.5, "theme": "anything"}
VALID: dict[str, Any] = {"items": [ITEM], "personas": {"All": PERSONA}, "buyers": 5}


def make(**changes: Any) -> ArenaRules:
    """Rules as a configuration gives them: JSON, checked strictly."""
    return ArenaRules.model_validate_json(json.dumps({**VALID, **changes}), strict=True)


def test_the_paper_has_the_published_numbers() -> None:
    rules: ArenaRules = rules_of(load("arena/paper"))
    assert sum(rules.supply) == 1_000
    assert sum(rules.quantity(item) * item.base for item in rules.items) == 300_000
    assert (rules.funds(20), rules.demand, rules.buyers) == (22_500, 950, 200)
    assert [rules.cap(item) for item in rules.items] == [75, 75, 225, 225, 225, 1200, 1200, 3000]
    assert {rules.holding(item) for item in rules.items} == {0}
    assert rules.decisions_per_seat * 20 == 360


def test_the_default_market_has_its_derived_numbers() -> None:
    rules: ArenaRules = rules_of(load("arena/default"))
    assert (rules.funds(20), rules.demand) == (45_000, 1_400)
    assert [rules.holding(item) for item in rules.items] == [1, 1, 3, 3, 3, 16, 16, 40]
    assert [rules.cap(item) for item in rules.items][-1] == 6_000
    assert rules.affinity is not None
    favours = dict(zip(rules.personas, rules.affinity, strict=True))
    assert favours["Thrifty"] == [3, 3, 1, 1, 1, 0.3, 0.3, 0.1]


def test_supply_scale_multiplies_quantities_and_demand_follows() -> None:
    rules = make(supply_scale=2.5, demand_ratio=0.95)
    assert (rules.supply, rules.demand) == ([25], 24)  # 23.75
    assert make(supply_scale=0.01, demand_ratio=9.0).supply == [1]


@pytest.mark.parametrize(
    ("cap", "tick", "highest"), [(1.25, 1, 12), (1.29, 1, 12), (1.1, 1, 11), (1.9, 5, 15)]
)
def test_the_cap_is_a_price_on_the_tick_at_or_below_the_multiple(
    cap: float, tick: int, highest: int
) -> None:
    assert make(price_cap=cap, tick=tick).cap(make().items[0]) == highest


def test_no_cap_is_none_and_funds_can_be_given() -> None:
    rules = make(price_cap=None, initial_funds=77)
    assert rules.cap(rules.items[0]) is None
    assert rules.funds(3) == 77


def test_rules_for_fewer_retailers_keep_the_market_or_all_of_it_per_retailer() -> None:
    paper: ArenaRules = rules_of(load("arena/paper"))
    market, share = (paper.resized(5, 20, keep) for keep in ("market", "share"))
    assert market.funds(5) == share.funds(5) == paper.funds(20)
    assert (market.supply, market.demand, market.buyers) == (paper.supply, 950, 200)
    assert (sum(share.supply), share.demand, share.buyers) == (251, 238, 50)  # rounded per item
    assert market.resized(5, 20, "market") == market


def test_rules_that_cannot_be_made_smaller_say_so() -> None:
    few = [{**ITEM, "quantity": 4}, {**COFFEE, "quantity": 4}]
    with pytest.raises(ValueError, match="3 buyers cannot share 2 wanted units"):
        make(items=few, demand_ratio=1.0, buyers=8).resized(7, 20, "share")


def test_retail_of_the_auction_alone_is_one_decision_a_round() -> None:
    rules = make(retail="induced", induced={}, steps=3, bidding_rounds=2)
    assert rules.decisions_per_seat == 6


WRONG: list[tuple[dict[str, Any], str]] = [
    ({"stepps": 3}, "stepps"),
    ({"steps": 0}, "steps"),
    ({"steps": 2.0}, "steps"),
    ({"steps": True}, "steps"),
    ({"steps": "6"}, "steps"),
    ({"steps": 10**12}, "steps"),
    ({"bidding_rounds": 0}, "bidding_rounds"),
    ({"items": []}, "items"),
    ({"items": [ITEM, ITEM]}, "items: two items"),
    ({"items": [{**ITEM, "base": 0}]}, "base"),
    ({"items": [{**ITEM, "base": 2**63}]}, "base"),
    ({"items": [{**ITEM, "quantity": -1}]}, "quantity"),
    ({"items": [{**ITEM, "item": ""}]}, r"items.0.item"),
    ({"items": [{**ITEM, "colour": "red"}]}, "colour"),
    ({"personas": {}}, "personas"),
    ({"personas": {"All": {**PERSONA, "share": 0.9}}}, "personas: the shares add up to 0.9"),
    ({"personas": {"All": {**PERSONA, "share": 1.1}}}, "share"),
    ({"personas": {"All": {**PERSONA, "sensitivity": -1}}}, "sensitivity"),
    ({"personas": {"All": {**PERSONA, "theme": ""}}}, "theme"),
    ({"buyers": 11}, "buyers: 11 buyers cannot share 10"),
    ({"demand_ratio": 0}, "demand_ratio"),
    ({"supply_scale": 1e300}, "supply_scale"),
    ({"tier_affinity": {"Some": {"plain": 1}}}, "tier_affinity: lacks All and does not know Some"),
    ({"tier_affinity": {"All": {"plain": 1, "fine": 1}}}, "tier_affinity.All: does not know fine"),
    ({"tier_affinity": {"All": {"plain": 0}}}, "tier_affinity.All: at least one tier"),
    (
        {"items": [ITEM, COFFEE], "tier_affinity": {"All": {"plain": 1, "fine": 0}}},
        "tier_affinity: an affinity of zero",
    ),
    ({"willingness_to_pay": {"All": [2, 1]}}, "willingness_to_pay.All: the low end"),
    ({"willingness_to_pay": {"All": [-1, 1]}}, "willingness_to_pay"),
    ({"willingness_to_pay": {}}, "willingness_to_pay: lacks All"),
    ({"attention": {"tau": 0}}, "tau"),
    ({"attention": {"rho": 1.5}}, "rho"),
    ({"attention": {"K_max": 5}}, "K_max"),
    ({"attention": {"similarity": "words"}}, "similarity"),
    ({"funds_alpha": 0}, "funds_alpha"),
    ({"funds_alpha": 1e9, "items": [{**ITEM, "base": 10**9}]}, "funds_alpha: initial funds"),
    ({"initial_funds": 0}, "initial_funds"),
    ({"initial_funds": 10**16}, "initial_funds"),
    ({"holding_cost": -0.1}, "holding_cost"),
    ({"fixed_cost": -1}, "fixed_cost"),
    ({"fixed_cost": 0.5}, "fixed_cost"),
    ({"terminal_stock": "nothing"}, "terminal_stock"),
    ({"terminal_stock": {"salvage": 2}}, "salvage"),
    ({"price_cap": 0.9}, "price_cap"),
    ({"tick": 0}, "tick"),
    ({"tick": 7, "price_cap": 1.0}, "tick: no multiple of 7 lies between"),
    ({"lines_per_item": 0}, "lines_per_item"),
    ({"pricing": "first"}, "pricing"),
    ({"ties": "first"}, "ties"),
    ({"over_budget": "credit"}, "over_budget"),
    ({"round_rule": "up"}, "round_rule"),
    ({"bid_feedback": "all"}, "bid_feedback"),
    ({"slogan_words": 0}, "slogan_words"),
    ({"retail": "induced"}, "induced: is given exactly"),
    ({"induced": {}}, "induced: is given exactly"),
    ({"retail": "induced", "induced": {"low": 9, "high": 3}}, "low is above high"),
    ({"items": [{**ITEM, "base": 10**9, "quantity": 10**9}], "funds_alpha": 1e-9}, "items: more"),
]


@pytest.mark.parametrize(("changes", "named"), WRONG, ids=[named[:40] for _, named in WRONG])
def test_a_wrong_rule_is_refused_and_named(changes: dict[str, Any], named: str) -> None:
    with pytest.raises(ValidationError, match=named):
        make(**changes)


def test_a_user_is_told_the_key_in_one_sentence() -> None:
    with pytest.raises(ConfigError, match=r"rules\.tick"):
        load("arena/paper", ["rules.tick=0"])
    with pytest.raises(ConfigError, match="buyers"):
        load("arena/paper", ["rules.buyers=951"])


def test_sums_of_money_stay_within_what_tables_hold() -> None:
    # Without a cap a unit may cost 10**12: as many as fit are allowed, and no more.
    units = MOST_TRADE // 10**12
    item = {**ITEM, "quantity": units, "base": 1}
    assert make(items=[item], price_cap=None, steps=1, demand_ratio=1.0).supply == [units]
    with pytest.raises(ValidationError, match="items: more money"):
        make(items=[item], price_cap=None, steps=1, demand_ratio=1.1)


def test_rules_cannot_be_changed() -> None:
    with pytest.raises(ValidationError, match="frozen"):
        make().steps = 3  # type: ignore[misc]
