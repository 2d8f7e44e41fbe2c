from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from market.arena.counterfactual.knapsack import Options, choose


def options(*pairs: tuple[int, float]) -> Options:
    return np.array([cost for cost, _ in pairs]), np.array([float(value) for _, value in pairs])


def value(items: list[Options], picks: list[int]) -> float:
    return sum(float(values[pick]) for (_, values), pick in zip(items, picks, strict=True))


def spent(items: list[Options], picks: list[int]) -> int:
    return sum(int(costs[pick]) for (costs, _), pick in zip(items, picks, strict=True))


def test_the_table_worked_by_hand() -> None:
    # The best of each alone costs 12; under 10 the third of the first and the second of the other
    # bring 9 + 4, against 7 + 8 = 15 for the second of the first and the third of the other.
    items = [options((0, 0), (4, 7), (6, 9)), options((0, 0), (3, 4), (6, 8))]
    assert choose(items, 12) == [2, 2]
    assert choose(items, 10) == [1, 2]
    assert choose(items, 9) == [2, 1]
    assert choose(items, 3) == [0, 1]
    assert choose(items, 0) == [0, 0]


def test_nothing_is_bought_that_brings_no_more() -> None:
    assert choose([options((0, 5), (1, 5), (2, 4))], 10) == [0]


def test_a_density_rule_would_miss_the_best_choice() -> None:
    # By value per money the first option of the first item comes first and leaves no room.
    items = [options((0, 0), (6, 7)), options((0, 0), (10, 10))]
    assert choose(items, 10) == [0, 1]


def test_without_a_free_option_or_with_debts_there_is_no_choice() -> None:
    with pytest.raises(ValueError, match="costs nothing"):
        choose([options((1, 1))], 5)
    with pytest.raises(ValueError, match="costs nothing"):
        choose([options((0, 1))], -1)


pairs = st.lists(st.tuples(st.integers(0, 40), st.integers(-20, 60)), max_size=6)


@given(items=st.lists(pairs, min_size=1, max_size=4), budget=st.integers(0, 100))
def test_no_choice_within_the_budget_is_better(
    items: list[list[tuple[int, int]]], budget: int
) -> None:
    made = [options((0, 0), *((cost, float(worth)) for cost, worth in item)) for item in items]
    picks = choose(made, budget)
    assert spent(made, picks) <= budget
    best = max(
        value(made, list(every))
        for every in product(*(range(len(costs)) for costs, _ in made))
        if spent(made, list(every)) <= budget
    )
    assert value(made, picks) == best
    within = choose(made, budget, within=5.0)
    assert spent(made, within) <= budget
    assert value(made, within) >= best - 5.0
