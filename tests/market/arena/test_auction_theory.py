"""Known answers of auction theory.

Demand reduction: two bidders, two units, value 20 each, base 10. Then the auction alone, with
induced values.
"""

from __future__ import annotations

import pytest

from market import rng
from market.arena.auction import ItemTerms, Terms, clear, judge
from tests.market.arena.sealed_bids import first_comes, written

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
