from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from market.arena.metrics import SeatStep, metrics

NAMES = [
    "profit",
    "net_profit_margin",
    "risk_adjusted_return",
    "inventory_efficiency",
    "stockout_rate",
    "fill_rate",
    "bid_efficiency",
    "bid_efficiency_by_value",
    "order_stability",
    "mean_match",
]


def seat_step(step: int = 1, **figures: int) -> SeatStep:
    blank = dict.fromkeys(SeatStep._fields, 0)
    return SeatStep(**{**blank, "step": step, **figures})


def value(name: str, *steps: SeatStep) -> int | float | None:
    return metrics(steps)[0][name]


def reason(name: str, *steps: SeatStep) -> str:
    values, reasons = metrics(steps)
    assert values[name] is None
    return reasons[name]


def test_a_table_worked_by_hand():
    steps = [
        seat_step(
            1, revenue=1000, profit=200, sold=10, won=16, spend=880, won_value=800, bid_units=20,
            bid_value=1000, attempts=8, failed=2, asked=14, stock=6, match_sum=30_000_000,
            match_buyers=100,
        ),
        seat_step(
            2, revenue=600, profit=100, sold=6, won=4, spend=220, won_value=200, bid_units=5,
            bid_value=250, attempts=2, failed=0, asked=6, stock=4, match_sum=10_000_000,
            match_buyers=100,
        ),
    ]  # fmt: skip
    values, reasons = metrics(steps)
    assert reasons == {}
    assert values == pytest.approx(
        {
            "profit": 300,
            "net_profit_margin": 300 / 1600,
            "risk_adjusted_return": 150 / (2 * 50**2) ** 0.5,
            "inventory_efficiency": 8 / (8 + 5),
            "stockout_rate": 0.2,
            "fill_rate": 0.8,
            "bid_efficiency": (20 / 25) * (1000 / 1100),
            "bid_efficiency_by_value": (1000 / 1250) * (1000 / 1100),
            # orders 16, 4: CV 0.6; sales 10, 6: CV 0.25
            "order_stability": 0.25 / 0.6,
            "mean_match": 0.2,
        }
    )


def test_every_metric_is_there_in_the_order_of_the_docs():
    assert list(metrics([seat_step()])[0]) == NAMES


def test_an_idle_retailer_has_a_profit_and_a_reason_for_everything_else():
    values, reasons = metrics([seat_step(1), seat_step(2)])
    assert values == {name: 0 if name == "profit" else None for name in NAMES}
    assert reasons.keys() == set(NAMES[1:])


def test_reasons_say_what_is_missing():
    idle = seat_step()
    assert reason("net_profit_margin", idle) == "no revenue"
    assert reason("risk_adjusted_return", idle) == "fewer than two steps"
    assert reason("risk_adjusted_return", idle, idle) == "equal profit in every step"
    assert reason("inventory_efficiency", idle) == "no sales and no stock"
    assert reason("stockout_rate", idle) == "no attempts"
    assert reason("fill_rate", idle) == "no attempts"
    assert reason("bid_efficiency", idle) == "no bids"
    assert reason("order_stability", idle) == "no units won"
    assert reason("order_stability", seat_step(won=3)) == "no units sold"
    assert reason("mean_match", idle) == "no slogan"


def test_stock_that_nobody_buys_is_inefficient_and_selling_out_is_not():
    assert value("inventory_efficiency", seat_step(stock=5)) == 0.0
    assert value("inventory_efficiency", seat_step(sold=5)) == 1.0


def test_bids_that_win_nothing_are_worth_0_and_not_undefined():
    assert value("bid_efficiency", seat_step(bid_units=9, bid_value=90)) == 0.0
    assert value("bid_efficiency_by_value", seat_step(bid_units=9, bid_value=90)) == 0.0


def test_winning_all_at_base_price_is_perfect_and_paying_double_is_half():
    won = seat_step(won=4, spend=40, won_value=40, bid_units=4, bid_value=40)
    dear = seat_step(won=4, spend=80, won_value=40, bid_units=4, bid_value=40)
    assert value("bid_efficiency", won) == 1.0
    assert value("bid_efficiency", dear) == 0.5


def test_void_units_weigh_by_value_where_they_are_dear():
    step = seat_step(won=10, spend=500, won_value=500, bid_units=11, bid_value=2500)
    assert value("bid_efficiency", step) == pytest.approx(10 / 11)
    assert value("bid_efficiency_by_value", step) == pytest.approx(0.2)


def test_a_steady_retailer_is_stable_and_a_pulse_against_a_steady_flow_is_not():
    steady = [seat_step(i, won=5, sold=3) for i in (1, 2, 3)]
    pulse = [seat_step(i, won=won, sold=3) for i, won in ((1, 15), (2, 0), (3, 0))]
    assert value("order_stability", *steady) == 1.0
    assert value("order_stability", *pulse) == 0.0


def test_proportional_orders_and_sales_are_stable():
    steps = [seat_step(i, won=3 * units, sold=units) for i, units in ((1, 7), (2, 2), (3, 11))]
    assert value("order_stability", *steps) == 1.0


def test_risk_adjusted_return_keeps_the_sign_of_profit():
    losses = [seat_step(1, profit=-10), seat_step(2, profit=-30)]
    assert value("risk_adjusted_return", *losses) == pytest.approx(-20 / 200**0.5)


def test_steps_without_a_slogan_do_not_dilute_the_match():
    said = seat_step(1, match_sum=-500_000, match_buyers=2)
    assert value("mean_match", said, seat_step(2)) == -0.25


counts = st.integers(0, 10**6)
seat_steps = st.builds(
    SeatStep,
    **dict.fromkeys(SeatStep._fields, counts)
    | {"profit": st.integers(-(10**9), 10**9), "match_sum": st.integers(-(10**9), 10**9)},
)


@given(st.lists(seat_steps, min_size=1, max_size=8))
def test_shares_lie_between_0_and_1_and_every_none_has_a_reason(steps):
    values, reasons = metrics(steps)
    assert {name for name, figure in values.items() if figure is None} == reasons.keys()
    assert all(reasons.values())
    for name in ("inventory_efficiency", "order_stability"):
        if values[name] is not None:
            assert 0 <= values[name] <= 1


@given(st.lists(seat_steps, min_size=2, max_size=6))
def test_metrics_do_not_depend_on_the_order_of_steps(steps):
    assert metrics(steps) == metrics(steps[::-1])


def test_twenty_seats_cost_a_few_milliseconds_at_most():
    steps = [seat_step(i, revenue=9, profit=i, won=i, sold=i, bid_units=9) for i in range(6)]
    best = min(_timed(steps) for _ in range(5))
    assert best < 0.02


def _timed(steps: list[SeatStep]) -> float:
    start = time.perf_counter()
    for _ in range(20):
        metrics(steps)
    return time.perf_counter() - start
