"""Worlds look like public vending records, and depend on their seed alone."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from market.vending import sales, world
from market.vending.calendar import calendar
from market.vending.demand import Demand, Shelf
from market.vending.rules import VendingRules
from market.vending.world import World
from tests.market.vending.operations import paper, rules


def spread(of: World, products: np.ndarray, units: int = 6) -> Shelf:
    """Products (s, n) on the shelves of all machines, at reference prices and full."""
    sites = np.repeat(np.arange(len(products)), products.shape[1])
    flat = products.ravel()
    return Shelf(
        sites=sites,
        products=flat,
        units=np.full(len(flat), units),
        prices=of.catalogue.reference[flat],
        fullness=np.ones(len(products)),
    )


def history(of: VendingRules, seed: int, products: np.ndarray, days: int = 180) -> np.ndarray:
    """(days, s, n) units sold with stock that never runs out."""
    drawn, days_of = world.generated(of, seed), calendar(of, seed)
    demand, shelf = Demand(of, drawn), spread(drawn, products)
    found = []
    for day in range(1, days + 1):
        visits = demand.expected_traffic(days_of, day) * demand.crowd(seed, day)
        (means,) = demand.means([shelf], visits)
        luck = sales.luck(seed, day, *drawn.appeal.shape)[shelf.sites, shelf.products]
        plenty = np.full(len(means), 10_000)
        found.append(sales.sold(means, drawn.dispersion[shelf.products], luck, plenty))
    return np.array(found).reshape(days, *products.shape)


def best(of: World, n: int = 60) -> np.ndarray:
    """(s, n) the products of most appeal at each site."""
    return np.argsort(-of.appeal, axis=1, kind="stable")[:, :n]


def test_a_world_depends_on_its_seed_alone() -> None:
    one, two, other = (world.generated(rules(), seed) for seed in (3, 3, 4))
    assert one.appeal.tobytes() == two.appeal.tobytes()
    assert one.catalogue == two.catalogue
    assert one.appeal.tobytes() != other.appeal.tobytes()


def test_the_world_can_stay_while_luck_changes() -> None:
    assert world.seeds(rules(world=7), 1) == world.Seeds(7, 1)
    assert world.seeds(rules(), 1) == world.Seeds(1, 1)


def test_held_out_worlds_need_the_salt_and_follow_it(monkeypatch: pytest.MonkeyPatch) -> None:
    held_out = rules(worlds="held_out")
    monkeypatch.delenv("MARKET_WORLD_SALT", raising=False)
    with pytest.raises(ValueError, match="MARKET_WORLD_SALT"):
        world.seeds(held_out, 1)
    monkeypatch.setenv("MARKET_WORLD_SALT", "grain")
    first = world.seeds(held_out, 1)
    assert first == world.seeds(held_out, 1)
    assert first != world.seeds(held_out, 2)
    monkeypatch.setenv("MARKET_WORLD_SALT", "rock")
    assert first.world != world.seeds(held_out, 1).world
    assert first.luck != world.seeds(held_out, 1).luck


def test_the_top_20_of_171_products_take_about_half_the_units() -> None:
    of = paper(products=171)
    shares = []
    for seed in range(3):
        everything = np.tile(np.arange(171), (20, 1))
        units = np.sort(history(of, seed, everything, 30).sum((0, 1)))[::-1]
        shares.append(units[:20].sum() / units.sum())
    assert 0.4 < np.mean(shares) < 0.6


def test_sites_of_one_type_rank_products_similarly_and_others_less() -> None:
    within, across = [], []
    for seed in range(2):
        drawn = world.generated(paper(), seed)
        ranks = stats.spearmanr(drawn.appeal, axis=1).statistic
        for i, one in enumerate(drawn.site_types):
            for j in range(i):
                (within if one == drawn.site_types[j] else across).append(ranks[i, j])
    assert 0.6 < np.mean(within) < 0.8
    assert 0.15 < np.mean(across) < 0.5


def test_sales_vary_as_in_vending_records() -> None:
    products, machines, units = [], [], []
    for seed in range(3):
        drawn = world.generated(paper(), seed)
        sold = history(paper(), seed, best(drawn))
        pairs = sold.var(0) / sold.mean(0)
        products.append(np.median(pairs))
        of_machines = sold.sum(2)
        machines += (of_machines.var(0) / of_machines.mean(0)).tolist()
        units.append(of_machines.mean())
    assert all(1.2 < ratio < 1.8 for ratio in products)
    assert np.mean([3 < ratio < 20 for ratio in machines]) > 0.9
    assert all(10 < mean < 25 for mean in units)


def test_sample_means_match_the_model() -> None:
    """Over days, units less their means are noise of the stated variance."""
    of = paper()
    drawn, days = world.generated(of, 0), calendar(of, 0)
    demand, shelf = Demand(of, drawn), spread(drawn, best(drawn))
    dispersion = drawn.dispersion[shelf.products]
    excess = variance = 0.0
    for day in range(1, 121):
        visits = demand.expected_traffic(days, day) * demand.crowd(0, day)
        (means,) = demand.means([shelf], visits)
        luck = sales.luck(0, day, *drawn.appeal.shape)[shelf.sites, shelf.products]
        units = sales.sold(means, dispersion, luck, np.full(len(means), 10_000))
        excess += (units - means).sum()
        variance += (means * dispersion).sum()
    assert abs(excess) < 4 * variance**0.5
