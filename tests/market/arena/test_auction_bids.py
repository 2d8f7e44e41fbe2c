"""Reading a bid: what stands of each line, and why not more."""

from __future__ import annotations

import itertools

import pytest

from market.arena.auction import MOST, Line, Reason, judge, whole
from tests.market.arena.sealed_bids import judged, standing, terms, written


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        (("a", 5, 10), None),
        (("a", 5, 40), None),
        (("b", 5, 4000), None),
        (("a", 0, 10), None),
        (("c", 5, 10), Reason.UNKNOWN_ITEM),
        (("", 5, 10), Reason.UNKNOWN_ITEM),
        (("a", -1, 10), Reason.NEGATIVE),
        (("a", 1, -10), Reason.NEGATIVE),
        (("a", 5, 9), Reason.BELOW_BASE),
        (("a", 5, 0), Reason.BELOW_BASE),
        (("a", 0, 0), Reason.BELOW_BASE),
        (("a", 5, 41), Reason.ABOVE_CAP),
    ],
)
def test_a_line_is_void_by_itself_with_its_reason(line, reason):
    stands = 0 if reason else line[1]
    assert judged([line, ("b", 1, 20)]) == [(stands, reason), (1, None)]


def test_a_price_off_the_tick_is_void():
    assert judged([("a", 1, 15), ("a", 1, 12)], tick=5) == [(1, None), (0, Reason.OFF_TICK)]


def test_lines_beyond_the_limit_are_void_and_void_lines_take_no_place():
    lines = [("a", 1, 9), ("a", 1, 11), ("a", 1, 12), ("b", 1, 20), ("a", 1, 13)]
    assert judged(lines, lines_per_item=2) == [
        (0, Reason.BELOW_BASE),
        (1, None),
        (1, None),
        (1, None),
        (0, Reason.TOO_MANY_LINES),
    ]


def test_integers_may_be_spelled_with_a_point():
    (line,) = judge([{"item": "a", "quantity": 5.0, "price": 12.0}], terms(), 1000)
    assert line == Line("a", 5, 12, 5)
    assert type(line.quantity) is type(line.price) is int


@pytest.mark.parametrize("huge", [10**400, 1e300, 2**63])
def test_huge_numbers_are_harmless(huge):
    assert whole(huge) == MOST
    assert whole(-huge) == -MOST
    for over_budget in ("void", "trim"):
        lines = judge(
            [
                {"item": "a", "quantity": huge, "price": huge},
                {"item": "b", "quantity": 1, "price": -huge},
                {"item": "b", "quantity": -huge, "price": 20},
                {"item": "b", "quantity": huge, "price": huge},
                {"item": "b", "quantity": 1, "price": 20},
            ],
            terms(over_budget=over_budget),
            1000,
        )
        assert [line.stands for line in lines] == [0] * 5
        assert all(abs(number) <= MOST for line in lines for number in (line.quantity, line.price))


def test_the_name_of_an_unknown_item_is_kept_short():
    (line,) = judge(written(("x" * 60_000, 1, 10)), terms(), 1000)
    assert line.reason is Reason.UNKNOWN_ITEM
    assert len(line.item) == 64


def test_over_budget_voids_the_whole_bid_and_keeps_earlier_reasons():
    lines = [("a", 1, 10), ("a", 1, 9), ("b", 5, 20)]
    assert judged(lines, funds=109, over_budget="void") == [
        (0, Reason.OVER_BUDGET),
        (0, Reason.BELOW_BASE),
        (0, Reason.OVER_BUDGET),
    ]


def test_a_bid_of_exactly_the_funds_stands_and_void_lines_cost_nothing():
    lines = [("a", 1, 10), ("a", 1000, 9), ("b", 5, 20)]
    assert judged(lines, funds=110) == [(1, None), (0, Reason.BELOW_BASE), (5, None)]


def test_the_budget_counts_quantities_as_written_not_what_could_be_won():
    (line,) = judge(written(("a", 500, 10)), terms(), 4999)
    assert (line.quantity, line.stands, line.reason) == (500, 0, Reason.OVER_BUDGET)


def test_trim_cuts_the_line_that_passes_the_budget_and_drops_the_rest():
    lines = [("a", 3, 10), ("b", 4, 20), ("a", 1, 10), ("b", 0, 20)]
    assert judged(lines, funds=89, over_budget="trim") == [
        (3, None),
        (2, Reason.OVER_BUDGET),  # 59 left buys 2, and the 19 that remain are not bid
        (0, Reason.OVER_BUDGET),
        (0, None),
    ]


def test_without_funds_nothing_stands():
    for over_budget in ("void", "trim"):
        assert judged([("a", 1, 10)], funds=0, over_budget=over_budget) == [(0, Reason.OVER_BUDGET)]


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        (("a", 5, 20), None),
        (("a", 4, 25), None),
        (("a", 0, 30), None),
        (("a", 6, 20), Reason.NOT_MONOTONE),
        (("a", 5, 19), Reason.NOT_MONOTONE),
        (("b", 1, 20), Reason.NOT_MONOTONE),
    ],
)
def test_monotone_allows_a_higher_price_and_a_smaller_quantity(line, reason):
    rules = terms(round_rule="monotone")
    before = judge(written(("a", 5, 20), ("b", 3, 10)), rules, 1000)
    (after,) = judge(written(line), rules, 1000, before)
    assert after.reason is reason


def test_monotone_binds_neither_the_first_round_nor_a_free_auction():
    rules = terms(round_rule="monotone")
    assert judge(written(("a", 5, 20)), rules, 1000)[0].reason is None
    assert judge(written(("a", 5, 20)), rules, 1000, ())[0].reason is Reason.NOT_MONOTONE
    assert judge(written(("a", 5, 20)), terms(), 1000, ())[0].reason is None


def test_monotone_follows_the_units_of_a_demand_schedule_in_any_order_of_lines():
    rules = terms(round_rule="monotone")
    before = standing((4, 30), (4, 20))
    for after in itertools.permutations([("a", 4, 32), ("a", 2, 20), ("a", 2, 25)]):
        assert all(line.reason is None for line in judge(written(*after), rules, 1000, before))
    withdrawn = judge(written(("a", 4, 20)), rules, 1000, before)
    assert withdrawn[0].reason is None
    twice = judge(written(("a", 3, 20), ("a", 3, 20)), rules, 1000, before)
    assert [line.reason for line in twice] == [None, Reason.NOT_MONOTONE]
