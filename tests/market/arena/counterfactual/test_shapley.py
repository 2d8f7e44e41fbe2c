from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from market.arena.counterfactual.shapley import shapley, subsets

PLAYERS = ("bid", "price", "slogan")
worths = st.lists(st.floats(-1e9, 1e9), min_size=8, max_size=8)


def test_the_table_worked_by_hand() -> None:
    # The glove game: two lefts and one right are worth 1 as soon as they make a pair.
    worth = {subset: float("right" in subset and len(subset) > 1)
             for subset in subsets(("left", "other left", "right"))}  # fmt: skip
    assert shapley(("left", "other left", "right"), worth) == {
        "left": Fraction(1, 6),
        "other left": Fraction(1, 6),
        "right": Fraction(2, 3),
    }


@given(values=worths)
def test_the_parts_add_up_exactly(values: list[float]) -> None:
    worth = dict(zip(subsets(PLAYERS), values, strict=True))
    parts = shapley(PLAYERS, worth)
    whole = Fraction(worth[frozenset(PLAYERS)]) - Fraction(worth[frozenset()])
    assert sum(parts.values(), Fraction(0)) == whole


@given(values=worths)
def test_a_thing_that_changes_nothing_has_no_part(values: list[float]) -> None:
    worth = dict(zip(subsets(PLAYERS), values, strict=True))
    worth = {subset: worth[subset - {"slogan"}] for subset in worth}
    assert shapley(PLAYERS, worth)["slogan"] == 0


def test_a_missing_subset_is_an_error() -> None:
    with pytest.raises(KeyError):
        shapley(PLAYERS, {frozenset(): 0.0})


def test_one_alone_has_it_all() -> None:
    assert shapley(("bid",), {frozenset(): 2.0, frozenset({"bid"}): 5.0}) == {"bid": 3}
