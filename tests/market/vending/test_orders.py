"""Orders take as long as seed, day and product say."""

from __future__ import annotations

from collections import Counter

import pytest

from market.vending.orders import Orders
from tests.market.vending.operations import paper, rules


def arrives(orders: Orders, code: str, day: int) -> int:
    return orders.place(0, code, 1, 100, day).arrives


def test_lead_times_have_the_stated_shares() -> None:
    orders = Orders(paper(), 0)
    found = Counter(arrives(orders, f"P{i}", 1) - 1 for i in range(4_000))
    assert [found[days] / 4_000 for days in (3, 4, 5)] == pytest.approx(
        [0.85, 0.12, 0.03], abs=0.02
    )


def test_nobody_elses_orders_move_a_lead_time() -> None:
    alone, busy = Orders(paper(), 3), Orders(paper(), 3)
    for i in range(50):
        arrives(busy, f"P{i}", 1 + i // 10)
    for day in range(1, 30):
        assert arrives(alone, "P0007", day) == arrives(busy, "P0007", day)
    assert {arrives(alone, "P0007", 40) for _ in range(5)} == {arrives(busy, "P0007", 40)}


def test_what_is_under_way_is_counted_until_it_arrives() -> None:
    two = {"kind": "categorical", "values": [2], "probabilities": [1]}
    orders = Orders(rules(lead_time=two), 0)
    first = orders.place(4, "P5", 7, 700, 1)
    orders.place(4, "P5", 2, 200, 2)
    assert (orders.units_under_way, orders.cost_under_way) == (9, 900)
    assert orders.under_way(4) == 9
    assert [order.number for order in orders.waiting()] == [2, 1]
    assert orders.arrive(3) == [first]
    assert (orders.units_under_way, orders.cost_under_way, orders.under_way(4)) == (2, 200, 2)
    assert orders.under_way(5) == 0
    assert [order.number for order in orders.waiting()] == [2]
