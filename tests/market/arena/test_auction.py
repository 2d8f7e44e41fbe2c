"""Clearing the sealed-bid auction, against tables made by hand."""

from __future__ import annotations

import pytest

from market.arena.auction import Award, ItemClearing, clear
from tests.market.arena.sealed_bids import cleared, first_comes, standing, terms, units


def test_the_highest_price_is_served_first_and_pays_its_own():
    clearing = cleared({"x": standing((6, 12)), "y": standing((6, 15)), "z": standing((6, 11))}, 10)
    assert clearing.awards == {"x": (Award(4, 48),), "y": (Award(6, 90),), "z": (Award(0, 0),)}
    assert clearing.items == {"a": ItemClearing(price_to_win=12, units_at_it=6, asked=18)}


def test_the_price_to_win_is_the_base_price_while_units_remain():
    clearing = cleared({"x": standing((3, 12)), "y": standing((2, 10), (1, 10))}, 10)
    assert units(clearing) == {"x": [3], "y": [2, 1]}
    assert clearing.items["a"] == ItemClearing(price_to_win=10, units_at_it=3, asked=6)
    dearer = cleared({"x": standing((3, 12)), "y": standing((3, 11))}, 10)
    assert dearer.items["a"] == ItemClearing(price_to_win=10, units_at_it=0, asked=6)


def test_supply_that_is_just_enough_leaves_no_unit_at_the_base_price():
    clearing = cleared({"x": standing((3, 12)), "y": standing((7, 11))}, 10)
    assert clearing.items["a"] == ItemClearing(price_to_win=11, units_at_it=7, asked=10)


def test_a_round_without_bids_publishes_the_base_price():
    assert clear({}, {"a": 5, "b": 5}, terms(), first_comes()).items == {
        "a": ItemClearing(10, 0, 0),
        "b": ItemClearing(20, 0, 0),
    }


def test_an_item_that_is_not_offered_awards_nothing():
    bids = {"x": (*standing((1, 12)), *standing((1, 30), item="b"))}
    clearing = cleared(bids, 0)
    assert clearing.awards == {"x": (Award(0, 0), Award(0, 0))}
    assert clearing.items == {"a": ItemClearing(10, 0, 1)}


def test_random_ties_serve_whole_seats_in_the_order_of_their_luck():
    bids = {seat: standing((4, 12)) for seat in "xyz"}
    assert units(cleared(bids, 6, order="zxy", ties="random")) == {"x": [2], "y": [0], "z": [4]}
    assert units(cleared(bids, 6, order="yzx", ties="random")) == {"x": [0], "y": [4], "z": [2]}


def test_prorata_ties_share_by_quantity_with_the_largest_remainder():
    # 10 units for 3, 5 and 7: shares 2, 3 1/3 and 4 2/3.
    bids = {"x": standing((3, 12)), "y": standing((5, 12)), "z": standing((7, 12))}
    assert units(cleared(bids, 10, order="xyz", ties="prorata")) == {"x": [2], "y": [3], "z": [5]}


def test_prorata_remainders_that_are_equal_go_by_luck():
    bids = {seat: standing((4, 12)) for seat in "xyz"}
    assert units(cleared(bids, 5, order="zxy", ties="prorata")) == {"x": [2], "y": [1], "z": [2]}
    assert units(cleared(bids, 5, order="yxz", ties="prorata")) == {"x": [2], "y": [2], "z": [1]}


def test_ties_above_the_margin_are_all_served_and_need_no_luck():
    def no_luck(item: str, seat: str) -> int:
        raise AssertionError("drawn without need")

    bids = {"x": standing((4, 12)), "y": standing((4, 12))}
    assert units(clear(bids, {"a": 8}, terms(), no_luck)) == {"x": [4], "y": [4]}


@pytest.mark.parametrize("ties", ["random", "prorata"])
def test_splitting_a_line_at_one_price_changes_nothing(ties):
    whole_line = {"x": standing((6, 12)), "y": standing((5, 12))}
    split = {"x": standing((1, 12), (3, 12), (2, 12)), "y": standing((5, 12))}
    for order in ("xy", "yx"):
        one = units(cleared(whole_line, 7, order=order, ties=ties))
        several = units(cleared(split, 7, order=order, ties=ties))
        assert sum(several["x"]) == sum(one["x"])
        assert several["y"] == one["y"]


def test_a_demand_schedule_is_served_from_its_dearest_line_down():
    clearing = cleared({"x": standing((2, 11), (2, 15)), "y": standing((3, 12))}, 6)
    assert clearing.awards == {"x": (Award(1, 11), Award(2, 30)), "y": (Award(3, 36),)}


@pytest.mark.parametrize(
    ("supply", "single"),
    [
        (10, 10),  # all served: the base price
        (9, 10),  # just all served
        (8, 11),  # a line served in part is the highest losing bid
        (6, 11),  # the next line loses as a whole
        (2, 15),
    ],
)
def test_uniform_pricing_charges_everybody_the_highest_losing_bid(supply, single):
    bids = {"x": standing((3, 15)), "y": standing((3, 13)), "z": standing((3, 11))}
    clearing = cleared(bids, supply, pricing="uniform")
    assert all(
        award.paid == award.units * single for won in clearing.awards.values() for award in won
    )
    assert sum(sum(won) for won in units(clearing).values()) == min(supply, 9)
