"""Metrics worked by hand on short episodes."""

from __future__ import annotations

import pytest

from market.vending.accounts import Closing
from market.vending.metrics import growth
from tests.market.vending.operations import END, PUNCTUAL, Game, call, rules

WATER = {"water": {"shelf_life": 3, "reference": {"kind": "constant", "value": 4}}}


def closing(day: int, revenue: int) -> Closing:
    return Closing(day, revenue, 0, 0, 0, 0, 0, 0, 0, 0, 0)


def test_growth_is_the_mean_daily_profit_of_both_ends_included() -> None:
    closings = [closing(day, 100 * day) for day in range(1, 11)]
    assert growth(closings, (3, 5)) == pytest.approx((3 + 4 + 5) / 3)
    assert growth(closings, (8, 11)) == "the episode ends before day 11"


def test_an_episode_by_hand() -> None:
    """Ten units for 2.00 each; six on one of three shelves on day 4; nobody buys."""
    quiet = rules(
        **PUNCTUAL,
        days=5,
        products=1,
        volume=10,
        subcategories={"water": {**WATER["water"], "volume": {
            "kind": "categorical", "values": [1], "probabilities": [1]}}},
        cost_share={"kind": "constant", "value": 0.5},
        demand={"outside": 1e9},
    )  # fmt: skip
    game = Game(quiet)
    game.do(call("order_stock", {"product": "P0001", "quantity": 10}), END)
    game.wait(2)
    item = {"machine": "M01", "product": "P0001", "quantity": 6}
    game.do(call("load_machine", item, {**item, "quantity": 5}), END)
    game.do(call("discard_stock", {"product": "P0001", "quantity": 1}), END)
    result = game.environment.result.seats["a"]
    # Cash: 2,000 - 5 x 80 - 20 - 35 - rent of 10 and of 4 units; 9 units at 2.00.
    assert result.score == pytest.approx(2_000 - 400 - 20 - 35 - 0.28 + 18)
    assert result.metrics["waste_rate"] == 1 / 10
    assert result.metrics["shelf_utilisation"] == pytest.approx(2 * 0.6 / 15)
    assert result.metrics["empty_machine_days"] == 13 / 15
    assert result.metrics["capital_efficiency"] == 0
    assert (result.metrics["tool_calls"], result.metrics["rejected"]) == (8, 1)
    assert result.metrics["visits"] == 1
    assert result.metrics["asset_growth"] == pytest.approx(result.score - 2_000)
    # Two days since the visit, nothing sold, 35 for the visit.
    assert result.metrics["visit_cycle_contribution"] == -35 / 2
    # Of one product there is no other set; thirteen of fifteen machine-days were empty.
    assert result.metrics["assortment"] == pytest.approx(2 / 15, abs=1e-6)
    assert result.metrics["growth_early"] is None
    assert result.undefined["growth_early"] == "the episode ends before day 45"


def test_what_is_undefined_says_why() -> None:
    game = Game(rules(days=1))
    game.wait()
    result = game.environment.result.seats["a"]
    assert result.metrics["waste_rate"] is None
    assert result.undefined["waste_rate"] == "nothing received"
    assert result.undefined["capital_efficiency"] == "no inventory"
    assert result.undefined["visit_cycle_contribution"] == "no machine was visited"
    assert result.undefined["pricing_regret"] == "nothing was on a shelf"
    assert result.undefined["reassignment_gap"] == "the episode ends before day 30"
    assert result.metrics["assortment"] == 0
