from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from market.rng import generator
from market.study.statistics.intervals import mean, ratio


def test_a_mean_of_few_blocks_has_the_interval_of_student() -> None:
    # Mean 3; the squares of the deviations sum to 10, so the error is sqrt(10/4/5) = 0.70711,
    # and t with 4 degrees of freedom is 2.77645.
    found = mean([1, 2, 3, 4, 5])
    assert (found.value, found.blocks, found.method) == (3, 5, "t")
    assert (found.low, found.high) == (
        pytest.approx(3 - 1.96324, abs=1e-5),
        pytest.approx(3 + 1.96324, abs=1e-5),
    )


def test_another_level_is_another_quantile() -> None:
    found = mean([1, 2, 3, 4, 5], level=0.8)
    assert found.high == pytest.approx(3 + 1.53321 * 0.70711, abs=1e-4)
    assert found.level == 0.8


def test_from_thirty_blocks_a_mean_has_the_bootstrap_t() -> None:
    values = generator(1, "skewed").exponential(size=60)
    found = mean(values.tolist())
    assert mean(values[:30].tolist()).method == "bootstrap-t"
    assert mean(values[:29].tolist()).method == "t"
    assert found.value is not None
    assert found.low is not None
    assert found.high is not None
    assert found.high - found.value > 1.1 * (found.value - found.low), "the long tail is above"
    plain = mean(values.tolist(), method="t")
    assert plain.low is not None
    assert found.low == pytest.approx(plain.low, abs=0.15)


def test_a_bootstrap_is_that_of_its_seed() -> None:
    values = generator(1, "values").normal(size=40).tolist()
    assert mean(values, seed=3) == mean(values, seed=3)
    assert mean(values, seed=3) != mean(values, seed=4)


@given(st.lists(st.floats(-1e3, 1e3), min_size=2, max_size=40), st.floats(0.5, 10))
def test_intervals_of_means_follow_the_unit(values: list[float], unit: float) -> None:
    found, scaled = mean(values, method="t"), mean([unit * v for v in values], method="t")
    assert found.low is not None
    assert scaled.low == pytest.approx(unit * found.low, abs=1e-6)


def test_no_block_has_no_mean_and_one_block_no_interval() -> None:
    assert mean([]).undefined == "no blocks"
    found = mean([7])
    assert (found.value, found.low, found.undefined) == (7, None, "one block does not vary")


@pytest.mark.parametrize("count", [2, 50])
def test_blocks_that_are_all_equal_have_an_interval_of_no_width(count: int) -> None:
    found = mean([0.1] * count)
    assert (found.value, found.low, found.high) == (0.1, 0.1, 0.1)


def test_a_bootstrap_of_blocks_that_hardly_differ_is_refused() -> None:
    found = mean([0] * 39 + [1])
    assert (found.value, found.low) == (1 / 40, None)
    assert found.undefined == "too few blocks differ for a bootstrap"


@pytest.mark.parametrize("number", [math.nan, math.inf])
def test_what_is_no_number_is_no_block(number: float) -> None:
    with pytest.raises(ValueError, match="finite numbers"):
        mean([1, number])


def test_a_ratio_has_the_interval_of_fieller() -> None:
    # a = 2.5, b = 10, saa = 5/12, sbb = 1/6, sab = -1/12, t^2 = 3.18245^2 = 10.12797:
    # (100 - 1.68799) r^2 - 2 (25 + 0.84400) r + (6.25 - 4.21999) = 0.
    found = ratio([1, 2, 3, 4], [10, 11, 9, 10])
    assert (found.value, found.method, found.blocks) == (0.25, "Fieller", 4)
    assert found.low == pytest.approx(0.04275, abs=1e-4)
    assert found.high == pytest.approx(0.48301, abs=1e-4)


@given(st.integers(0, 200), st.integers(3, 20))
def test_at_the_ends_of_a_ratio_the_t_test_is_just_undecided(seed: int, blocks: int) -> None:
    noise = generator(seed, "ratio").normal(size=(2, blocks))
    over, under = 2 + noise[0], 9 + 0.5 * noise[1]
    found = ratio(over.tolist(), under.tolist())
    for end in (found.low, found.high):
        assert end is not None
        assert stats.ttest_1samp(over - end * under, 0).pvalue == pytest.approx(0.05, abs=1e-6)


def test_a_ratio_to_what_may_be_zero_is_not_bounded() -> None:
    found = ratio([1, 2, 3], [-1, 1, 0.5])
    assert found.value == pytest.approx(12)
    assert (found.low, found.undefined) == (None, "the denominator cannot be told from zero")
    assert ratio([1, 2], [-1, 1]).undefined == "the denominator is zero"
    assert ratio([1, 2], [-1, 1]).value is None


def test_a_ratio_that_does_not_vary_has_no_width() -> None:
    found = ratio([1, 1.1, 0.9], [2, 2.2, 1.8])
    assert found.value == pytest.approx(0.5)
    assert found.low == pytest.approx(0.5, abs=1e-7)
    assert found.high == pytest.approx(0.5, abs=1e-7)


def test_a_ratio_needs_paired_blocks() -> None:
    with pytest.raises(ValueError, match="3 numerators and 2 denominators"):
        ratio([1, 2, 3], [1, 2])
    assert ratio([], []).undefined == "no blocks"
    assert (ratio([1], [2]).value, ratio([1], [2]).low) == (0.5, None)


def test_arrays_are_blocks_too() -> None:
    assert mean(np.arange(1, 6)).value == 3  # type: ignore[arg-type]
