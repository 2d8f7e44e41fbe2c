"""Markets whose outcome is known, played whole: what theory or arithmetic says must come out.

Expectations are held to four standard errors of what was played, and the standard error is held to
a bound of its own, so that no test passes by being blind. Comparisons are paired: on one seed both
sides meet the same buyers, the same values and the same luck.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from math import sqrt
from statistics import mean, stdev
from typing import Any

import pytest
from scipy import integrate, stats

from market.arena.bounds import Demand, Uniform, best_multiple, clearing_multiple, residual_supply
from market.arena.policies.induced import equilibrium
from market.config import load, presets, rules
from market.play import Played, play

ERRORS = 4
RANGE = 10_000


def error(values: Sequence[float]) -> float:
    """The standard error of a mean."""
    return stdev(values) / sqrt(len(values))


def expect(values: Sequence[float], expected: float, error_at_most: float) -> None:
    """Hold a sample to its expectation."""
    assert error(values) < error_at_most
    assert abs(mean(values) - expected) < ERRORS * error(values)


def expect_less(values: Sequence[float], others: Sequence[float]) -> None:
    """Hold paired samples to an order."""
    gaps = [other - value for value, other in zip(values, others, strict=True)]
    assert mean(gaps) > ERRORS * error(gaps)


# One seller.


def alone(preset: str, multiple: float, seeds: range) -> list[Played]:
    """Episodes of a single seller at a price."""
    options = f"retailers.0.options={{multiple: {multiple}, premium: 0.0}}"
    config = load(preset, [options])
    return [play(config, seed=seed, events=True) for seed in seeds]


def monopoly_profits(multiple: float) -> list[float]:
    return [played.scores["monopolist"] for played in alone("arena/monopoly", multiple, range(150))]


def test_a_monopolist_earns_most_at_one_and_a_half_times_cost() -> None:
    best = monopoly_profits(1.5)
    expect(best, 23_750, 80)
    for multiple in (1.25, 1.4, 1.6, 1.75):
        expect_less(monopoly_profits(multiple), best)


@pytest.mark.parametrize("multiple", [1.25, 1.75])
def test_a_monopolist_off_the_best_price_earns_three_quarters_of_it(multiple: float) -> None:
    expect(monopoly_profits(multiple), 17_812.5, 80)


def mix(multiple: float) -> tuple[list[float], list[float]]:
    """Share of demand that buys, and profit per unit demanded in multiples of base."""
    shares, profits = [], []
    for played in alone("arena/default-mix", multiple, range(20)):
        (demand,) = played.rows("demand")
        shares.append(demand.sold / demand.wanted)
        profits.append(played.scores["monopolist"] / demand.wanted / 10_000)
    return shares, profits


def test_the_default_mix_has_its_best_price_where_half_of_demand_buys() -> None:
    shares, profits = mix(1.4412)
    expect(shares, 0.5, 0.002)
    expect(profits, 0.2206, 0.0005)
    for multiple in (1.35, 1.4, 1.48, 1.55):
        expect_less(mix(multiple)[1], profits)


def test_the_default_mix_clears_a_scarce_supply_where_theory_says() -> None:
    expect(mix(1.2521)[0], 1 / 1.4, 0.002)


def test_the_references_know_the_default_mix() -> None:
    config = rules(load("arena/default-mix"))
    weights = [persona.share for persona in config.personas.values()]
    worths = [Uniform(*config.willingness_to_pay[name]) for name in config.personas]
    demand = Demand(1, 1, 1.4, tuple(zip(weights, worths, strict=True)))
    assert best_multiple(Demand(1, 9, 1, demand.mix)) == pytest.approx(1.4412, abs=5e-5)
    assert clearing_multiple(demand) == pytest.approx(1.2521, abs=5e-5)
    default = rules(load("arena/default"))
    assert config.willingness_to_pay == default.willingness_to_pay
    assert weights == [persona.share for persona in default.personas.values()]


# Sellers who compete in price.


def test_bertrand_sellers_undercut_each_other_to_cost_plus_one_and_stay_there() -> None:
    played = play("arena/bertrand", events=True)
    prices: dict[int, set[int]] = {}
    for offer in played.rows("offers"):
        prices.setdefault(offer.step, set()).add(offer.price)
    assert prices == {step: {max(151 - step, 101)} for step in range(1, 61)}
    late = [row for row in played.rows("standings") if row.step >= 50]
    profit, revenue = sum(row.profit for row in late), sum(row.revenue for row in late)
    assert 0 < profit <= 0.01 * revenue
    assert sum(row.sold for row in late) == 11 * 500


def test_burdett_judd_buyers_pay_one_and_a_half_times_cost() -> None:
    paid = []
    for seed in range(6):
        steps: dict[int, list[Any]] = {}
        for row in play("arena/burdett-judd", seed=seed, events=True).rows("standings"):
            steps.setdefault(row.step, []).append(row)
        paid += [
            sum(row.revenue for row in rows) / sum(row.sold for row in rows) / 1_000
            for rows in steps.values()
        ]
    expect(paid, 1.5, 0.005)


def deviant(multiple: float) -> list[float]:
    """Step profit per unit demanded, in multiples of base, of one seller at a price of its own."""
    roster = (
        "retailers=[{name: seller, policy: burdett-judd, count: 19}, {name: deviant, "
        f"policy: fixed, options: {{multiple: {multiple!r}, premium: 0.0}}}}]"
    )
    config = load("arena/burdett-judd", [roster])
    return [
        row.profit / 4_000 / 1_000
        for seed in range(4)
        for row in play(config, seed=seed, events=True).rows("standings")
        if row.seat == "deviant"
    ]


@pytest.mark.parametrize("multiple", [4 / 3, 1.5, 1.75, 2.0])
def test_burdett_judd_prices_of_the_support_earn_the_same(multiple: float) -> None:
    expect(deviant(multiple), 0.025, 0.0005)


def test_a_price_below_the_support_of_burdett_judd_earns_less() -> None:
    expect(deviant(1.2), 0.015, 0.0003)


# The auction alone.


class Auctions:
    """What came of the auction alone, over steps and seeds, in units of the range of values."""

    def __init__(self, preset: str, seeds: range, *overrides: str) -> None:
        config = load(preset, overrides)
        units = rules(config).items[0].quantity
        self.prices: list[float] = []
        self.profits: list[float] = []
        self.shares: list[float] = []
        self.own: dict[str, list[float]] = {}
        self.bids: list[tuple[float, float]] = []
        for seed in seeds:
            played = play(config, seed=seed, events=True)
            values: dict[int, list[int]] = {}
            for decision, answer in played.history:
                (value,) = decision.observation.private["values"].values()
                values.setdefault(decision.step, []).append(value)
                self.bids += [
                    (value / RANGE, line["price"] / RANGE) for line in answer.action["bids"]
                ]
            steps: dict[int, list[Any]] = {}
            for row in played.rows("standings"):
                steps.setdefault(row.step, []).append(row)
                self.own.setdefault(row.seat, []).append(row.profit / RANGE)
            for step, rows in steps.items():
                won = sum(row.won for row in rows)
                self.prices.append(sum(row.spend for row in rows) / won / RANGE)
                self.profits.append(sum(row.profit for row in rows) / len(rows) / RANGE)
                best = sum(sorted(values[step])[-units:])
                self.shares.append(sum(row.revenue for row in rows) / best)

    def near(self, value: float) -> float:
        """Mean bid at values near to one."""
        return mean(bid for worth, bid in self.bids if abs(worth - value) < 0.01)


def test_five_bidders_for_one_unit_pay_two_thirds() -> None:
    auctions = Auctions("arena/auction-5-1", range(4))
    expect(auctions.prices, 2 / 3, 0.005)
    assert auctions.near(0.9) == pytest.approx(0.8 * 0.9, abs=0.002)
    assert mean(auctions.shares) == pytest.approx(1, abs=1e-5)


def test_twenty_bidders_for_one_unit_pay_nineteen_parts_of_twenty_one() -> None:
    auctions = Auctions("arena/auction-20-1", range(2))
    expect(auctions.prices, 19 / 21, 0.003)
    assert mean(auctions.shares) == pytest.approx(1, abs=1e-5)


def test_twenty_bidders_for_eight_units_bid_pay_and_earn_what_theory_says() -> None:
    auctions = Auctions("arena/auction-20-8", range(2))
    expect(auctions.prices, 0.5714, 0.003)
    expect(auctions.profits, 0.0857, 0.001)
    assert auctions.near(1.0) == pytest.approx(0.6, abs=0.002)
    assert auctions.near(0.5) == pytest.approx(0.4395, abs=0.002)
    assert mean(auctions.shares) == pytest.approx(1, abs=1e-5)


@pytest.mark.parametrize(
    ("bidders", "units", "value"), [(5, 1, 0.7), (20, 1, 1.0), (20, 8, 1.0), (20, 8, 0.5)]
)
def test_the_equilibrium_bid_is_what_the_best_losing_rival_is_worth(
    bidders: int, units: int, value: float
) -> None:
    rival = stats.beta(bidders - units, units)  # the m-th highest of n - 1 uniform values
    integral, _ = integrate.quad(lambda worth: worth * rival.pdf(worth), 0, value)
    assert equilibrium(value, bidders, units) == pytest.approx(integral / rival.cdf(value))


def test_a_bidder_off_the_equilibrium_earns_less() -> None:
    def earned(scale: float) -> list[float]:
        roster = (
            "retailers=[{name: bidder, policy: induced, count: 19}, {name: deviant, "
            f"policy: induced, options: {{scale: {scale}}}}}]"
        )
        return Auctions("arena/auction-20-8", range(3), roster).own["deviant"]

    equilibrium_profit = earned(1.0)
    expect_less(earned(0.9), equilibrium_profit)
    expect_less(earned(1.1), equilibrium_profit)


def test_zero_intelligence_bounded_by_value_realises_most_of_the_gain() -> None:
    expect(Auctions("arena/zero-intelligence", range(2)).shares, 0.878, 0.003)


def test_zero_intelligence_without_bounds_realises_less() -> None:
    free = Auctions("arena/zero-intelligence", range(2), "retailers.0.options={constrained: false}")
    expect(free.shares, 0.636, 0.005)


# Two bidders who leave each other a unit.


def reduced(pricing: str, lines: Sequence[tuple[int, int]], rival: int) -> list[float]:
    """Profit, by seed, of (quantity, price) lines against a rival that bids for one unit."""
    bids = ", ".join(f"{{item: good, quantity: {q}, price: {p}}}" for q, p in lines)
    config = load(
        "arena/demand-reduction",
        [
            f"rules.pricing={pricing}",
            f"retailers.0.options={{bids: [{bids}]}}",
            f"retailers.1.options={{bids: [{{item: good, quantity: 1, price: {rival}}}]}}",
        ],
    )
    return [play(config, seed=seed).scores["bidder"] for seed in range(6)]


def best_response(pricing: str, rival: int) -> tuple[float, float]:
    """The most that one line or two can earn for certain, and with luck at ties."""
    prices = (9, 10, 11, 12, 19, 20, 21)
    answers = [[(units, price)] for units in (1, 2) for price in prices]
    answers += [[(1, high), (1, low)] for high, low in product(prices, prices) if high > low]
    earned = [reduced(pricing, lines, rival) for lines in answers]
    return max(map(min, earned)), max(map(max, earned))


def test_with_a_uniform_price_leaving_a_unit_to_the_rival_is_the_best_response() -> None:
    assert set(reduced("uniform", [(1, 20)], rival=20)) == {10}
    assert best_response("uniform", rival=20) == (10, 10)


def test_who_pays_its_bid_gains_by_outbidding_a_rival_that_holds_back() -> None:
    assert set(reduced("discriminatory", [(1, 10)], rival=10)) == {10}
    assert set(reduced("discriminatory", [(2, 11)], rival=10)) == {18}
    certain, lucky = best_response("discriminatory", rival=10)
    assert (certain - 10, lucky - 10) == (8, 9)
    # The same by the residual supply: a unit at base, and one that must outbid the rival.
    assert sum(20 - cost for cost in residual_supply(2, 10, [(1, 10)], tick=1)) - 10 == 9


# Presets as they are.


@pytest.mark.parametrize(
    "name",
    [preset.name for preset in presets() if preset.description.startswith("Known answer")],
)
def test_every_known_answer_runs_as_it_is(name: str) -> None:
    config = load(name)
    assert config.rules["attention"]["similarity"] == "none" or config.rules["induced"]
    played = play(config, seed=config.seed)
    assert all(score >= 0 for score in played.scores.values())


def test_the_large_market_is_the_default_one_a_hundred_times() -> None:
    config = load("arena/large")
    assert sum(retailer.count for retailer in config.retailers) == 200
    large, default = rules(config), rules(load("arena/default"))
    assert large.supply == [100 * units for units in default.supply]
    assert (large.demand, large.buyers) == (100 * default.demand, 100 * default.buyers)
    assert play("arena/large", ["rules.attention.similarity=none", "rules.steps=1"]).scores
