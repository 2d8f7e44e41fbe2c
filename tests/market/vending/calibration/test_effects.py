"""Effects of sums of sales that were drawn from known ones."""

from __future__ import annotations

from datetime import date

import numpy as np
import pytest

from market.vending.calibration.effects import Effects
from market.vending.calibration.records import Records

KINDS, PRODUCTS, MACHINES = 6, 60, 20
SPREADS = {"popularity": 0.8, "preference": 0.5, "alignment": 0.3, "own": 0.4}


def pairs(types: int = 5, kinds: int = KINDS, sold: np.ndarray | None = None) -> Records:
    """Every machine sells every product, or those of which it sold anything."""
    there = np.ones((MACHINES, PRODUCTS), bool) if sold is None else sold > 0
    machine, product = np.nonzero(there)
    nothing = np.zeros((len(machine), 1))
    return Records(
        first=date(2025, 3, 3),
        machines=tuple(f"m{i:02}" for i in range(MACHINES)),
        site_types=tuple(f"t{i * types // MACHINES:02}" for i in range(MACHINES)),
        products=tuple(f"p{i:02}" for i in range(PRODUCTS)),
        subcategories=tuple(f"k{i % kinds}" for i in range(PRODUCTS)),
        machine=machine,
        product=product,
        units=nothing,
        price=nothing,
    )


def drawn(expected: float, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """(products) true log popularity and (machines, products) Poisson sales."""
    draws = np.random.default_rng(seed)
    popularity = draws.normal(0, SPREADS["popularity"], PRODUCTS)
    of_type, of_kind = np.arange(MACHINES) // 4, np.arange(PRODUCTS) % KINDS
    logs = popularity + draws.normal(0, SPREADS["own"], (MACHINES, PRODUCTS))
    logs += draws.normal(0, SPREADS["preference"], (5, KINDS))[of_type][:, of_kind]
    logs += draws.normal(0, SPREADS["alignment"], (5, PRODUCTS))[of_type]
    return popularity, draws.poisson(expected * np.exp(logs)).astype(float)


def settled(records: Records, sold: np.ndarray, expected: float) -> Effects:
    effects = Effects(records)
    units = sold[records.machine, records.product]
    for _ in range(40):
        if effects.step(units, np.full(len(units), expected), np.full(len(units), 1.001)) < 1e-4:
            return effects
    raise AssertionError("it does not settle")


def test_spreads_and_popularity_are_found() -> None:
    popularity, sold = drawn(100, seed=0)
    effects = settled(pairs(sold=sold), sold, 100)
    assert list(effects.spreads) == list(SPREADS)
    assert list(effects.spreads.values()) == pytest.approx(list(SPREADS.values()), rel=0.25)
    assert np.corrcoef(effects.logs["popularity"], popularity)[0, 1] > 0.9


def test_pairs_that_sold_nothing_and_so_are_missing_do_not_flatter_the_rest() -> None:
    """All are equally popular, but half were offered so briefly that many pairs sold nothing."""
    draws = np.random.default_rng(7)
    expected = np.where(np.arange(PRODUCTS) % 2, 100.0, 0.7)
    sold = draws.poisson(expected, (MACHINES, PRODUCTS)).astype(float)
    records = pairs(types=1, sold=sold)
    effects = Effects(records, {"popularity": 3.0, "own": 0.01})
    units, meant = sold[records.machine, records.product], expected[records.product]
    for _ in range(20):
        effects.step(units, meant, np.full(len(units), 1.001))
    brief, long = effects.logs["popularity"].reshape(-1, 2).mean(0)
    # Taken at their face, those that sold at all sold exp(0.69) times what was expected.
    assert np.log(0.7 / -np.expm1(-0.7) / 0.7) == pytest.approx(0.69, abs=0.01)
    assert brief - long == pytest.approx(0, abs=0.15)


def test_families_that_nothing_tells_apart_are_left_out() -> None:
    assert list(Effects(pairs(types=1)).spreads) == ["popularity", "own"]
    assert list(Effects(pairs(types=MACHINES)).spreads) == ["popularity", "preference", "own"]
    assert list(Effects(pairs(kinds=1)).spreads) == ["popularity", "alignment", "own"]


def test_spreads_that_are_told_stay() -> None:
    _, sold = drawn(100, seed=5)
    effects = Effects(pairs(sold=sold), SPREADS)
    units = sold[sold > 0]
    effects.step(units, np.full(len(units), 100.0), np.full(len(units), 1.001))
    assert effects.spreads == pytest.approx(SPREADS)
