"""The bound above every policy."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from market.vending import bound, calendar, world
from market.vending.demand import UNIT, Demand
from market.vending.pricing import Offers
from tests.market.vending.best_prices import together
from tests.market.vending.operations import Stocker, paper, playing, rules


def test_one_product_per_machine_is_offered_at_its_best_price() -> None:
    of = rules(slots=1)
    drawn = world.generated(of, 0)
    only = np.zeros_like(drawn.appeal)
    only[:, 3] = [2.0, 5.0, 9.0]
    demand = Demand(of, replace(drawn, appeal=only))
    goods = drawn.catalogue
    for site, value in enumerate(bound.per_visit(of, demand)):
        offers = Offers(
            pull=only[site, 3:4],
            cost=goods.cost[3:4].astype(float),
            reference=goods.reference[3:4].astype(float),
            sensitivity=float(drawn.sensitivity[site]),
            cap=goods.reference[3:4] * of.price_cap,
            outside=demand.outside / UNIT,
        )
        assert value == pytest.approx(together(offers)[1])


def test_more_slots_never_bound_lower() -> None:
    few, many = (bound.net_assets(rules(slots=slots), 1) for slots in (2, 6))
    assert few < many


def test_it_earns_from_the_first_day_on_which_an_order_can_have_arrived() -> None:
    of = rules()
    demand = Demand(of, world.generated(of, 2))
    days = calendar.calendar(of, 2)
    worth = bound.per_visit(of, demand)
    gains = [float(demand.expected_traffic(days, day) @ worth) / 100 for day in range(4, 11)]
    expected = of.cash + sum(gains) - 10 * of.fixed_fee
    assert bound.net_assets(of, 2) == pytest.approx(expected)


def test_before_any_delivery_there_are_only_fees() -> None:
    assert bound.net_assets(rules(days=3), 0) == 2_000 - 3 * 80


def test_a_machine_with_more_slots_than_there_are_products_offers_them_all() -> None:
    assert bound.net_assets(rules(slots=1_000), 0) == bound.net_assets(rules(slots=24), 0)


def test_a_busy_operator_stays_below_it() -> None:
    of = paper(days=40)
    score = playing(of, {"a": Stocker("a", 0).act}).scores["a"]
    assert score < bound.net_assets(of, 0)
