"""Several seats of one owner: what they see of each other, and the figures of owners."""

from __future__ import annotations

from typing import Any

import pytest

from market.arena import seating
from market.arena.policies.plans import Ware
from market.arena.policies.syndicate import Syndicate
from market.arena.views import SISTER_LINES_SHOWN, SISTERS_SHOWN
from market.config import ConfigError, load
from market.environment import Answer, Decision
from market.play import Played, play
from tests.market.arena.tea_market import episode, market, name_of, says, seen

FAMILY = {"house": ["ann", "bob"]}


def family(**changes: Any) -> Played:
    """Ann and Bob have one owner, Cid is his own; all buy in the first step, Ann sells."""
    return episode(
        market(owners=FAMILY, **changes),
        ann=says({1: [(2, 14)]}, {1: (15, "Tea")}),
        bob=says({1: [(3, 13), (5, 9)]}),
        cid=says({1: [(4, 12)]}, {1: (15, "Tea")}),
    )


def test_seats_of_one_owner_see_funds_stock_and_the_last_settled_bid_of_each_other() -> None:
    played = family()
    bob = name_of(played, "bob")
    bids = [
        {"item": "tea", "quantity": 3, "price": 13, "awarded": 3},
        {"item": "tea", "quantity": 5, "price": 9, "awarded": 0},
    ]
    stock = {"tea": {"units": 3, "cost": 39}}
    assert seen(played, "ann", 1).private["sisters"] == {
        bob: {"funds": 200, "stock": {}, "bids": []}
    }
    for step, kind in ((1, "sell"), (2, "bid")):
        assert seen(played, "ann", step, kind).private["sisters"] == {
            bob: {"funds": 161, "stock": stock, "bids": bids}
        }


def test_provisional_bids_are_not_shown_before_they_settle() -> None:
    played = family(bidding_rounds=2)
    assert "sisters" not in seen(played, "ann", 1, turn=1).private
    assert "sisters" in seen(played, "ann", 1, "sell").private


def test_a_seat_that_is_nobodys_has_no_sisters_and_is_none() -> None:
    played = family()
    assert seen(played, "cid", 2).private["sisters"] == {}
    assert name_of(played, "cid") not in seen(played, "ann", 2).private["sisters"]


def test_sisters_send_no_words() -> None:
    def whispers(decision: Decision) -> Answer:
        if decision.kind == "sell":
            return Answer({"prices": {}, "slogan": ""})
        lines = [{"item": "buy low, sister", "quantity": 1, "price": 10}]
        lines += [{"item": "tea", "quantity": 0, "price": 10}] * 50
        return Answer({"bids": lines})

    played = episode(market(owners=FAMILY, lines_per_item=100), ann=says(), bob=whispers)
    ((sister),) = seen(played, "ann", 2).private["sisters"].values()
    assert len(sister["bids"]) == SISTER_LINES_SHOWN
    assert {line["item"] for line in sister["bids"]} == {"tea"}


def test_no_more_sisters_are_seen_than_a_prompt_can_bear() -> None:
    seats = {f"seat-{number}": says() for number in range(30)}
    played = episode(market(owners={"house": ["seat"]}), **seats)
    assert len(seen(played, "seat-3", 1).private["sisters"]) == SISTERS_SHOWN


def test_a_sister_that_left_is_seen_no_more() -> None:
    def leaves(decision: Decision) -> Answer:
        if decision.kind == "bid":
            return Answer({"bids": [], "exit": True})
        return Answer({"prices": {}, "slogan": ""})

    played = episode(market(owners=FAMILY, exit="voluntary"), ann=says(), bob=leaves)
    assert seen(played, "ann", 2).private["sisters"] == {}


def test_results_carry_the_profit_of_the_owner_beside_the_seats_own() -> None:
    played = family(terminal_stock={"salvage": 0.5})
    result, scores = played.environment.result, played.scores
    both = scores["ann"] + scores["bob"]
    owners = {seat: ended.metrics["owner_profit"] for seat, ended in result.seats.items()}
    assert owners == {"ann": both, "bob": both, "cid": scores["cid"]}
    assert result.totals["owner_profit_house"] == both
    assert scores["ann"] != both


def test_concentration_is_also_that_of_owners() -> None:
    played = family()
    money = {row.seat: row.revenue for row in played.rows("standings") if row.step == 1}
    total = sum(money.values())
    index = {(r.step, r.index): r.value for r in played.rows("indices") if r.item == ""}
    expected = ((money["ann"] + money["bob"]) / total) ** 2 + (money["cid"] / total) ** 2
    assert index[1, "hhi_owners_revenue"] == pytest.approx(expected)
    assert index[1, "cr4_owners_net_worth"] == 1


def test_what_owners_have_together_comes_before_what_is_nobodys() -> None:
    owned = {"one": ("a", "c"), "two": ("d",)}
    assert seating.shares(owned, {"a": 1, "b": 2, "c": 4, "d": 8, "e": 16}) == (5, 8, 2, 16)


def test_an_owner_of_no_seat_that_plays_is_left_out() -> None:
    rules = market(owners={"one": ["a"], "two": ["b"]})
    assert seating.groups(rules, ("b-1", "b-2")) == {"two": ("b-1", "b-2")}


def test_the_objective_told_is_the_owners_profit_and_nobody_is_named() -> None:
    told = seen(family(), "cid", 1).rules
    assert told["objective"] == "owner profit"
    assert "house" not in str(dict(told))


def test_without_owners_nothing_is_told_of_them() -> None:
    played = episode(market(), ann=says())
    assert "sisters" not in seen(played, "ann", 1).private
    assert seen(played, "ann", 1).rules["objective"] == "profit"
    assert "owner_profit" not in played.environment.result.seats["ann"].metrics


def test_a_seat_has_one_owner_and_owners_have_seats() -> None:
    two = ["rules.owners={A: [alpha, beta-1], B: [beta]}"]
    with pytest.raises(ConfigError, match=r"the seat `beta-1` has two, `A` and `B`"):
        load("arena/merger", two)
    with pytest.raises(ConfigError, match=r"`rules.owners.A`: there is no seat `omega`"):
        load("arena/merger", ["rules.owners={A: [alpha, omega]}"])


@pytest.mark.parametrize(("sisters", "price"), [(None, 125), (0, 125), (4, 130), (19, 150)])
def test_a_syndicate_asks_more_by_the_part_of_lost_buyers_that_stay(
    sisters: int | None, price: int
) -> None:
    policy = Syndicate(seat="a", seed=1)
    # 4 of 19 others are the owner's: 0.25 x (1 + 4/19) = 0.3026.
    policy.diversion = (sisters or 0) / 19
    assert policy.price(Ware("tea", "plain", 10, 100, None, 1, 0), 90) == price


def test_a_merger_raises_prices_and_profits_of_the_same_scripts() -> None:
    quiet = ["rules.attention.similarity=none", "rules.steps=3"]
    merged = play("arena/merger", quiet).environment.result
    apart = play("arena/merger", [*quiet, "rules.owners=null"]).environment.result
    assert sum(seat.score for seat in merged.seats.values()) > 1.1 * sum(
        seat.score for seat in apart.seats.values()
    )
    assert merged.totals["gross_margin"] > apart.totals["gross_margin"]
    assert merged.totals["hhi_owners_revenue"] > 0.25 > 0.1 > merged.totals["hhi_revenue"]
