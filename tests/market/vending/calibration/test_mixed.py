"""The mixed model against what is known by hand or by draw."""

from __future__ import annotations

import numpy as np
import pytest

from market.vending.calibration.mixed import Mixed


def test_own_effects_are_drawn_to_the_level_by_their_precision() -> None:
    model = Mixed([np.zeros(4, int)], [1], own=True)
    response, variance = np.array([0.0, 1.0, 2.0, 5.0]), 0.5
    precision = np.array([1.0, 1.0, 4.0, 4.0])
    sums, families, own = model.predicted(np.log([variance**0.5]), response, precision)
    weight = 1 / (variance + 1 / precision)
    level = (weight * response).sum() / weight.sum()
    assert own == pytest.approx(variance * weight * (response - level))
    assert sums == pytest.approx(level + own)
    assert families == []


def test_a_family_shares_what_its_members_have_in_common() -> None:
    # Two groups of two around one level: their means are +-1, drawn in by 1 / (1 + 1 / 2).
    group = np.array([0, 0, 1, 1])
    model = Mixed([np.zeros(4, int), group], [1, 2], own=False)
    response = np.array([2.0, 0.0, 0.0, -2.0])
    _, (effects,), own = model.predicted(np.log([1.0]), response, np.ones(4))
    assert effects == pytest.approx([2 / 3, -2 / 3])
    assert own == pytest.approx(np.zeros(4))


def test_one_family_has_the_variance_of_the_analysis_of_variance() -> None:
    # Balanced: the restricted estimate is (mean square between - mean square within) / size.
    draws = np.random.default_rng(3)
    groups, size = 40, 5
    of = np.repeat(np.arange(groups), size)
    response = draws.normal(0, 0.8, groups)[of] + draws.normal(0, 0.5, groups * size)
    model = Mixed([np.zeros(len(of), int), of], [1, groups], own=True)
    # What is left is own scatter, next to which the error of observations is nothing.
    logs = model.most_likely(np.log([0.3, 0.3]), response, np.full(len(of), 1e6))
    table = response.reshape(groups, size)
    between = size * table.mean(1).var(ddof=1)
    within = table.var(1, ddof=1).mean()
    assert np.exp(2 * logs) == pytest.approx([(between - within) / size, within], rel=1e-3)


def test_crossed_families_are_told_apart() -> None:
    draws = np.random.default_rng(4)
    rows, columns = (each.ravel() for each in np.mgrid[:60, :80])
    response = draws.normal(0, 1, 60)[rows] + draws.normal(0, 0.4, 80)[columns]
    response += draws.normal(0, 0.2, len(rows)) + draws.normal(0, 0.1, len(rows))
    level = np.zeros(len(rows), int)
    model = Mixed([level, rows, columns], [1, 60, 80], own=True)
    logs = model.most_likely(np.log([0.3] * 3), response, np.full(len(rows), 100.0))
    assert np.exp(logs) == pytest.approx([1, 0.4, 0.2], rel=0.2)
