from __future__ import annotations

from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import kendalltau

from market.study.estimands.indices import (
    coefficient_of_variation,
    concentration_ratio,
    deviation,
    effective_number,
    gini,
    gini_corrected,
    hhi,
    hhi_normalised,
    kendall_tau_b,
    mean,
    rank_mobility,
    shares,
)

amounts = st.lists(st.integers(0, 10**9), min_size=1, max_size=30).filter(any)
pairs = st.lists(st.tuples(st.integers(-5, 5), st.integers(-5, 5)), min_size=2, max_size=25)


def test_gini_of_a_table_worked_by_hand():
    # 1, 2, 3, 4: differences over all 16 ordered pairs add up to 20; 20 / (2 * 16 * 2.5) = 0.25
    assert gini([3, 1, 4, 2]) == 0.25
    assert gini_corrected([3, 1, 4, 2]) == pytest.approx(1 / 3)


def test_gini_is_half_the_mean_difference_over_the_mean():
    values = [7, 0, 3, 3, 12, 1]
    n = len(values)
    differences = sum(abs(a - b) for a, b in product(values, repeat=2))
    assert gini(values) == pytest.approx(differences / (2 * n * sum(values)))


def test_one_holder_of_everything_is_the_most_unequal():
    assert gini([0, 0, 0, 8]) == 0.75
    assert gini_corrected([0, 0, 0, 8]) == 1.0
    assert hhi([0, 0, 0, 8]) == 1.0
    assert hhi_normalised([0, 0, 0, 8]) == 1.0
    assert effective_number([0, 0, 0, 8]) == 1.0
    assert concentration_ratio([0, 0, 0, 8]) == 1.0


def test_equal_values_are_not_concentrated():
    assert gini([5] * 20) == 0.0
    assert gini_corrected([5] * 20) == 0.0
    assert hhi([5] * 20) == pytest.approx(0.05)
    assert hhi_normalised([5] * 20) == pytest.approx(0.0, abs=1e-15)
    assert effective_number([5] * 20) == pytest.approx(20)
    assert concentration_ratio([5] * 20) == pytest.approx(0.2)


def test_concentration_of_a_table_worked_by_hand():
    # shares 0.4, 0.3, 0.2, 0.1
    assert hhi([40, 30, 20, 10]) == pytest.approx(0.30)
    assert hhi_normalised([40, 30, 20, 10]) == pytest.approx((0.30 - 0.25) / 0.75)
    assert effective_number([40, 30, 20, 10]) == pytest.approx(1 / 0.30)
    assert concentration_ratio([10, 40, 20, 30], largest=2) == pytest.approx(0.7)
    assert concentration_ratio([10, 40, 20, 30]) == pytest.approx(1.0)


@pytest.mark.parametrize("index", [shares, gini, hhi, effective_number, concentration_ratio])
@pytest.mark.parametrize("values", [[], [0, 0, 0], [3, -1, 2]])
def test_shares_of_nothing_or_of_losses_are_undefined(index, values):
    assert index(values) is None


def test_corrections_for_n_need_two_values():
    assert gini([4]) == 0.0
    assert gini_corrected([4]) is None
    assert hhi([4]) == 1.0
    assert hhi_normalised([4]) is None


@given(amounts, st.integers(1, 1000))
def test_gini_does_not_change_with_the_unit_of_money(values, factor):
    assert gini([value * factor for value in values]) == pytest.approx(gini(values), abs=1e-12)


@given(amounts)
def test_gini_lies_between_0_and_1_and_ignores_order(values):
    n = len(values)
    assert 0 <= gini(values) <= 1 - 1 / n + 1e-12
    assert gini(values[::-1]) == gini(values)
    if n > 1:
        assert 0 <= gini_corrected(values) <= 1


@given(amounts)
def test_hhi_lies_between_one_over_n_and_1(values):
    n = len(values)
    assert 1 / n - 1e-12 <= hhi(values) <= 1 + 1e-12
    if n > 1:
        assert 0 <= hhi_normalised(values) <= 1 + 1e-12
    assert 4 / max(n, 4) - 1e-12 <= concentration_ratio(values) <= 1


@given(pairs)
def test_tau_b_agrees_with_an_independent_implementation(values):
    x, y = zip(*values, strict=True)
    ours, theirs = kendall_tau_b(x, y), kendalltau(x, y, variant="b").statistic
    if ours is None:
        assert theirs != theirs
    else:
        assert ours == pytest.approx(theirs, abs=1e-12)
        assert 0 <= rank_mobility(x, y) <= 1


def test_tau_b_of_a_table_worked_by_hand():
    # x 1 2 3 4, y 1 3 2 2: 3 concordant, 2 discordant, 1 tied in y: 1 / sqrt(6 * 5)
    assert kendall_tau_b([1, 2, 3, 4], [1, 3, 2, 2]) == pytest.approx(1 / 30**0.5)


def test_rank_mobility_is_0_for_the_same_order_and_1_for_the_reverse():
    assert rank_mobility([1, 2, 3], [10, 20, 30]) == 0.0
    assert rank_mobility([1, 2, 3], [30, 20, 10]) == 1.0


@pytest.mark.parametrize(("x", "y"), [([], []), ([1], [2]), ([1, 1, 1], [1, 2, 3])])
def test_an_order_of_nothing_has_no_mobility(x, y):
    assert kendall_tau_b(x, y) is None
    assert rank_mobility(x, y) is None


def test_orders_of_different_lengths_are_refused():
    with pytest.raises(ValueError, match="zip"):
        kendall_tau_b([1, 2], [1])


def test_deviations_of_a_table_worked_by_hand():
    assert mean([2, 4, 9]) == 5.0
    assert deviation([2, 4, 9], sample=True) == pytest.approx(13**0.5)
    assert deviation([2, 4, 9], sample=False) == pytest.approx((26 / 3) ** 0.5)
    assert coefficient_of_variation([2, 4, 9]) == pytest.approx((26 / 3) ** 0.5 / 5)


def test_equal_values_deviate_by_exactly_0():
    assert deviation([0.1] * 3, sample=True) == 0.0
    assert deviation([0.1] * 3, sample=False) == 0.0


def test_deviations_are_undefined_without_freedom():
    assert mean([]) is None
    assert deviation([], sample=False) is None
    assert deviation([7], sample=True) is None
    assert deviation([7], sample=False) == 0.0
    assert coefficient_of_variation([]) is None
    assert coefficient_of_variation([-1, 1]) is None
