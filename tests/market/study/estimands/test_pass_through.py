from __future__ import annotations

import pandas as pd
import pytest

from market.study.estimands.pass_through import Price, changes, prices, slope


def bid(step: int, awarded: int, paid: int, settling: bool = True) -> dict[str, object]:
    row = {"episode": "e", "seat": "s", "item": "tea", "step": step}
    return row | {"settling": settling, "awarded": awarded, "paid": paid}


def offer(step: int, price: int, stock: int, sold: int, cost: int) -> dict[str, object]:
    row = {"episode": "e", "seat": "s", "item": "tea", "step": step, "base": 100}
    return row | {"price": price, "stock": stock, "sold": sold, "cost": cost}


def line(bids: list[dict[str, object]], offers: list[dict[str, object]]) -> list[Price]:
    (found,) = prices(pd.DataFrame(bids), pd.DataFrame(offers)).values()
    return found


def test_the_cost_behind_a_price_is_the_average_of_what_is_held() -> None:
    # 10 units for 1,000; 4 sold at 400; then 2 more for 360: 960 for 8.
    bids = [bid(1, 10, 1000), bid(2, 1, 180), bid(2, 1, 180), bid(2, 9, 9, settling=False)]
    offers = [offer(1, 150, 10, 4, 400), offer(2, 180, 8, 0, 0)]
    assert line(bids, offers) == [Price(1, 100, 150, 100.0), Price(2, 100, 180, 120.0)]


def test_units_that_do_not_add_up_have_no_cost_until_all_are_gone() -> None:
    bids = [bid(1, 10, 1000), bid(4, 5, 600)]
    offers = [
        offer(1, 150, 10, 0, 0),
        offer(2, 150, 7, 0, 0),  # three were sold to pay costs
        offer(3, 150, 7, 7, 700),
        offer(4, 170, 5, 0, 0),
    ]
    assert [price.step for price in line(bids, offers)] == [1, 4]


def test_changes_are_between_successive_steps_only() -> None:
    asked = [Price(1, 100, 150, 100.0), Price(2, 100, 165, 110.0), Price(4, 100, 300, 200.0)]
    assert changes(asked) == [(pytest.approx(0.1), pytest.approx(0.15))]


def test_the_slope_of_a_fixed_mark_up_is_one_and_the_mark_up() -> None:
    costs = [100.0, 110.0, 105.0, 140.0]
    asked = [Price(step, 100, int(cost * 1.4), cost) for step, cost in enumerate(costs, start=1)]
    assert slope(changes(asked)) == pytest.approx(1.4)


def test_a_trend_of_prices_alone_is_no_pass_through() -> None:
    costs = [100.0, 110.0, 100.0, 110.0, 100.0]
    asked = [Price(step, 100, 100 + 5 * step, cost) for step, cost in enumerate(costs, start=1)]
    assert slope(changes(asked)) == pytest.approx(0)


@pytest.mark.parametrize("points", [[], [(0.1, 0.2)], [(0.1, 0.2), (0.1, 0.5)]])
def test_costs_that_do_not_vary_have_no_slope(points: list[tuple[float, float]]) -> None:
    assert slope(points) is None
