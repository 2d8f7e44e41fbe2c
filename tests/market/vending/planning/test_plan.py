"""Plans of machines, against the exact prices and the limits of machines."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from market.vending import world
from market.vending.catalogue import Catalogue
from market.vending.demand import Demand
from market.vending.planning.plan import Plan, plan
from market.vending.rules import VendingRules
from tests.market.vending.operations import paper, rules

#: Presence and fullness hardly matter, so that a plan has the prices of the books.
PLAIN: dict[str, Any] = {"presence": 0.01, "empty_appeal": 1.0}


def bare(outside: float, pulls: list[float], **changes: Any) -> tuple[VendingRules, Demand]:
    """A world in which the first products draw so much, and cost 0.6 of their references."""
    of = rules(demand={"outside": outside, **PLAIN}, **changes)
    drawn = world.generated(of, 0)
    products = tuple(
        replace(product, reference=1_000 * (i + 1), cost=600 * (i + 1), volume=1)
        for i, product in enumerate(drawn.catalogue.products)
    )
    appeal = np.zeros_like(drawn.appeal)
    appeal[:, : len(pulls)] = pulls
    goods = Catalogue(products, drawn.catalogue.subcategories)
    return of, Demand(of, replace(drawn, catalogue=goods, appeal=appeal))


def drawn_plan(of: VendingRules, site: int = 0, visits: float = 30.0) -> tuple[Plan, Demand]:
    demand = Demand(of, world.generated(of, 0))
    return plan(of, demand, site, visits), demand


def test_one_product_against_an_equal_outside_costs_1_349_of_reference() -> None:
    of, demand = bare(1.0, [1.0], slots=1)
    (price,) = plan(of, demand, 0, 5.0).prices
    assert price == pytest.approx(1_349, abs=2)


def test_where_hardly_anybody_buys_the_price_is_cost_and_reference_over_b() -> None:
    of, demand = bare(1e6, [1.0], slots=1)
    (price,) = plan(of, demand, 0, 1e5).prices
    assert price == pytest.approx(600 + 1_000 / 2, abs=2)


def test_the_adjusted_mark_up_of_all_products_is_equal() -> None:
    of, demand = bare(2.0, [1.0, 0.5, 0.4], slots=3)
    found = plan(of, demand, 0, 5.0)
    goods = demand.world.catalogue
    adjusted = found.prices - goods.cost[found.products] - goods.reference[found.products] / 2
    assert len(found.products) == 3
    assert np.ptp(adjusted) <= 1.5
    assert adjusted.min() > 0


@pytest.mark.parametrize("site", [0, 9])
def test_a_plan_fits_its_machine_and_fills_it(site: int) -> None:
    of = paper()
    found, demand = drawn_plan(of, site)
    volume = int(found.units @ demand.world.catalogue.volume[found.products])
    assert len(found.products) <= of.slots
    assert 0.97 * of.volume < volume <= of.volume
    assert (found.units >= 1).all()
    assert (found.prices <= demand.world.catalogue.reference[found.products] * 3).all()


def test_dear_visits_are_rarer() -> None:
    cheap, _ = drawn_plan(paper(visit_fee=5.0))
    dear, _ = drawn_plan(paper(visit_fee=100.0))
    assert cheap.cycle < dear.cycle
    assert cheap.profit > dear.profit
    assert cheap.due < dear.due


def test_a_machine_with_more_customers_earns_more_and_is_visited_more_often() -> None:
    quiet, _ = drawn_plan(paper(), visits=15.0)
    busy, _ = drawn_plan(paper(), visits=60.0)
    assert quiet.profit < busy.profit
    assert quiet.cycle > busy.cycle


def test_what_spoils_is_held_in_smaller_numbers() -> None:
    def units(life: int) -> int:
        of, demand = bare(5.0, [1.0], slots=1, volume=400)
        goods = demand.world.catalogue
        short = Catalogue(
            tuple(replace(each, shelf_life=life) for each in goods.products), goods.subcategories
        )
        return int(plan(of, Demand(of, replace(demand.world, catalogue=short)), 0, 20).units[0])

    assert units(life=15) < units(life=90)
