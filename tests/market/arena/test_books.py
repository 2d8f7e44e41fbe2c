"""Accounts, worked by hand."""

from __future__ import annotations

from typing import Any

import pytest

from market.arena.books import DEFAULT, MONEY
from market.play import Played
from tests.market.arena.tea_market import episode, market, says, seen, standing


def test_goods_sold_cost_their_average_and_the_remainder_stays() -> None:
    played = episode(
        market(demand_ratio=0.1, buyers=1),
        ann=says({1: [(1, 14), (2, 13)]}, {1: (20, ""), 2: (20, "")}),
    )
    first, second = standing(played, "ann", 1), standing(played, "ann", 2)
    assert (first.spend, first.cost_of_goods, first.profit) == (40, 13, 7)  # 40 // 3
    assert first.net_worth == 180 + min(27, 20)
    assert (second.cost_of_goods, second.write_down, second.profit) == (13, 0, 7)  # 27 // 2
    assert played.scores["ann"] == 14
    assert [offer.cost for offer in played.rows("offers")] == [13, 13]


@pytest.mark.parametrize(("salvage", "worth"), [(0.0, 0), (0.5, 5), (0.77, 7), (1.0, 10)])
def test_salvage_counts_the_lesser_of_cost_and_base(salvage: float, worth: int) -> None:
    played = episode(
        market(demand_ratio=0.1, buyers=1, terminal_stock={"salvage": salvage}),
        ann=says({1: [(1, 14), (2, 13)]}, {1: (20, ""), 2: (20, "")}),
    )
    last = standing(played, "ann", 2)
    assert (last.stock, last.write_down) == (1, 14 - worth)
    assert played.scores["ann"] == 40 - 40 + worth


def test_holding_is_paid_for_what_is_left_after_selling() -> None:
    played = episode(
        market(holding_cost=0.25, demand_ratio=0.5), ann=says({1: [(7, 10)]}, {1: (12, "")})
    )
    assert standing(played, "ann", 1).holding == 2 * 3  # 2.5 is rounded half up
    assert standing(played, "ann", 1).funds == 200 - 70 + 60 - 6
    assert seen(played, "ann", 2).private["last"]["holding"] == 6


def poor(**changes: Any) -> Played:
    """Ann spends half her funds and sells nothing; Bob does nothing and can pay."""
    rules = {"steps": 4, "initial_funds": 100, "fixed_cost": 60, "terminal_stock": {"salvage": 0.5}}
    shop = dict.fromkeys((1, 2, 3, 4), (99, "Dear tea"))
    buyers = {"willingness_to_pay": {"Secretive": (1.0, 2.0)}}
    return episode(
        market(**{**rules, **buyers, **changes}),
        ann=says({1: [(5, 10)], 2: []}, shop),
        bob=says(),
    )


def test_costs_beyond_funds_are_raised_by_selling_stock_at_salvage() -> None:
    row = standing(poor(), "ann", 1)
    # 10 are missing: two units of cost 20 bring 10.
    assert (row.funds, row.stock, row.liquidated, row.shortfall) == (0, 3, -10, 0)
    assert (row.net_worth, row.profit, row.solvent) == (30, -60 - 10, True)


def test_who_cannot_pay_leaves_for_good_with_nothing_and_the_rest_is_a_default() -> None:
    played = poor()
    row = standing(played, "ann", 2)
    # Three units bring 15; 45 of the 60 stay unpaid.
    assert (row.funds, row.stock, row.net_worth, row.solvent) == (0, 0, 0, False)
    assert (row.liquidated, row.shortfall) == (15 - 30, 45)
    assert row.profit == -60 - 15 + 45
    assert played.scores["ann"] == -100
    assert played.scores["bob"] == -100
    assert played.environment._books.ledger.balance(DEFAULT, MONEY) == -45 - 20
    assert {d.step for d, _ in played.history if d.seat == "ann"} == {1, 2}
    assert {row.step for row in played.rows("slogans") if row.seat == "ann"} == {1, 2}
    assert standing(played, "ann", 3).profit == standing(played, "ann", 4).profit == 0


def test_who_left_stays_in_every_index() -> None:
    played = poor(fixed_cost=0, holding_cost=5.0)
    assert not standing(played, "ann", 2).solvent
    index = {
        row.index: row.value for row in played.rows("indices") if row.step == 4 and not row.item
    }
    assert index["gini_net_worth"] == pytest.approx(0.5)  # 0 and 100
    assert index["cr4_net_worth"] == 1
    assert index["active_offered"] == 0
    result = played.environment.result
    assert result.seats["ann"].metrics["profit"] == -100
    assert result.totals["gini_net_worth"] == pytest.approx(0.5)


def test_stock_is_liquidated_from_the_cheapest_item_up() -> None:
    items = [
        {"item": "coffee", "tier": "plain", "quantity": 5, "base": 20},
        {"item": "tea", "tier": "plain", "quantity": 5, "base": 10},
    ]
    rules = market(items=items, steps=1, initial_funds=50, fixed_cost=12)
    lines = {1: [(1, 20, "coffee"), (3, 10, "tea")]}
    played = episode(rules, ann=says(lines))
    account = played.environment._books.accounts["ann"]
    assert account.units == [1, 1]
    assert (account.funds, account.tally.profit) == (20 - 12, 0)
    assert standing(played, "ann", 1).liquidated == 0  # valued at cost


def test_an_episode_that_nobody_survives_is_recorded_to_its_end() -> None:
    played = episode(market(steps=3, initial_funds=5, fixed_cost=9), ann=says(), bob=says())
    assert {decision.step for decision, _ in played.history} == {1}
    rows = played.rows("standings")
    assert [(row.step, row.net_worth) for row in rows if row.seat == "ann"] == [
        (1, 0), (2, 0), (3, 0),
    ]  # fmt: skip
    assert played.scores == {"ann": -5, "bob": -5}


def test_without_stock_and_means_a_retailer_is_stranded_and_still_asked() -> None:
    played = episode(market(initial_funds=9), ann=says())
    assert standing(played, "ann", 1).stranded
    assert standing(played, "ann", 1).solvent
    assert {decision.step for decision, _ in played.history} == {1, 2}
    assert not standing(episode(market(initial_funds=10), ann=says()), "ann", 1).stranded


def test_an_item_that_is_not_held_has_no_place_in_the_shop_unless_the_rules_allow() -> None:
    def shops(**changes: Any) -> tuple[list[bool], int]:
        played = episode(
            market(steps=1, **changes),
            ann=says({1: [(2, 10)]}, {1: (12, "")}),
            bob=says(shop={1: (11, "")}),
        )
        open_ = [row.open for row in played.rows("slogans")]
        return open_, standing(played, "bob", 1).failed

    assert shops() == ([True, False], 0)
    assert shops(stockless_offers="allowed") == ([True, True], 5)


def test_stock_is_redeemed_at_private_values_as_far_as_it_is_wanted() -> None:
    rules = market(retail="induced", induced={"low": 30, "high": 30, "units": 2})
    played = episode(rules, ann=says({1: [(3, 12)]}), bob=says({1: [(4, 11)], 2: []}))
    assert seen(played, "ann", 1).private["values"] == {"tea": 30}
    assert {decision.kind for decision, _ in played.history} == {"bid"}
    row = standing(played, "ann", 1)
    assert (row.won, row.sold, row.stock, row.revenue) == (3, 2, 1, 60)
    assert standing(played, "ann", 2).sold == 1
    assert played.scores == {"ann": 3 * 18, "bob": 4 * 19}
