"""Which products and how many units a rule-based operator wants."""

from __future__ import annotations

from typing import Any

from market.vending.policies.assortments import Assortments
from market.vending.policies.rolling import Rolling

TYPES = {"M01": "office", "M02": "transit"}
LEVELS = {"office": 1.0, "transit": 1.0}


def good(cost: float = 3.0, reference: float = 5.0, volume: int = 1, life: int = 90) -> Any:
    return {"cost": cost, "reference": reference, "volume": volume, "shelf_life": life}


def assortments(goods: dict[str, Any], sold: dict[str, int], **changes: Any) -> Assortments:
    rolling = Rolling(TYPES)
    for product, units in sold.items():
        rolling.add("M01", product, units, sold_out=False)
    options: dict[str, Any] = {"slots": 2, "volume": 40, "least": 2, **changes}
    return Assortments(goods, TYPES, rolling, **options)


NOTHING: dict[str, Any] = {"M01": {}, "M02": {}}


def test_the_best_products_are_those_that_earn_most_and_not_those_that_sell_most() -> None:
    goods = {"A": good(cost=4.5), "B": good(cost=2.0), "C": good()}
    found = assortments(goods, {"A": 9, "B": 6, "C": 1}).best(NOTHING, LEVELS, 2)
    assert found["M01"] == ["B", "A"]


def test_a_product_that_nobody_tried_is_no_part() -> None:
    goods = {"A": good(), "B": good()}
    assert assortments(goods, {"A": 1}).best(NOTHING, LEVELS, 2)["M02"] == ["A"]


def test_a_product_of_ones_own_goes_only_for_one_that_is_clearly_better() -> None:
    goods = {"A": good(), "B": good(), "C": good(), "D": good()}
    own = {"M01": {"A": 1, "B": 1}, "M02": {}}
    near = assortments(goods, {"A": 5, "B": 5, "C": 6, "D": 6}).best(own, LEVELS, 2)
    clear = assortments(goods, {"A": 5, "B": 5, "C": 9, "D": 15}).best(own, LEVELS, 2)
    assert sorted(near["M01"]) == ["A", "B"]
    assert sorted(clear["M01"]) == ["C", "D"]


def test_no_more_products_change_than_may() -> None:
    goods = {"A": good(), "B": good(), "C": good(), "D": good()}
    own = {"M01": {"A": 1, "B": 1}, "M02": {}}
    found = assortments(goods, {"A": 2, "B": 1, "C": 9, "D": 15}).best(own, LEVELS, 1)
    assert found["M01"] == ["D", "A"]


def test_targets_cover_as_many_weeks_as_the_volume_allows() -> None:
    goods = {"A": good(), "B": good(volume=2)}
    wide = assortments(goods, {"A": 4, "B": 4}).targets("M01", ["A", "B"], 6.0)
    tight = assortments(goods, {"A": 4, "B": 4}, volume=20).targets("M01", ["A", "B"], 6.0)
    assert 20 < sum(n * goods[p]["volume"] for p, n in wide.items()) <= 40
    assert 10 < sum(n * goods[p]["volume"] for p, n in tight.items()) <= 20


def test_no_target_covers_more_weeks_than_wanted() -> None:
    goods = {"A": good()}
    few = assortments(goods, {"A": 4}, volume=400).targets("M01", ["A"], 1.0)["A"]
    many = assortments(goods, {"A": 4}, volume=400).targets("M01", ["A"], 4.0)["A"]
    assert 4 * few - 4 <= many <= 4 * few


def test_what_spoils_soon_is_held_in_small_numbers() -> None:
    goods = {"A": good(life=90), "B": good(life=7)}
    found = assortments(goods, {"A": 4, "B": 4}, volume=400).targets("M01", ["A", "B"], 4.0)
    assert found["B"] < found["A"]


def test_the_last_products_find_no_room_in_a_small_machine() -> None:
    goods = {"A": good(volume=2), "B": good(volume=2)}
    found = assortments(goods, {"A": 4, "B": 4}, volume=5).targets("M01", ["A", "B"], 4.0)
    assert found == {"A": 2}


def test_a_product_that_never_sold_gets_one_unit() -> None:
    goods = {"A": good(), "B": good()}
    found = assortments(goods, {"A": 1, "B": 0}, least=3).targets("M01", ["A", "B"], 0.1)
    assert found == {"A": 3, "B": 1}
