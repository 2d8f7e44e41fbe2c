"""Views show what there is, in pages, and windows of days that are over."""

from __future__ import annotations

import pytest

from market.environment import Answer
from market.vending.vending import Vending
from tests.market.vending.operations import END, PUNCTUAL, Game, call, rules, stocked

BUSY = rules(**PUNCTUAL)


def test_the_catalogue_comes_in_pages() -> None:
    game = Game()
    first = game.one("view_catalog")
    assert len(first["rows"]) == 20
    assert (first["page"], first["pages"], first["of"]) == (1, 2, 24)
    second = game.one("view_catalog", page=2)
    assert [row["product"] for row in second["rows"]] == ["P0021", "P0022", "P0023", "P0024"]
    assert game.one("view_catalog", page=3)["rows"] == []
    assert len(game.one("view_catalog", rows=50)["rows"]) == 24


def test_a_subcategory_can_be_looked_at_alone() -> None:
    rows = Game().one("view_catalog", subcategory="bread")["rows"]
    assert {row["subcategory"] for row in rows} == {"bread"}
    assert {row["shelf_life"] for row in rows} == {30}


def test_a_machine_shows_what_it_lists_and_sold() -> None:
    game = stocked(BUSY)
    game.wait(2)
    seen = game.one("view_machine", machine="M01", window=3)
    sold = {}
    for row in game.rows("sales"):
        if row.machine == "M01":
            sold[row.product] = sold.get(row.product, 0) + row.sold
    assert {row["product"]: row["sold"] for row in seen["rows"]} == sold
    assert {row["product"]: 3 - row["units"] for row in seen["rows"]} == sold
    assert seen["free_slots"] == 0
    assert seen["free_volume"] == 40 - game.operator.machines.used[0]


def test_sales_add_up_however_they_are_grouped() -> None:
    game = stocked(BUSY)
    game.wait(3)
    total = sum(row.sold for row in game.rows("sales"))
    revenue = sum(row.sold * row.price for row in game.rows("sales")) / 100
    for by in ("product", "machine", "day"):
        seen = game.one("view_sales", by=by, window=7, rows=50)
        assert seen["units"] == total == sum(row["sold"] for row in seen["rows"])
        assert seen["revenue"] == pytest.approx(revenue)
    ranked = [row["sold"] for row in game.one("view_sales", window=7)["rows"]]
    assert ranked == sorted(ranked, reverse=True)
    days = [row["day"] for row in game.one("view_sales", by="day", window=7)["rows"]]
    assert days == sorted(days)


def test_a_window_holds_the_last_days_that_are_over() -> None:
    game = stocked(BUSY)
    game.wait(3)  # days 4, 5 and 6 are over
    rows = {row.step: row for row in game.rows("days")}
    assert game.one("view_sales", window=1)["units"] == rows[6].sold
    assert game.one("view_sales", window=3)["units"] == sum(rows[d].sold for d in (4, 5, 6))
    finances = game.one("view_finances", window=3)["rows"]
    assert [row["day"] for row in finances] == [4, 5, 6]
    assert [row["profit"] for row in finances] == [rows[d].profit / 100 for d in (4, 5, 6)]
    assert [day["day"] for day in game.one("view_calendar", window=3)["past"]] == [4, 5, 6]


def test_sales_of_one_machine_and_product_can_be_picked() -> None:
    game = stocked(BUSY)
    game.wait(3)
    seen = game.one("view_sales", machine="M02", product="P0003", by="day", window=7)
    chosen = [r for r in game.rows("sales") if r.machine == "M02" and r.product == "P0003"]
    assert seen["units"] == sum(row.sold for row in chosen)


def test_orders_are_shown_while_under_way_and_after() -> None:
    late = {"kind": "categorical", "values": [5], "probabilities": [1]}
    game = Game(rules(lead_time=late))
    game.do(call("order_stock", {"product": "P0002", "quantity": 4}), END)
    (row,) = game.one("view_orders")["rows"]
    assert row["promised"] == 4
    assert "delivered" not in row
    game.wait(3)  # day 5: late, and nobody knows for how long
    assert game.one("view_orders")["rows"] == [row]
    game.wait()
    assert game.one("view_orders")["rows"] == []
    assert game.one("view_orders", status="delivered")["rows"] == [{**row, "delivered": 6}]


def test_a_product_is_shown_everywhere_it_is() -> None:
    game = stocked(BUSY, units=2)
    game.one("unload_machine", {"machine": "M03", "product": "P0001", "quantity": 1})
    seen = game.one("view_product", product="P0001")
    assert seen["warehouse"] == [{"units": 1, "expires": 34}]
    assert [(m["machine"], m["units"]) for m in seen["machines"]] == [
        ("M01", 2),
        ("M02", 2),
        ("M03", 1),
    ]


def test_the_report_adds_up_with_the_views() -> None:
    game = stocked(BUSY)
    game.wait()
    report = game.decision.observation.private["report"]
    assert report["cash"] == game.one("view_finances")["cash"]
    assert report["warehouse"]["units"] == game.one("view_warehouse")["units"]
    machines = report["machines"]
    assert sum(m["sold"] for m in machines.values()) == game.one("view_sales", window=1)["units"]
    assert machines["M01"]["listed"] == 6
    assert machines["M01"]["units"] == int(game.operator.machines.units[0].sum())
    assert report["yesterday"]["profit"] == game.rows("days")[-1].profit / 100


def test_the_report_tells_of_expired_and_expiring_units() -> None:
    brief = {"bread": {"shelf_life": 8, "reference": {"kind": "constant", "value": 6}}}
    game = stocked(rules(**PUNCTUAL, subcategories=brief, days=14, demand={"outside": 1e9}))
    game.one("unload_machine", {"machine": "M02", "product": "P0001", "quantity": 2})
    found = []
    for days in (1, 7):  # to day 5 and to day 12, on which the batches of day 4 expire
        game.wait(days)
        report = game.decision.observation.private["report"]
        places = report["machines"]["M01"], report["machines"]["M02"], report["warehouse"]
        found.append([(place["expiring"], place["expired"]) for place in places])
    assert found[0] == [(18, 0), (16, 0), (2, 0)]
    assert found[1] == [(0, 18), (0, 16), (0, 2)]


def test_rivals_show_prices_and_not_units() -> None:
    environment = Vending(rules(**PUNCTUAL, operation="shared"), ("a", "b"), 0)
    asked = environment.start()
    names = {d.seat: d.observation.private["report"]["operator"] for d in asked}
    assert sorted(names.values()) == ["operator 1", "operator 2"]
    order = call("order_stock", {"product": "P0005", "quantity": 6})
    environment.apply({"a": Answer([order, END]), "b": Answer([END])})
    for _ in range(2):
        environment.apply({"a": Answer([END]), "b": Answer([END])})
    load = call("load_machine", {"machine": "M01", "product": "P0005", "quantity": 6})
    look = call("view_machine", machine="M01", operator=names["a"])
    asked = environment.apply({"a": Answer([load, END]), "b": Answer([look])})
    assert asked[0].observation.private["results"][0]["rows"] == []  # as of the morning
    environment.apply({"b": Answer([END])})
    asked = environment.apply({"a": Answer([call("read_notes")]), "b": Answer([look])})
    (row,) = asked[1].observation.private["results"][0]["rows"]
    assert row.keys() == {"product", "price", "in_stock"}
