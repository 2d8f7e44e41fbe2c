"""What choices are worth, worked by hand."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from market.vending.catalogue import Catalogue
from market.vending.choices import Choices, pricing_regret
from market.vending.demand import UNIT, Demand, Shelf
from market.vending.pricing import Offers
from tests.market.vending import best_prices
from tests.market.vending.operations import rules
from tests.market.vending.test_demand import FULL, shelf, worked

REFERENCE = 1_000_00
COST = 600_00


def made(appeal: list[list[float]], visits: list[float], outside: float = 1.0) -> Demand:
    """A hand-made demand with as many mean visits a day to each site."""
    demand = worked(appeal, outside=outside)
    m = len(appeal)
    world = replace(demand.world, traffic=np.array(visits), week=np.ones((m, 7)))
    return Demand(rules(demand={"outside": outside}, volume=1_000), world)


def taken(demand: Demand, *shelves: Shelf, day: int = 1) -> Choices:
    """The choices of an operator who had these shelves day after day."""
    choices = Choices(rules(), demand)
    for number, each in enumerate(shelves, day):
        attraction = demand.attraction(each)
        totals = demand.totals([each], [attraction])
        choices.add(number, each, attraction, totals, demand.world.traffic)
    return choices


def at_reference(*pairs: tuple[int, int], machines: int = 1, units: int = FULL) -> Shelf:
    return shelf(*((m, p, units, REFERENCE) for m, p in pairs), machines=machines)


def empty(machines: int) -> Shelf:
    none = np.zeros(0, np.int64)
    return Shelf(none, none, none, none, np.zeros(machines))


def test_an_assortment_is_held_against_the_best_of_its_size() -> None:
    # One of attractions 3 and 1: 3 / 4 of visits buy the better, 1 / 2 the other.
    demand = made([[3.0, 1.0]], [10.0])
    assert taken(demand, at_reference((0, 1))).assortment == pytest.approx((1 / 2) / (3 / 4), 1e-5)
    assert taken(demand, at_reference((0, 0))).assortment == 1
    assert taken(demand, at_reference((0, 0), (0, 1))).assortment == 1


def test_neither_price_nor_stock_is_held_against_an_assortment() -> None:
    demand = made([[3.0, 1.0]], [10.0])
    assert taken(demand, shelf((0, 0, 1, 2 * REFERENCE))).assortment == 1


def test_an_empty_machine_has_an_assortment_of_nought() -> None:
    demand = made([[3.0, 1.0], [3.0, 1.0]], [10.0, 10.0])
    choices = taken(demand, at_reference((0, 0), machines=2), empty(2))
    assert choices.assortment == 1 / 4


def test_the_regret_of_a_price_by_hand() -> None:
    """One product with A = A_outside = 1: best at 1.349 of reference (the worked example)."""
    demand = made([[1.0]], [10.0])
    best = 1_348_79  # 1.349 of reference
    pull = np.exp(-2 * (best / REFERENCE - 1))
    gain = pull * (best - COST) / (1 + pull) - (REFERENCE - COST) / 2
    found = taken(demand, at_reference((0, 0))).regret
    assert found == pytest.approx(10 * gain / 100, 1e-4)
    assert taken(demand, shelf((0, 0, FULL, best))).regret == pytest.approx(0, abs=1e-3)


def test_regret_is_that_of_the_best_single_prices() -> None:
    """Three machines at once against the best price of each product, one machine at a time."""
    draws = np.random.default_rng(5)
    appeal = draws.uniform(0.1, 3.0, (3, 6))
    demand = made(appeal.tolist(), [1.0, 1.0, 1.0], outside=4.0)
    sites, products = np.nonzero(draws.random((3, 6)) < 0.7)
    units = draws.integers(1, 9, len(sites))
    prices = draws.integers(COST, 3 * REFERENCE, len(sites))
    whole = Shelf(sites, products, units, prices, np.ones(3))
    attraction = demand.attraction(whole)
    found = pricing_regret(demand, 3.0, whole, attraction, demand.totals([whole], [attraction]))
    for site in range(3):
        own = sites == site
        n = int(own.sum())
        offers = Offers(
            pull=appeal[site, products[own]] * demand.presence(units[own]),
            cost=np.full(n, float(COST)),
            reference=np.full(n, float(REFERENCE)),
            sensitivity=2.0,
            cap=np.full(n, 3.0 * REFERENCE),
            outside=4.0,
        )
        posted = prices[own].astype(float)
        pull = offers.attraction(posted)
        now = float(np.sum(pull * (posted - COST)) / (4.0 + np.sum(pull)))
        _, best = best_prices.alone(offers, posted)
        assert found[site] == pytest.approx(float(np.sum(best - now)), rel=1e-6)


def test_the_best_prices_of_all_products_have_no_regret() -> None:
    demand = made([[1.0, 2.0, 0.5]], [10.0])
    offers = Offers(
        pull=np.array([1.0, 2.0, 0.5]),
        cost=np.full(3, float(COST)),
        reference=np.full(3, float(REFERENCE)),
        sensitivity=2.0,
        cap=np.full(3, 3.0 * REFERENCE),
        outside=1.0,
    )
    prices, _ = best_prices.together(offers)
    posted = shelf(*((0, p, FULL, round(price)) for p, price in enumerate(prices.tolist())))
    assert taken(demand, posted).regret == pytest.approx(0, abs=1e-3)


def test_rivals_count_where_prices_are_judged() -> None:
    demand = made([[1.0]], [10.0])
    own = at_reference((0, 0))
    attraction = demand.attraction(own)
    alone = pricing_regret(demand, 3.0, own, attraction, demand.totals([own], [attraction]))
    crowded = demand.totals([own], [attraction]) + 50 * UNIT
    among = pricing_regret(demand, 3.0, own, attraction, crowded)
    # Among many the best price is nearly cost + reference / b, 1.1 of reference: little is lost.
    assert 0 < among[0] < alone[0] / 20


def test_a_gap_is_what_the_best_permutation_adds() -> None:
    """Each of two machines has what the other would sell: 3 / 4 of visits instead of 1 / 2."""
    demand = made([[1.0, 3.0], [3.0, 1.0]], [10.0, 20.0])
    crossed = at_reference((0, 0), (1, 1), machines=2)
    straight = at_reference((0, 1), (1, 0), machines=2)
    assert taken(demand, crossed, day=30).gap == pytest.approx((3 / 4) / (1 / 2) - 1)
    assert taken(demand, straight, day=60).gap == 0
    assert taken(demand, crossed, straight, day=30).gap == pytest.approx(1 / 2)


def test_a_better_set_belongs_where_more_people_come() -> None:
    demand = made([[1.0, 3.0], [1.0, 3.0]], [10.0, 20.0])
    found = taken(demand, at_reference((0, 1), (1, 0), machines=2), day=30)
    now, best = 10 * 3 / 4 + 20 / 2, 10 / 2 + 20 * 3 / 4
    assert found.gap == pytest.approx(best / now - 1, 1e-5)


def priced_below_cost(demand: Demand, *products: int) -> Demand:
    """The demand where some products cost more than their reference price."""
    cost = demand.world.catalogue.cost.copy()
    cost[[*products]] = REFERENCE + 100_00
    goods = [
        replace(product, cost=int(own))
        for product, own in zip(demand.world.catalogue.products, cost, strict=True)
    ]
    catalogue = Catalogue(tuple(goods), demand.world.catalogue.subcategories)
    return Demand(rules(demand={"outside": 1.0}), replace(demand.world, catalogue=catalogue))


def test_an_assortment_of_which_no_other_earns_anything_is_left_out() -> None:
    demand = priced_below_cost(made([[5.0, 1.0]], [10.0]), 0)
    # Both lose more than they earn; of one, the second is the best.
    both, better, worse = at_reference((0, 0), (0, 1)), at_reference((0, 1)), at_reference((0, 0))
    assert taken(demand, better, both).assortment == 1
    assert taken(demand, worse).assortment < 0


@pytest.mark.parametrize("appeal", [0.0, 3.0])
def test_where_nothing_can_earn_there_is_no_assortment(appeal: float) -> None:
    demand = priced_below_cost(made([[appeal]], [10.0]), 0)
    choices = taken(demand, empty(1), at_reference((0, 0)), day=29)
    assert choices.assortment == "no set of as many products earns anything"
    assert choices.gap == "nothing that was on a shelf was expected to earn anything"
    assert taken(demand, empty(1)).assortment == 0


def test_regret_is_a_mean_of_stocked_days_also_where_nobody_likes_the_stock() -> None:
    demand = made([[1.0, 0.0]], [10.0])
    liked, unloved = at_reference((0, 0)), at_reference((0, 1))
    (once, half) = (taken(demand, *days).regret for days in ((liked,), (liked, unloved)))
    assert half == pytest.approx(once / 2, abs=1e-6)


def test_a_machine_that_nobody_passes_is_not_called_empty() -> None:
    demand = made([[1.0]], [0.0])
    choices = taken(demand, at_reference((0, 0)), day=30)
    assert choices.gap == "nothing that was on a shelf was expected to earn anything"
    assert choices.regret == 0


def test_what_never_was_says_why() -> None:
    demand = made([[1.0]], [10.0])
    choices = taken(demand, empty(1))
    assert choices.assortment == 0
    assert choices.regret == "nothing was on a shelf"
    assert choices.gap == "the episode ends before day 30"
    assert taken(demand, empty(1), day=30).gap == "nothing was on a shelf"
