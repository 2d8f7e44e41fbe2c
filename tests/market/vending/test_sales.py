"""Sales are the inverse negative binomial at each pair's luck."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from market.vending import sales

MEANS = st.floats(1e-6, 80)
DISPERSIONS = st.floats(1.05, 3)
UNIFORMS = st.integers(0, 2**32 - 1).map(lambda n: n * sales.GRID + sales.GRID / 2)
PLENTY = 10**6


def one(mean: float, dispersion: float, uniform: float, stock: int = PLENTY) -> int:
    columns = (np.array([value], float) for value in (mean, dispersion, uniform))
    return int(sales.sold(*columns, np.array([stock]))[0])


def test_a_table_worked_by_hand() -> None:
    # Mean 1, dispersion 2: size 1, so P(n) = 1/2, 1/4, 1/8, ...
    found = [one(1, 2, uniform) for uniform in (0.1, 0.49, 0.51, 0.74, 0.76, 0.88)]
    assert found == [0, 0, 1, 1, 2, 3]


@given(MEANS, DISPERSIONS, UNIFORMS)
def test_units_are_those_of_the_distribution(
    mean: float, dispersion: float, uniform: float
) -> None:
    law = stats.nbinom(mean / (dispersion - 1), 1 / dispersion)
    units = one(mean, dispersion, uniform)
    assert law.cdf(units) >= uniform - 1e-9
    assert units == 0 or law.cdf(units - 1) <= uniform + 1e-9


@given(MEANS, st.floats(0, 20), DISPERSIONS, UNIFORMS)
def test_more_demand_never_sells_less(
    mean: float, more: float, dispersion: float, uniform: float
) -> None:
    low, high = round(mean, 9), round(mean + more, 9)
    assert one(low, dispersion, uniform) <= one(high, dispersion, uniform)


@given(MEANS, DISPERSIONS, UNIFORMS, st.integers(0, 20))
def test_stock_caps_what_is_sold(
    mean: float, dispersion: float, uniform: float, stock: int
) -> None:
    assert one(mean, dispersion, uniform, stock) == min(stock, one(mean, dispersion, uniform))


def test_nothing_wanted_sells_nothing() -> None:
    assert one(0.0, 1.5, 1 - sales.GRID / 2) == 0


def test_luck_is_whole_and_belongs_to_seed_and_day() -> None:
    first = sales.luck(1, 2, 3, 40)
    assert first.shape == (3, 40)
    assert first.tobytes() == sales.luck(1, 2, 3, 40).tobytes()
    assert first.tobytes() != sales.luck(1, 3, 3, 40).tobytes()
    assert first.tobytes() != sales.luck(2, 2, 3, 40).tobytes()
    assert first.min() > 0
    assert first.max() < 1


@pytest.mark.parametrize(
    ("mean", "dispersion"), [(840, 1.5), (915, 1.5), (925, 1.5), (800, 1.05), (3_000, 10), (1e5, 2)]
)
def test_means_of_hundreds_and_more_sell_what_the_distribution_says(
    mean: float, dispersion: float
) -> None:
    luck = sales.luck(0, 1, 1, 500)[0]
    columns = np.full(500, mean, float), np.full(500, dispersion, float), luck
    units = sales.sold(*columns, np.full(500, PLENTY))
    law = stats.nbinom(mean / (dispersion - 1), 1 / dispersion)
    assert np.array_equal(units, law.ppf(luck))
    fewer = int(mean)
    assert np.array_equal(sales.sold(*columns, np.full(500, fewer)), np.minimum(units, fewer))


def test_what_is_counted_and_what_is_halved_do_not_cross() -> None:
    means = np.linspace(840, 870, 400)  # P(0) falls below the least at 852
    for luck in (sales.GRID / 2, 0.25, 0.75, 1 - sales.GRID / 2):
        same = np.full(400, 1.5), np.full(400, luck), np.full(400, PLENTY)
        assert np.all(np.diff(sales.sold(means, *same)) >= 0)


def test_means_and_variances_are_those_of_the_model() -> None:
    n = 40_000
    for mean, dispersion in ((0.3, 1.2), (2.0, 1.5), (12.0, 1.8)):
        luck = sales.luck(0, 1, 1, n)[0]
        units = sales.sold(np.full(n, mean), np.full(n, dispersion), luck, np.full(n, PLENTY))
        assert abs(units.mean() - mean) < 4 * (mean * dispersion / n) ** 0.5
        assert abs(units.var() / (mean * dispersion) - 1) < 0.06
