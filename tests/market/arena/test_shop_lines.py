"""The market is told in one line per retailer, oneself first, the others by revenue."""

from __future__ import annotations

from market.arena.shop_lines import shop_lines
from market.environment import Decision, Form, Observation

RULES = {"items": [{"item": "tea"}, {"item": "jam"}]}
MARKET = {
    "retailers": {
        "Ann": {"prices": {"tea": 5}, "sold": {"tea": 2}, "slogan": ""},
        "Bob": {"prices": {"tea": 4, "gold": 9}, "sold": {"tea": 30}, "slogan": 'Say "tea"!'},
        "Cem": {"prices": {}, "sold": {}, "slogan": ""},
    }
}


def after(name: str, market: object = MARKET, rules: object = RULES) -> Decision:
    observation = Observation(rules, {"market": market}, {"name": name})  # type: ignore[arg-type]
    return Decision(2, 0, "a", "bid", observation, Form({}, None))


def test_a_retailer_comes_first_in_its_own_market_and_is_told_that_it_is_meant() -> None:
    mine, *others = shop_lines(after("Ann"))
    assert mine.startswith("Ann")
    assert mine.endswith(": tea 5/2")
    assert mine != "Ann: tea 5/2"
    assert [line[:3] for line in others] == ["Bob", "Cem"]


def test_all_others_are_told_the_same_line_of_a_retailer() -> None:
    of_ann, of_bob = shop_lines(after("Ann")), shop_lines(after("Bob"))
    assert "Ann: tea 5/2" in of_bob
    assert set(of_ann[1:]) & set(of_bob[1:]) == {of_ann[-1]}


def test_whoever_is_not_in_the_market_is_told_of_all_by_revenue() -> None:
    assert [line[:3] for line in shop_lines(after("Zoe"))] == ["Bob", "Ann", "Cem"]


def test_an_item_that_the_rules_do_not_know_is_not_told() -> None:
    assert not any("gold" in line for line in shop_lines(after("Ann")))


def test_an_equal_market_that_is_another_is_told_as_it_is() -> None:
    before = shop_lines(after("Ann"))
    changed = {"retailers": {**MARKET["retailers"], "Cem": MARKET["retailers"]["Ann"]}}
    assert shop_lines(after("Ann", changed)) != before
    assert shop_lines(after("Ann")) == before


def test_a_market_that_is_freed_lends_its_lines_to_no_other() -> None:
    for price in range(200):
        shop = {"prices": {"tea": price}, "sold": {"tea": 1}, "slogan": ""}
        decision = after("Zoe", {"retailers": {"Ann": shop}})
        assert shop_lines(decision) == [f"Ann: tea {price}/1"]
