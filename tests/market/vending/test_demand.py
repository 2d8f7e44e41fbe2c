"""Mean demand by hand, and the prices that are best under it."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from market.vending import world
from market.vending.calendar import calendar
from market.vending.catalogue import Catalogue, Product
from market.vending.demand import UNIT, Demand, Shelf
from tests.market.vending.operations import rules

#: So many units that presence is 1 to nine places.
FULL = 100


def worked(appeal: list[list[float]], b: float = 2.0, outside: float = 1.0) -> Demand:
    """A demand model of hand-made appeal (s, p); reference 10, cost 6."""
    m, n = len(appeal), len(appeal[0])
    products = tuple(Product(f"P{i}", "", "water", 600_00, 1_000_00, 1, 90) for i in range(n))
    of = rules(demand={"outside": outside}, volume=1_000)
    drawn = world.generated(of, 0)
    made = replace(
        drawn,
        catalogue=Catalogue(products, ("water",)),
        machines=tuple(f"M{i}" for i in range(m)),
        site_types=("office",) * m,
        appeal=np.array(appeal),
        popularity=np.ones(n),
        sensitivity=np.full(m, b),
        dispersion=np.full(n, 1.5),
    )
    return Demand(of, made)


def shelf(*rows: tuple[int, int, int, int], machines: int = 1, fullness: float = 1.0) -> Shelf:
    """Rows of (site, product, units, price)."""
    columns = [np.array(column) for column in zip(*rows, strict=True)]
    return Shelf(*columns, np.full(machines, fullness))


def test_one_product_takes_its_share_of_the_visits() -> None:
    demand = worked([[3.0]])
    (means,) = demand.means([shelf((0, 0, FULL, 1_000_00))], np.array([20.0]))
    assert means.tolist() == [15.0]  # 20 x 3 / (1 + 3)


def test_price_presence_and_fullness_by_hand() -> None:
    demand = worked([[2.0]])
    attraction = 2 * math.exp(-2 * 0.5) * (1 - math.exp(-2 / 3))
    expected = 30 * (0.6 + 0.4 * 0.25) * attraction / (1 + attraction)
    (means,) = demand.means([shelf((0, 0, 2, 1_500_00), fullness=0.25)], np.array([30.0]))
    assert means[0] == pytest.approx(expected, abs=1e-6)


def test_products_of_a_machine_take_customers_from_each_other() -> None:
    demand = worked([[1.0, 2.0]])
    both = shelf((0, 0, FULL, 1_000_00), (0, 1, FULL, 1_000_00))
    (means,) = demand.means([both], np.array([8.0]))
    assert means.tolist() == [2.0, 4.0]


def test_machines_of_one_site_share_its_visits_and_other_sites_do_not() -> None:
    demand = worked([[1.0], [1.0]])
    one = shelf((0, 0, FULL, 1_000_00), (1, 0, FULL, 1_000_00), machines=2)
    two = shelf((0, 0, FULL, 1_000_00), machines=2)
    first, second = demand.means([one, two], np.array([9.0, 9.0]))
    assert first.tolist() == [3.0, 4.5]
    assert second.tolist() == [3.0]


def test_attractions_are_whole_numbers_whose_sum_has_no_order() -> None:
    demand = worked([[0.1, 0.2, 0.7]])
    rows = [(0, p, FULL, 1_000_00) for p in range(3)]
    found = demand.attraction(shelf(*rows))
    assert found.dtype == np.int64
    assert found.sum() == UNIT


def test_more_units_help_and_soon_stop_helping() -> None:
    demand = worked([[1.0]])
    presence = demand.presence(np.arange(0, 30))
    assert presence[0] == 0
    assert (np.diff(presence) > 0).all()
    assert presence[3] == pytest.approx(1 - math.exp(-1), abs=1e-9)
    assert presence[10] > 0.95


def best_price(demand: Demand) -> float:
    """The price of most expected profit, in multiples of the reference, to a thousandth."""
    prices = np.arange(700_00, 3_000_00, 50)
    profits = [
        demand.means([shelf((0, 0, FULL, int(price)))], np.array([1e6]))[0][0] * (price - 600_00)
        for price in prices
    ]
    return float(prices[int(np.argmax(profits))]) / 1_000_00


def test_the_best_price_of_one_product_is_the_worked_one() -> None:
    assert best_price(worked([[1.0]])) == pytest.approx(1.349, abs=0.0006)


@pytest.mark.parametrize("b", [1.6, 2.0, 2.8])
def test_with_much_outside_the_best_price_is_cost_and_reference_over_b(b: float) -> None:
    assert best_price(worked([[1.0]], b, outside=1e5)) == pytest.approx(0.6 + 1 / b, abs=0.002)


def test_traffic_follows_weekday_holiday_and_weather() -> None:
    of = rules(
        start="2025-04-29",  # a Tuesday; the first of May is a Thursday and a holiday
        weather={
            "conditions": {"clear": {"probability": 1, "traffic": 1.5}},
            "seasonal_swing": 0,
            "temperature_noise": 0,
            "mean_temperature": 20,
        },
    )
    demand, days = Demand(of, world.generated(of, 0)), calendar(of, 0)
    office = demand.world.site_types.index("office")
    traffic = [demand.expected_traffic(days, day)[office] for day in (1, 3, 5)]
    # 40 visits x 1.5 for the weather x Tuesday 1.3, the holiday 0.2, Saturday 0.3.
    assert days[3].holiday == "Labor Day"
    assert traffic == pytest.approx([78.0, 12.0, 18.0])


def test_the_crowd_of_a_day_has_mean_one_and_the_variance_of_its_site() -> None:
    of = rules()
    demand = Demand(of, world.generated(of, 0))
    crowds = np.array([demand.crowd(0, day) for day in range(1, 4_001)])
    assert crowds.mean(0) == pytest.approx(np.ones(3), abs=0.04)
    assert crowds.var(0) == pytest.approx(demand.world.crowds, rel=0.12)


def test_absurd_worlds_stay_within_64_bits() -> None:
    demand = worked([[1e9, 1.0]], b=20)
    found = demand.attraction(shelf((0, 0, FULL, 1), (0, 1, FULL, 1)))
    assert (found == 1e5 * UNIT).all()


def test_a_crowd_without_variance_is_always_one() -> None:
    of = rules(demand={"crowds": {"kind": "constant", "value": 0}})
    crowd = Demand(of, world.generated(of, 0)).crowd(0, 1)
    assert crowd == pytest.approx(np.ones(3), abs=0.01)
