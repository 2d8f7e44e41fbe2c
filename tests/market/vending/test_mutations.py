"""What an operator can do, item by item, and what it costs."""

from __future__ import annotations

from typing import Any

import pytest

from tests.market.vending.operations import END, PUNCTUAL, Game, call, rules, stocked

FRESH = {
    "water": {"shelf_life": 90, "reference": {"kind": "constant", "value": 4}},
    "bread": {"shelf_life": 2, "reference": {"kind": "constant", "value": 6}},
}
#: Bread (P0001 to P0012) keeps two days, water (P0013 on) ninety; nobody comes by.
QUIET: dict[str, Any] = {
    **PUNCTUAL,
    "subcategories": FRESH,
    "cost_share": {"kind": "constant", "value": 0.5},
    "demand": {"outside": 1e9},
}
BREAD, WATER = "P0001", "P0013"


def game(**changes: Any) -> Game:
    return Game(rules(**{**QUIET, **changes}))


def supplied(**changes: Any) -> Game:
    """A game on the morning of day 4, with 20 units of bread and of water in the warehouse."""
    played = game(**changes)
    items = [{"product": code, "quantity": 20} for code in (BREAD, WATER)]
    played.do(call("order_stock", *items), END)
    played.wait(2)
    return played


def at(machine: str, product: str, quantity: int | None = None, **more: Any) -> dict[str, Any]:
    item: dict[str, Any] = {"machine": machine, "product": product, **more}
    return item if quantity is None else {**item, "quantity": quantity}


def reasons(result: dict[str, Any]) -> list[str]:
    return [each["reason"] for each in result["refused"]]


def test_orders_are_paid_at_once_and_arrive_when_promised() -> None:
    played = game()
    before = played.fen
    result = played.one("order_stock", {"product": BREAD, "quantity": 7})
    assert result["done"] == [{"item": 0, "order": 1, "cost": 21.0, "promised": 4}]
    assert played.fen == before - 2_100
    played.wait(2)
    assert played.operator.warehouse.units(0) == 0
    played.wait()
    assert played.operator.warehouse.batches(0) == ((6, 7),)


def test_orders_beyond_cash_are_refused_one_by_one() -> None:
    played = game(cash=200.0)
    items = [{"product": WATER, "quantity": n} for n in (50, 50, 5)]
    result = played.one("order_stock", *items)
    # 120.00 are left after the fixed fee; 50 units cost 100.00, 5 cost 10.00.
    assert [each["item"] for each in result["done"]] == [0, 2]
    assert reasons(result) == ["it costs 100.00 and the cash is 20.00"]


def test_the_last_fen_can_be_spent_and_no_more() -> None:
    played = game(cash=200.0)
    refused, done = (played.one("order_stock", {"product": WATER, "quantity": n}) for n in (61, 60))
    assert reasons(refused) == ["it costs 122.00 and the cash is 120.00"]
    assert done["refused"] == []
    assert played.fen == 0


def test_loading_lists_a_product_at_its_reference_and_keeps_a_posted_price() -> None:
    played = supplied()
    played.one("load_machine", at("M01", WATER, 2))
    assert played.operator.machines.price(0, 12) == 400
    played.one("set_prices", at("M01", WATER, price=4.55))
    played.one("load_machine", at("M01", WATER, 1))
    assert played.operator.machines.price(0, 12) == 455
    played.one("load_machine", at("M01", WATER, 1, price=3.0))
    assert played.operator.machines.price(0, 12) == 300
    assert played.operator.machines.units[0, 12] == 4


def test_what_does_not_fit_is_not_loaded() -> None:
    played = supplied(volume=5, slots=1)
    size = played.environment.world.catalogue[12].volume
    result = played.one("load_machine", at("M01", WATER, 6))
    assert reasons(result) == [f"it takes {6 * size} volume units and 5 are free"]
    result = played.one("load_machine", at("M01", WATER, 1), at("M01", BREAD, 1))
    assert reasons(result) == ["no slot is free"]
    assert played.operator.machines.listed == [1, 0, 0]


def test_what_is_not_there_is_not_loaded() -> None:
    result = supplied().one("load_machine", at("M01", WATER, 21))
    assert reasons(result) == ["the warehouse has 20 unexpired units of it"]


def test_a_visit_costs_once_per_machine_and_day() -> None:
    played = supplied()
    played.one("load_machine", at("M01", WATER, 1), at("M01", BREAD, 1), at("M02", WATER, 1))
    played.one("unload_machine", at("M01", WATER, 1))
    before = played.fen
    played.wait()
    rent = played.operator.warehouse_units * 2
    assert before - played.fen == 2 * 3_500 + 8_000 + rent
    assert [row.machine for row in played.rows("visits")] == ["M01", "M02"]


