"""The sealed-bid auction against tables made by hand, and what must hold of every round."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from market import rng
from market.arena.auction import (
    MOST,
    Award,
    Clearing,
    ItemClearing,
    ItemTerms,
    Line,
    Reason,
    Terms,
    clear,
    judge,
    whole,
)

ITEMS = {"a": ItemTerms(10, 40), "b": ItemTerms(20)}


def terms(**changes) -> Terms:
    return Terms(**{"items": ITEMS, "lines_per_item": 3} | changes)


def written(*lines: tuple[str, int, int]) -> list[dict]:
    return [{"item": item, "quantity": units, "price": price} for item, units, price in lines]


def judged(lines: Sequence[tuple[str, int, int]], funds: int = 10**6, **changes):
    """What stands of each line, and why not more."""
    return [(line.stands, line.reason) for line in judge(written(*lines), terms(**changes), funds)]


def standing(*lines: tuple[int, int], item: str = "a") -> tuple[Line, ...]:
    return tuple(Line(item, units, price, units) for units, price in lines)


def first_comes(*seats: str):
    """Luck that favours seats in this order, whatever the item."""
    return lambda _item, seat: seats.index(seat)


def cleared(
    bids: Mapping[str, Sequence[Line]], supply: int, *, order: str = "xyz", **changes
) -> Clearing:
    return clear(bids, {"a": supply}, terms(**changes), first_comes(*order))


def units(clearing: Clearing) -> dict[str, list[int]]:
    return {seat: [award.units for award in won] for seat, won in clearing.awards.items()}


# --- reading a bid -----------------------------------------------------------------------------


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


# --- clearing ----------------------------------------------------------------------------------


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


# --- what holds of every round -----------------------------------------------------------------

SEATS = "uvwxyz"
prices = st.integers(8, 16)
quantities = st.integers(-1, 12)
lines = st.lists(st.tuples(st.sampled_from(["a", "b", "c"]), quantities, prices), max_size=6)
answers = st.dictionaries(st.sampled_from(SEATS), lines)
orders = st.permutations(SEATS)
rules = st.builds(
    Terms,
    items=st.just({"a": ItemTerms(10, 15), "b": ItemTerms(9)}),
    lines_per_item=st.integers(1, 3),
    ties=st.sampled_from(["random", "prorata"]),
    over_budget=st.sampled_from(["void", "trim"]),
    pricing=st.sampled_from(["discriminatory", "uniform"]),
)
supplies = st.fixed_dictionaries({"a": st.integers(0, 30), "b": st.integers(0, 30)})


@given(answers, rules, supplies, st.integers(0, 400), orders)
def test_no_winner_pays_more_than_its_funds_and_no_unit_is_made(
    answers, rules, offers, funds, order
):
    bids = {seat: judge(written(*lines), rules, funds) for seat, lines in answers.items()}
    clearing = clear(bids, offers, rules, first_comes(*order))
    sold = dict.fromkeys(offers, 0)
    for seat, awards in clearing.awards.items():
        assert sum(award.paid for award in awards) <= funds
        for line, award in zip(bids[seat], awards, strict=True):
            assert 0 <= award.units <= line.stands <= max(line.quantity, 0)
            assert line.reason or line.stands == line.quantity
            assert award.paid <= award.units * line.price
            if award.units:
                assert award.paid >= award.units * rules.items[line.item].base
                sold[line.item] += award.units
    for item, outcome in clearing.items.items():
        assert sold[item] == min(offers[item], outcome.asked)


@given(answers, rules, supplies, orders)
def test_a_higher_valid_bid_never_loses_to_a_lower_one(answers, rules, offers, order):
    bids = {seat: judge(written(*lines), rules, 10**6) for seat, lines in answers.items()}
    clearing = clear(bids, offers, rules, first_comes(*order))
    for item in offers:
        book = [
            (line.price, line.stands, award.units)
            for seat, awards in clearing.awards.items()
            for line, award in zip(bids[seat], awards, strict=True)
            if line.item == item and line.stands
        ]
        lowest_winning = min((price for price, _, got in book if got), default=MOST)
        assert all(got == stands for price, stands, got in book if price > lowest_winning)


@given(answers, rules, supplies, orders, st.data())
def test_raising_a_price_never_lowers_the_allocation(answers, rules, offers, order, data):
    bids = {seat: judge(written(*lines), rules, 10**6) for seat, lines in answers.items()}
    own = [
        (seat, index) for seat in bids for index, line in enumerate(bids[seat]) if line.stands > 0
    ]
    if not own:
        return
    seat, index = data.draw(st.sampled_from(own))
    line = bids[seat][index]
    higher = Line(line.item, line.quantity, line.price + data.draw(st.integers(1, 5)), line.stands)
    raised = {**bids, seat: (*bids[seat][:index], higher, *bids[seat][index + 1 :])}

    def won(bids) -> int:
        awards = clear(bids, offers, rules, first_comes(*order)).awards[seat]
        return sum(
            award.units
            for other, award in zip(bids[seat], awards, strict=True)
            if other.item == line.item
        )

    assert won(raised) >= won(bids)


@given(answers, rules, supplies, orders)
def test_the_order_in_which_seats_are_given_changes_nothing(answers, rules, offers, order):
    bids = {seat: judge(written(*lines), rules, 300) for seat, lines in answers.items()}
    backwards = dict(reversed(bids.items()))
    assert clear(bids, offers, rules, first_comes(*order)) == clear(
        backwards, offers, rules, first_comes(*order)
    )


@given(lines, lines, st.permutations(range(6)))
def test_monotone_judges_a_bid_alike_in_any_order_of_its_lines(before, after, order):
    rules = terms(round_rule="monotone", lines_per_item=6)
    earlier = judge(written(*before), rules, 10**6)
    shuffled = [after[index] for index in order if index < len(after)]

    def accepted(lines) -> bool:
        judged = judge(written(*lines), rules, 10**6, earlier)
        return all(line.reason is not Reason.NOT_MONOTONE for line in judged)

    assert accepted(after) == accepted(shuffled)
    assert accepted(before)


# --- demand reduction: two bidders, two units, value 20 each, base 10 --------------------------

VALUE = 20
DUOPOLY = {"a": ItemTerms(10)}


def duopoly_profit(own, rival, order: str, **changes) -> int:
    rules = Terms(DUOPOLY, lines_per_item=2, ties="prorata", **changes)
    bids = {
        seat: judge(written(*(("a", *line) for line in lines)), rules, 1000)
        for seat, lines in (("x", own), ("y", rival))
    }
    awards = clear(bids, {"a": 2}, rules, first_comes(*order)).awards["x"]
    return sum(award.units * VALUE - award.paid for award in awards)


def best_profit(rival, order: str, **changes) -> int:
    """The best of all bids of one or two lines that ask for no more than the two units."""
    prices = range(10, 23)
    bids = [[(units, price)] for units in (1, 2) for price in prices]
    bids += [[(1, price), (1, other)] for price in prices for other in prices]
    return max(duopoly_profit(own, rival, order, **changes) for own in bids)


@pytest.mark.parametrize("order", ["xy", "yx"])
def test_uniform_pricing_rewards_bidding_for_one_unit_only(order):
    one_each = [(1, 20)]
    assert duopoly_profit(one_each, one_each, order, pricing="uniform") == 10
    assert best_profit(one_each, order, pricing="uniform") == 10


@pytest.mark.parametrize("order", ["xy", "yx"])
def test_discriminatory_pricing_tempts_to_outbid(order):
    one_each = [(1, 10)]
    lucky = order == "xy"
    assert duopoly_profit(one_each, one_each, order) == 10
    assert duopoly_profit([(2, 11)], one_each, order) == 10 + 8
    assert duopoly_profit([(1, 11), (1, 10)], one_each, order) == (10 + 9 if lucky else 9)
    assert best_profit(one_each, order) == 10 + (9 if lucky else 8)


@pytest.mark.parametrize("order", ["xy", "yx"])
def test_prorata_shares_reward_asking_for_more_than_there_is(order):
    assert duopoly_profit([(2, 10), (2, 10)], [(1, 10)], order) == 20


# --- the auction alone, with induced values: known answers of auction theory -------------------

SCALE = 10_000


def expected_rival(count: int, winners: int, value: float) -> float:
    """E[the winners-th highest of count - 1 uniform rivals, given that it is below the value]."""
    from scipy import integrate, stats

    rival = stats.beta(count - winners, winners)
    mass, _ = integrate.quad(lambda x: x * rival.pdf(x), 0, value)
    return mass / rival.cdf(value)


def induced(count, winners, bid, *, rounds=1500, pricing="discriminatory", scale_of_x0=1.0):
    """Mean price of a unit, efficiency, and profit per bidder and of bidder x0, in values of 1."""
    rules = Terms({"good": ItemTerms(0)}, pricing=pricing)
    luck = rng.draws(count * 100 + winners, "induced values")
    paid = value_won = value_best = profit_of_first = 0
    for number in range(rounds):
        values = {f"x{seat}": luck.integer(0, SCALE) for seat in range(count)}
        bids = {}
        for seat, value in values.items():
            price = bid(value, luck) * (scale_of_x0 if seat == "x0" else 1.0)
            bids[seat] = judge(written(("good", 1, int(price))), rules, 2 * SCALE)
        awards = clear(
            bids,
            {"good": winners},
            rules,
            lambda item, seat, number=number: rng.key(1, "tie", number, item, seat),
        ).awards
        for seat, (award,) in awards.items():
            paid += award.paid
            value_won += values[seat] * award.units
            if seat == "x0":
                profit_of_first += values[seat] * award.units - award.paid
        value_best += sum(sorted(values.values())[-winners:])
    return {
        "price": paid / (rounds * winners * SCALE),
        "efficiency": value_won / value_best,
        "profit": (value_won - paid) / (rounds * count * SCALE),
        "profit_x0": profit_of_first / (rounds * SCALE),
    }


def equilibrium(count: int, winners: int):
    grid = [expected_rival(count, winners, max(k, 1) / 200) * SCALE for k in range(201)]

    def bid(value: int, _luck) -> float:
        at, part = divmod(value * 200 / SCALE, 1)
        low = grid[int(at)]
        return low + part * (grid[min(int(at) + 1, 200)] - low) if value >= SCALE // 200 else 0.0

    return bid


@pytest.mark.parametrize(
    ("count", "winners", "at_one", "at_half"),
    [(5, 1, 0.8, 0.4), (20, 8, 0.6, 0.4395)],
)
def test_equilibrium_bids_are_those_of_the_theory(count, winners, at_one, at_half):
    assert expected_rival(count, winners, 1.0) == pytest.approx(at_one, abs=1e-4)
    assert expected_rival(count, winners, 0.5) == pytest.approx(at_half, abs=1e-4)


@pytest.mark.parametrize(
    ("count", "winners", "price"), [(5, 1, 2 / 3), (20, 1, 19 / 21), (20, 8, 12 / 21)]
)
def test_equilibrium_bids_earn_the_seller_the_price_of_the_theory(count, winners, price):
    outcome = induced(count, winners, equilibrium(count, winners))
    assert outcome["price"] == pytest.approx(price, abs=0.012)
    assert outcome["efficiency"] == pytest.approx(1.0, abs=1e-4)


def test_truthful_bids_under_uniform_pricing_earn_the_same():
    outcome = induced(20, 8, lambda value, _luck: value, pricing="uniform")
    assert outcome["price"] == pytest.approx(12 / 21, abs=0.011)
    assert outcome["efficiency"] == pytest.approx(1.0, abs=1e-9)


def test_profit_per_bidder_is_that_of_the_theory_and_scaled_bids_earn_less():
    bid = equilibrium(20, 8)
    at_equilibrium = induced(20, 8, bid)
    assert at_equilibrium["profit"] == pytest.approx(0.0857, abs=0.002)
    for scale in (0.9, 1.1):  # the same values for all three
        deviating = induced(20, 8, bid, scale_of_x0=scale)
        assert deviating["profit_x0"] < at_equilibrium["profit_x0"]


def test_zero_intelligence_is_as_efficient_as_simulated_elsewhere():
    constrained = induced(20, 8, lambda value, luck: luck.uniform() * value)
    unconstrained = induced(20, 8, lambda value, luck: luck.uniform() * SCALE)
    assert constrained["efficiency"] == pytest.approx(0.878, abs=0.01)
    assert unconstrained["efficiency"] == pytest.approx(0.636, abs=0.015)
