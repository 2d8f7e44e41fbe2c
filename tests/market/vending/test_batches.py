"""Stock leaves first-expired-first-out."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from market.vending.batches import Stock


def stock(*batches: tuple[int, int]) -> Stock:
    made = Stock()
    for batch in batches:
        made.add(7, batch)
    return made


def test_what_expires_first_is_taken_first_whatever_came_first() -> None:
    made = stock((9, 4), (5, 2), (7, 3))
    assert made.take(7, 4) == [(5, 2), (7, 2)]
    assert made.batches(7) == ((7, 1), (9, 4))


def test_batches_of_one_day_are_one_batch() -> None:
    assert stock((5, 2), (9, 1), (5, 3)).batches(7) == ((5, 5), (9, 1))


def test_expired_units_can_be_left() -> None:
    made = stock((5, 2), (7, 3))
    assert made.take(7, 3, fresh_on=5) == [(7, 3)]
    assert made.batches(7) == ((5, 2),)


def test_a_batch_is_expired_from_its_day_on() -> None:
    made = stock((5, 2), (7, 3))
    assert [made.expired(7, day) for day in (4, 5, 6, 7)] == [0, 2, 2, 5]
    assert [made.fresh(7, day) for day in (4, 5, 6, 7)] == [5, 3, 3, 0]
    assert [made.expiring(7, day) for day in (4, 5, 6, 7)] == [0, 2, 0, 3]


def test_more_than_there_is_cannot_be_taken_and_nothing_goes() -> None:
    made = stock((5, 2), (7, 3))
    with pytest.raises(ValueError, match="missing"):
        made.take(7, 6)
    with pytest.raises(ValueError, match="missing"):
        made.take(7, 4, fresh_on=5)
    assert made.units(7) == 5


def test_a_product_that_is_gone_is_not_listed() -> None:
    made = stock((5, 2))
    made.take(7, 2)
    assert list(made) == []


@given(st.lists(st.tuples(st.integers(1, 9), st.integers(1, 5)), max_size=8), st.integers(0, 40))
def test_units_are_conserved_and_sorted(batches: list[tuple[int, int]], units: int) -> None:
    made = stock(*batches)
    before = made.units(7)
    taken = made.take(7, min(units, before))
    left = made.batches(7)
    assert sum(n for _, n in taken) == min(units, before)
    assert sum(n for _, n in left) == before - min(units, before)
    days = [day for day, _ in (*taken, *left)]
    assert days == sorted(days)


def test_units_are_counted_by_product_and_by_age() -> None:
    made = stock((5, 2), (7, 3), (12, 4))
    made.add(3, (6, 1))
    assert made.totals() == {7: 9, 3: 1}
    assert made.expiry(7, 6) == (2, 7)
    assert made.expiry(7, 12) == (9, None)
    assert made.expiry(8, 6) == (0, None)
    assert made.aged(6, 11) == (2 + 1, 3)
    assert made.aged(4, 4) == (0, 0)
