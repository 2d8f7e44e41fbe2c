"""Operators who share sites: customers are divided, and nothing else of one touches another."""

from __future__ import annotations

import numpy as np
import pytest

from market.config import load
from market.environment import Answer, Decision
from market.policies.idle import Idle
from market.vending.policies.random import Random
from market.vending.rules import MOST_OPERATORS
from market.vending.vending import Vending
from tests.market.vending.operations import END, PUNCTUAL, Stocker, call, playing, rules
from tests.market.vending.test_demand import FULL, shelf, worked


def test_the_share_of_a_product_is_among_all_machines_at_the_site() -> None:
    """Attractions 3 of one, 1 and 4 of the other, and 2 of nothing: of 20 visits 6, 2 and 8."""
    demand = worked([[3.0, 1.0, 4.0]], outside=2.0)
    one = shelf((0, 0, FULL, 1_000_00))
    two = shelf((0, 1, FULL, 1_000_00), (0, 2, FULL, 1_000_00))
    first, second = demand.means([one, two], np.array([20.0]))
    assert first.tolist() == [6.0]
    assert second.tolist() == [2.0, 8.0]


class Seller:
    """Orders on day 1, fills every machine on day 4 with one product at a price, and waits."""

    def __init__(self, product: str, price: float) -> None:
        self._product, self._price = product, price

    def act(self, decision: Decision) -> Answer:
        machines = [each["machine"] for each in decision.observation.rules["machines"]]
        calls = []
        if decision.step == 1:
            item = {"product": self._product, "quantity": 20 * len(machines)}
            calls = [call("order_stock", item)]
        if decision.step == 4:
            calls = [
                call("load_machine", {"machine": m, "product": self._product, "quantity": 20,
                                      "price": self._price})
                for m in machines
            ]  # fmt: skip
        return Answer([*calls, END])


def test_a_duel_goes_to_the_cheaper_of_two_with_one_product() -> None:
    of = rules(**PUNCTUAL, operation="shared", days=20, cash=9_000.0)
    product = Vending(of, ("a",), 0).world.catalogue[0]
    low, high = product.reference / 100, 1.5 * product.reference / 100
    low, high = round(low, 2), round(high, 2)
    sellers = {"cheap": Seller("P0001", low), "dear": Seller("P0001", high)}
    played = playing(of, {seat: seller.act for seat, seller in sellers.items()})
    sold = {
        seat: result.metrics["units_sold"]
        for seat, result in played.environment.result.seats.items()
    }
    assert sold["cheap"] > sold["dear"] > 0


def test_a_rival_of_other_goods_takes_fewer_customers_than_there_are() -> None:
    """Two sell more together than one, and each less than alone."""
    of = rules(**PUNCTUAL, operation="shared", days=6, demand={"outside": 1})
    sellers = {"one": Seller("P0001", 4.0), "two": Seller("P0002", 4.0)}

    def sold(*seats: str) -> list[int]:
        played = playing(of, {seat: sellers[seat].act for seat in seats})
        found = played.environment.result.seats
        return [int(found[seat].metrics["units_sold"]) for seat in seats]

    both, (alone,) = sold("one", "two"), sold("one")
    assert sum(both) > alone > both[0]


def test_an_idle_rival_takes_nobody() -> None:
    of = rules(**PUNCTUAL, operation="shared", days=12)
    scores = [
        playing(of, {"x": Stocker("x", 0, 6, 4).act, **others}).environment.result.seats["x"]
        for others in ({}, {"i": Idle("i", 0).act})
    ]
    assert scores[0] == scores[1]


@pytest.mark.parametrize("seats", [2, MOST_OPERATORS])
def test_two_to_twenty_can_share_a_world(seats: int) -> None:
    of = rules(operation="shared", days=6)
    names = [f"s{i}" for i in range(seats)]
    played = playing(of, {name: Random(name, 3).act for name in names}, seed=3)
    assert len(played.environment.result.seats) == seats
    seen = played.history[0][0].observation
    assert seen.rules["operators"] == seats


def test_a_seat_sees_what_rivals_showed_in_the_morning() -> None:
    of = rules(**PUNCTUAL, operation="shared", days=5)
    shown: list[object] = []

    def looking(decision: Decision) -> Answer:
        rivals = [f"operator {n}" for n in (1, 2)]
        own = decision.observation.private.get("report", {}).get("operator")
        shown.extend(
            [row["price"] for row in result["rows"]]
            for result in decision.observation.private["results"]
            if result["tool"] == "view_machine" and "rows" in result
        )
        calls = [call("view_machine", machine="M01", operator=r) for r in rivals if r != own]
        return Answer([*calls, END])

    playing(of, {"a": looking, "b": Seller("P0001", 4.0).act})
    # Looks of days 1 to 4 are told the day after; b loads on day 4, after the morning.
    assert shown == [[], [], [], []]
    shown.clear()
    playing(rules(**PUNCTUAL, operation="shared", days=6),
            {"a": looking, "b": Seller("P0001", 4.0).act})  # fmt: skip
    assert shown[-1] == [4.0]


def test_the_preset_is_a_world_that_is_shared() -> None:
    config = load("vending/competitive", ["rules.days=1"])
    assert config.rules["operation"] == "shared"
    assert 2 <= sum(len(retailer.seats) for retailer in config.retailers) <= MOST_OPERATORS
