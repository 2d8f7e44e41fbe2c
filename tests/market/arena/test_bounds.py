from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.integrate import quad
from scipy.optimize import brentq

from market.arena.bounds import (
    Demand,
    SeatItem,
    Uniform,
    best_multiple,
    cartel,
    clearing_multiple,
    competitive,
    industry_bound,
    industry_bound_of,
    per_seat,
    residual_supply,
    seat_bound,
)

DEFAULT_MIX = (
    (0.4, Uniform(1.0, 1.6)),
    (0.3, Uniform(1.0, 2.0)),
    (0.2, Uniform(1.0, 3.0)),
    (0.1, Uniform(1.0, 2.5)),
)
MONOPOLY = Demand(base=100, supply=1000, units=950, mix=((1.0, Uniform(1.0, 2.0)),))


@st.composite
def demands(draw):
    ends = st.floats(0.5, 4.0)
    mix = []
    for _ in range(draw(st.integers(1, 4))):
        low, high = sorted((draw(ends), draw(ends)))
        mix.append((draw(st.integers(1, 9)), Uniform(low, high if high - low > 0.01 else low)))
    total = sum(weight for weight, _ in mix)
    return Demand(
        base=100,
        supply=draw(st.integers(1, 300)),
        units=draw(st.integers(1, 300)),
        mix=tuple((weight / total, wtp) for weight, wtp in mix),
        cap=draw(st.sampled_from([1.25, 2.0, 3.0, float("inf")])),
    )


def test_a_single_seller_asks_half_more_than_base():
    assert best_multiple(MONOPOLY) == pytest.approx(1.5)
    assert cartel(MONOPOLY) == pytest.approx(23_750)
    assert MONOPOLY.gain(1.25) == pytest.approx(17_812.5)
    assert MONOPOLY.gain(1.75) == pytest.approx(17_812.5)


def test_the_default_buyers_are_best_sold_to_at_1_4412():
    alone = Demand(base=1, supply=2, units=1, mix=DEFAULT_MIX)
    assert best_multiple(alone) == pytest.approx(1.4412, abs=5e-5)
    assert alone.survival(best_multiple(alone)) == pytest.approx(0.5)
    assert cartel(alone) == pytest.approx(0.2206, abs=5e-5)


def test_the_default_market_clears_at_1_2521():
    market = Demand(base=1, supply=1, units=1.4, mix=DEFAULT_MIX)
    assert clearing_multiple(market) == pytest.approx(1.2521, abs=5e-5)
    assert competitive(market) == pytest.approx(0.2521, abs=5e-5)


def test_ample_supply_clears_at_base_and_competition_earns_nothing():
    assert clearing_multiple(MONOPOLY) == 1.0
    assert competitive(MONOPOLY) == 0.0


def test_scarce_supply_is_best_sold_where_demand_falls_to_it():
    scarce = replace(MONOPOLY, supply=190)
    assert best_multiple(scarce) == pytest.approx(1.8)
    assert cartel(scarce) == pytest.approx(190 * 80)
    assert cartel(scarce) == competitive(scarce)


def test_a_cap_holds_the_best_price_down():
    assert best_multiple(replace(MONOPOLY, cap=1.25)) == 1.25


def test_buyers_at_one_point_all_buy_at_their_own_price():
    point = Demand(base=100, supply=500, units=500, mix=((1.0, Uniform(2.0, 2.0)),))
    assert best_multiple(point) == 2.0
    assert cartel(point) == 50_000
    assert clearing_multiple(replace(point, supply=400)) == 2.0
    assert industry_bound(replace(point, supply=400)) == pytest.approx(40_000)


def test_buyers_without_a_limit_pay_the_cap_and_have_no_bound_without_one():
    capped = Demand(base=100, supply=400, units=500, mix=(), cap=1.5)
    assert (clearing_multiple(capped), best_multiple(capped)) == (1.5, 1.5)
    assert cartel(capped) == 20_000
    assert industry_bound(capped) is None
    free = replace(capped, cap=float("inf"))
    assert (clearing_multiple(free), best_multiple(free), cartel(free)) == (None, None, None)
    assert competitive(replace(free, supply=600)) == 0.0


def test_the_industry_bound_of_a_table_worked_by_hand():
    # half of 950 buyers are worth more than 150 each, 175 on average
    assert industry_bound(replace(MONOPOLY, supply=475)) == pytest.approx(475 * 75)
    assert industry_bound(MONOPOLY) == pytest.approx(950 * 50)
    assert industry_bound_of([150.0, 90.0, 120.0, 130.0], supply=2, base=100) == 80.0
    assert industry_bound_of([150.0, 90.0], supply=9, base=100) == 50.0


@given(demands())
def test_the_best_multiple_beats_a_grid(demand):
    best = cartel(demand)
    top = min(demand.cap, 4.0)
    grid = max(demand.gain(float(m)) for m in np.linspace(1.0, top, 301))
    assert best >= grid - 1e-9


@given(demands())
def test_the_industry_bound_is_the_area_under_demand(demand):
    free = replace(demand, cap=float("inf"))
    kinks = [end for _, wtp in free.mix for end in (wtp.low, wtp.high) if end > 1]
    if free.units * free.survival(1.0) > free.supply:
        kinks.append(brentq(lambda m: free.units * free.survival(m) - free.supply, 1.0, 5.0))
    edges = sorted({1.0, *kinks})
    area = sum(quad(free.sold, low, high)[0] for low, high in pairwise(edges))
    assert industry_bound(demand) == pytest.approx(100 * area, rel=1e-6, abs=1e-6)


@given(demands())
def test_competition_earns_no_more_than_a_cartel_and_a_cartel_no_more_than_all_there_is(demand):
    assert -1e-9 <= competitive(demand) <= cartel(demand) + 1e-9
    assert cartel(demand) <= industry_bound(demand) + 1e-6


@given(demands())
def test_at_the_clearing_multiple_demand_meets_supply(demand):
    multiple = clearing_multiple(demand)
    if multiple > 1:
        assert demand.units * demand.survival(multiple) >= demand.supply - 1e-6
        above = demand.units * demand.survival(multiple + 1e-6)
        assert above <= demand.supply + 1e-2


def test_residual_supply_begins_with_what_rivals_leave():
    assert residual_supply(5, 100, [(2, 130), (1, 110)]) == [100, 100, 110, 130, 130]
    assert residual_supply(2, 10, [(1, 10)], tick=1) == [10, 11]
    assert residual_supply(2, 10, []) == [10, 10]


def test_only_the_highest_rival_bids_stand_in_the_way():
    assert residual_supply(3, 100, [(10**12, 120), (2, 150)]) == [120, 150, 150]


def test_the_seat_bound_pairs_the_dearest_buyers_with_the_cheapest_units():
    item = SeatItem(worths=[150, 110, 180, 90], costs=[130, 100, 100, 140])
    assert seat_bound([item]) == (180 - 100) + (150 - 100)
    assert seat_bound([item, item]) == 260
    assert seat_bound([]) == 0


def test_references_are_per_seat_and_episode():
    assert per_seat([100.0, 50.0], seats=20, steps=6) == 45.0
    assert per_seat([100.0, None], seats=20, steps=6) is None