@pytest.mark.parametrize(
    ("tool", "item", "reason"),
    [
        ("order_stock", {"product": "P9999", "quantity": 1}, "there is no such product"),
        ("order_stock", {"product": BREAD, "quantity": 10**40}, "it costs"),
        ("order_stock", {"product": BREAD, "quantity": 1e308}, "it costs over 10^306"),
        ("order_stock", {"product": BREAD, "quantity": 10**310}, "it costs over 10^306"),
        ("set_prices", at("M01", BREAD, price=5.0), "the machine does not list it"),
        ("discard_stock", {"product": BREAD, "quantity": 21}, "the warehouse has 20 units of it"),
        (
            "discard_stock",
            {"product": BREAD, "quantity": 1, "expired_only": True},
            "the warehouse has 0 expired units of it",
        ),
        ("load_machine", at("M99", BREAD, 1), "there is no such machine"),
        ("load_machine", at("M01", "P9999", 1), "there is no such product"),
        ("load_machine", at("M01", BREAD, 10**30), "the warehouse has"),
        ("load_machine", at("M01", BREAD, 1, price=18.01), "the price is above"),
        ("load_machine", at("M01", BREAD, 1, price=1e300), "the price is above"),
        ("load_machine", at("M01", BREAD, 1, price=10**310), "the price is above"),
        ("load_machine", at("M01", BREAD, 1, price=1.005), "at most two decimals"),
        ("unload_machine", at("M01", BREAD, 1), "the machine does not list it"),
        ("delist_product", at("M01", BREAD), "the machine does not list it"),
    ],
)
def test_a_refused_item_moves_nothing_and_is_no_visit(
    tool: str, item: dict[str, Any], reason: str
) -> None:
    played = supplied()
    before = played.fen, played.operator.warehouse_units
    result = played.one(tool, item)
    assert result["done"] == []
    assert reasons(result)[0].find(reason) >= 0
    assert (played.fen, played.operator.warehouse_units) == before
    assert played.operator.machines.listed == [0, 0, 0]
    played.wait()
    assert played.rows("visits") == []


def test_an_order_beyond_all_numbers_is_refused_beside_good_ones() -> None:
    items = [{"product": WATER, "quantity": n} for n in (1e308, 5)]
    result = game().one("order_stock", *items)
    assert reasons(result) == ["it costs over 10^306 and the cash is 1920.00"]
    assert [each["item"] for each in result["done"]] == [1]


def test_the_highest_price_is_that_of_decimals() -> None:
    played = supplied(price_cap=1.15)  # of 4.00
    refused = played.one("load_machine", at("M01", WATER, 1, price=4.61))
    assert reasons(refused) == ["the price is above the highest allowed, 4.60"]
    assert played.one("load_machine", at("M01", WATER, 1, price=4.60))["done"]


def test_unloading_takes_unexpired_units_back_and_keeps_the_listing() -> None:
    played = supplied()
    played.one("load_machine", at("M01", WATER, 5))
    assert played.one("unload_machine", at("M01", WATER, 6))["refused"]
    played.one("unload_machine", at("M01", WATER, 5))
    assert played.operator.warehouse.units(12) == 20
    assert played.operator.machines.price(0, 12) == 400
    assert played.operator.machines.listed[0] == 1


def test_expired_units_cannot_be_loaded_nor_unloaded() -> None:
    played = supplied()
    played.one("load_machine", at("M01", BREAD, 5))
    played.wait(2)  # day 6: the bread of day 4 is expired
    assert reasons(played.one("load_machine", at("M02", BREAD, 1)))
    assert reasons(played.one("unload_machine", at("M01", BREAD, 1)))
    assert played.operator.machines.stocks[0].expired(0, 6) == 5


def test_delisting_scraps_the_expired_and_brings_back_the_rest() -> None:
    played = supplied()
    played.one("load_machine", at("M01", BREAD, 5), at("M01", WATER, 3))
    played.wait(2)
    result = played.one("delist_product", at("M01", BREAD), at("M01", WATER))
    assert result["done"] == [
        {"item": 0, "returned": 0, "scrapped": 5},
        {"item": 1, "returned": 3, "scrapped": 0},
    ]
    assert played.operator.machines.listed[0] == 0
    assert played.operator.warehouse.units(0) == 15
    assert played.operator.warehouse.units(12) == 20


def test_waste_is_counted_once() -> None:
    played = supplied()
    played.wait(2)
    counts = played.operator.counts
    assert counts.wasted == 20  # the bread expired
    played.one("discard_stock", {"product": BREAD, "quantity": 20, "expired_only": True})
    assert counts.wasted == 20
    played.one("discard_stock", {"product": WATER, "quantity": 4})
    assert counts.wasted == 24
    assert played.operator.warehouse_units == 16


def test_expired_stock_pays_rent_until_it_is_discarded() -> None:
    played = supplied()
    played.wait(2)
    assert played.rows("days")[-1].rent == 40 * 2
    played.one("discard_stock", {"product": BREAD, "quantity": 20})
    played.wait(2)
    assert played.rows("days")[-1].rent == 20 * 2


def test_expired_units_on_a_shelf_still_sell_and_are_fined() -> None:
    played = supplied(demand={"outside": 4})
    played.one("load_machine", at("M03", BREAD, 20))  # M03: a Saturday is busy
    played.wait(3)  # sold fresh on days 4 and 5, expired on day 6
    late = [row for row in played.rows("sales") if row.step == 6]
    assert [row.sold for row in late] == [row.units for row in played.rows("fines")]
    assert late[0].sold > 0
    day = played.rows("days")[-1]
    assert day.fines == late[0].sold * 100_000
    assert day.revenue == late[0].sold * 600
    assert day.cost_of_goods == 0  # written off in the morning
    assert day.write_offs == late[0].units * 300


def test_a_stock_of_different_ages_is_sold_oldest_first() -> None:
    played = stocked(rules(**PUNCTUAL, demand={"outside": 1e-6}))
    before = played.operator.machines.stocks[0].batches(0)
    played.wait()
    after = played.operator.machines.stocks[0].batches(0)
    assert sum(n for _, n in after) <= sum(n for _, n in before)
    assert {day for day, _ in after} <= {day for day, _ in before}
