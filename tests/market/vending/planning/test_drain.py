"""The fluid of a shelf that empties."""

from __future__ import annotations

import numpy as np
import pytest

from market.vending.planning.drain import present, units_left


@pytest.mark.parametrize(("units", "demand", "days"), [(5.0, 2.0, 3.0), (40.0, 1.0, 9.0)])
def test_it_solves_its_differential_equation(units: float, demand: float, days: float) -> None:
    steps, n = 20_000, units
    for _ in range(steps):
        n -= demand * float(present(np.array(n), 3.0)) * days / steps
    assert float(units_left(np.array(units), np.array(demand), days, 3.0)) == pytest.approx(
        n, abs=1e-3
    )


def test_an_empty_shelf_stays_empty_and_no_time_sells_nothing() -> None:
    assert units_left(np.array([0.0]), np.array([5.0]), 4, 3.0).tolist() == [0]
    assert units_left(np.array([7.0]), np.array([5.0]), 0, 3.0) == pytest.approx([7])


def test_many_units_of_little_demand_do_not_overflow() -> None:
    left = units_left(np.array([100_000.0]), np.array([1.0]), 10, 0.01)
    assert left == pytest.approx([99_990])


def test_each_unit_more_sells_less_than_the_one_before() -> None:
    units = np.arange(1.0, 30)
    sold = units - units_left(units, np.full(29, 2.0), 5, 3.0)
    assert (np.diff(sold) > 0).all()
    assert (np.diff(sold, 2) < 0).all()
