"""What holds of every round of the sealed-bid auction."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from market.arena.auction import MOST, ItemTerms, Line, Reason, Terms, clear, judge
from tests.market.arena.sealed_bids import first_comes, terms, written

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
