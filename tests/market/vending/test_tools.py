"""Hostile and malformed calls are refused alone, with the reason."""

from __future__ import annotations

from typing import Any

import pytest

from market import forms
from market.environment import Answer, Cause, NoAction
from tests.market.vending.operations import END, Game, call, rules

ORDER = {"product": "P0001", "quantity": 1}


@pytest.mark.parametrize(
    ("made", "reason"),
    [
        ({"tool": "buy", "arguments": {}}, "there is no such tool"),
        ({"tool": "__class__", "arguments": {}}, "there is no such tool"),
        (call("order_stock"), "must contain ['items']"),
        ({"tool": "order_stock", "arguments": {"items": []}}, "at least 1 items"),
        (call("order_stock", *[ORDER] * 101), "100 items"),
        (call("order_stock", {**ORDER, "quantity": 0}), "bigger than or equal to 1"),
        (call("order_stock", {**ORDER, "quantity": -5}), "bigger than or equal to 1"),
        (call("order_stock", {**ORDER, "quantity": 1.5}), "must be integer"),
        (call("order_stock", {**ORDER, "quantity": True}), "must be integer"),
        (call("order_stock", {**ORDER, "quantity": "6"}), "must be integer"),
        (call("order_stock", ORDER, {**ORDER, "colour": "red"}), "must not contain"),
        (call("order_stock", {**ORDER, "product": "P" * 17}), "16 characters"),
        (call("order_stock", {**ORDER, "product": None}), "must be string"),
        (
            call("set_prices", {"machine": "M01", "product": "P0001", "price": 0}),
            "bigger than or equal to 0.01",
        ),
        (call("view_sales", window=2), "must be one of"),
        (call("view_catalog", rows=51), "smaller than or equal to 50"),
        (call("view_catalog", page=0), "bigger than or equal to 1"),
        (call("view_catalog", subcategory="weapons"), "there is no such subcategory"),
        (call("view_machine", machine="M77"), "there is no such machine"),
        (call("view_machine", machine="M01", operator="operator 1"), "there is no such rival"),
        (call("view_product", product="P7777"), "there is no such product"),
        (call("write_notes", text="x" * 6_001), "notes have at most 6000 characters"),
        (call("write_notes", text=7), "must be string"),
        (call("end_day", now=True), "must not contain"),
    ],
)
def test_a_bad_call_is_refused_whole_and_alone(made: dict[str, Any], reason: str) -> None:
    game = Game()
    before = game.fen
    bad, good = game.do(made, call("order_stock", ORDER))
    assert reason in bad["error"]
    assert len(bad["error"]) <= 250
    assert "done" not in bad
    assert good["done"]
    assert before - game.fen == game.operator.cost(0, 1)
    assert game.operator.counts.refused == 1


def test_an_oversized_note_leaves_the_old_ones() -> None:
    game = Game()
    game.do(call("write_notes", text="water sells"), call("write_notes", text="x" * 6_001))
    assert game.one("read_notes")["text"] == "water sells"


def test_calls_after_the_end_of_the_day_are_refused() -> None:
    game = Game()
    before = game.operator.counts.calls
    results = game.do(END, call("order_stock", ORDER), call("write_notes", text="late"), END)
    assert [result.get("error") for result in results] == [None] + ["the day is over"] * 3
    assert game.decision.step == 2
    assert game.operator.notes == ""
    assert game.operator.orders.placed == []
    assert game.operator.counts.calls - before == 4


def test_the_day_ends_when_its_calls_are_used_up() -> None:
    game = Game(rules(calls_per_day=3))
    look = call("read_notes")
    assert game.decision.observation.private["calls_left"] == 3
    game.do(look, look)
    assert game.decision.observation.private["calls_left"] == 1
    results = game.do(look, call("order_stock", ORDER))
    assert results[1]["error"] == "the calls of the day are used up"
    assert (game.decision.step, game.decision.turn) == (2, 0)
    assert game.decision.observation.private["calls_left"] == 3


@pytest.mark.parametrize("given", [NoAction(Cause.LATE), Answer([])])
def test_doing_nothing_ends_the_day(given: Answer | NoAction) -> None:
    environment = Game().environment
    (decision,) = environment.apply({"a": given})
    assert (decision.step, decision.turn) == (2, 0)


def test_the_form_takes_any_list_of_calls_within_reason() -> None:
    form = Game().environment.form
    assert forms.check(form, [END] * 160) is None
    assert forms.check(form, [END] * 161) is not None
    assert forms.check(form, [{"tool": "end_day"}]) is not None
    assert forms.check(form, [{"tool": "end_day", "arguments": []}]) is not None


def test_results_come_one_per_call_in_order() -> None:
    game = Game()
    results = game.do(call("read_notes"), call("nope"), call("view_warehouse"))
    assert [result["tool"] for result in results] == ["read_notes", "nope", "view_warehouse"]
