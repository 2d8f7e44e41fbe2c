"""The books that a rule-based operator keeps of its stock."""

from __future__ import annotations

from typing import Any

from market.vending.policies.inventory import Inventory
from market.vending.policies.script import call


def shelf(machine: str, product: str, units: int, expired: int = 0) -> Any:
    row = {"product": product, "units": units, "expired": expired}
    return call("view_machine", machine=machine)["arguments"], row


def stored(product: str, units: int, expired: int = 0) -> Any:
    return {}, {"product": product, "units": units, "expired": expired}


def under_way(product: str, quantity: int) -> Any:
    return {}, {"product": product, "quantity": quantity}


def test_what_expired_is_cleared_and_the_rest_of_it_comes_back() -> None:
    books = Inventory(["M01"])
    items = books.see_shelves(["M01"], [shelf("M01", "A", 5, 2), shelf("M01", "B", 3)])
    assert items == [{"machine": "M01", "product": "A"}]
    assert books.shelves["M01"] == {"B": 3}
    assert books.warehouse == {"A": 3}


def test_a_machine_that_was_seen_whole_holds_what_was_seen() -> None:
    books = Inventory(["M01", "M02"])
    for machine in books.shelves:
        books.shelves[machine] = {"A": 9}
    books.see_shelves(["M01"], [shelf("M01", "B", 1)])
    assert books.shelves == {"M01": {"B": 1}, "M02": {"A": 9}}


def test_orders_that_are_not_under_way_any_more_are_in_the_warehouse() -> None:
    books = Inventory([])
    books.order("A", 5)
    books.order("B", 4)
    books.see_orders([under_way("B", 4)])
    assert books.warehouse == {"A": 5, "B": 0}
    assert books.under_way == {"B": 4}
    assert books.position == {"A": 5, "B": 4}


def test_counting_the_warehouse_says_what_to_throw_away() -> None:
    books = Inventory([])
    books.put("C", 9)
    items = books.count([stored("A", 5, 2), stored("B", 3)])
    assert items == [{"product": "A", "quantity": 2, "expired_only": True}]
    assert books.warehouse == {"A": 3, "B": 3}


def test_loading_takes_no_more_than_there_is() -> None:
    books = Inventory(["M01"])
    books.put("A", 3)
    assert [books.load("M01", "A", most) for most in (2, 2, 2, -1)] == [2, 1, 0, 0]
    assert books.load("M01", "B", 2) == 0
    assert books.shelves["M01"] == {"A": 3}
    assert books.position == {"A": 3}


def test_clearing_brings_units_back() -> None:
    books = Inventory(["M01"])
    books.put("A", 3)
    books.load("M01", "A", 3)
    assert books.clear("M01", "A") == {"machine": "M01", "product": "A"}
    assert books.warehouse == {"A": 3}
    assert books.shelves == {"M01": {}}
