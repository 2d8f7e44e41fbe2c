"""A world that is given instead of drawn."""

from __future__ import annotations

from typing import Any

import pytest
from pydantic import ValidationError

from market.policies.idle import Idle
from market.vending import world
from market.vending.policies.random import Random
from market.vending.rules import VendingRules
from tests.market.vending.operations import playing

WEEK = [1.0] * 5 + [0.5, 1.5]


def given(**changes: Any) -> VendingRules:
    """Two products at two sites."""
    product = {"name": "tea", "subcategory": "drinks", "cost": 2.5, "reference": 4.0}
    site = {"site_type": "school", "traffic": 30, "week": WEEK, "holiday": 0, "crowd": 0.2}
    fitted = {
        "products": [{**product, "popularity": 1.5}, {**product, "popularity": 0.5, "volume": 2}],
        "sites": [{**site, "taste": [1, 2]}, {**site, "taste": [3, 0.5]}],
    }
    return VendingRules.model_validate({"days": 8, "fitted": fitted, **changes})


def test_a_world_that_is_given_is_the_same_on_every_seed() -> None:
    one, two = (world.generated(given(), seed) for seed in (1, 2))
    assert one.appeal.tolist() == two.appeal.tolist() == [[1.5, 1.0], [4.5, 0.25]]
    assert one.machines == ("M01", "M02")
    assert [each.product for each in one.catalogue.products] == ["P0001", "P0002"]
    assert one.catalogue.cost.tolist() == [250, 250]
    assert one.week.tolist() == [WEEK, WEEK]


def test_it_is_played_as_any_other_and_luck_is_drawn() -> None:
    sold = {
        playing(given(), {"a": Random("a", 1).act}, seed).environment.result.seats["a"].score
        for seed in (1, 2)
    }
    assert len(sold) == 2
    assert playing(given(), {"a": Idle("a", 0).act}).scores["a"] == 40_000 - 8 * 80
    assert given().machines == 2


def test_a_world_is_given_or_has_sites_and_products_to_draw() -> None:
    with pytest.raises(ValidationError, match="subcategories: there must be at least one"):
        VendingRules.model_validate({})


def test_every_site_has_a_taste_of_every_product() -> None:
    whole = given().model_dump()["fitted"]
    whole["sites"][1]["taste"] = [1]
    with pytest.raises(ValidationError, match=r"sites\.1\.taste: it has 1 factors for 2 products"):
        given(fitted=whole)
