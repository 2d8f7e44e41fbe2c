"""The best set of a given size."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from market.vending.assortment import best, worth

positive = st.floats(0.01, 20)


def test_a_product_of_high_margin_may_lose_to_one_that_draws_more() -> None:
    # Per visit: 1 x 4 / (1 + 1) = 2, and 9 x 3 / (1 + 9) = 2.7; both: (4 + 27) / 11 = 2.818.
    pull, margin = np.array([1.0, 9.0]), np.array([4.0, 3.0])
    alone = best(pull, margin, 1.0, 1)
    assert alone.products.tolist() == [1]
    assert alone.value == pytest.approx(2.7)
    assert best(pull, margin, 1.0, 2).value == pytest.approx(31 / 11)


def test_the_products_that_earn_most_alone_need_not_be_the_best_set() -> None:
    # Alone they earn 2.0, 1.8 and 1.5; with the first, the third adds more than the second.
    pull, margin = np.array([4.0, 9.0, 1.0]), np.array([2.5, 2.0, 3.0])
    alone = [worth(pull[[i]], margin[[i]], 1.0) for i in range(3)]
    assert alone == pytest.approx([2.0, 1.8, 1.5])
    assert best(pull, margin, 1.0, 2).products.tolist() == [0, 2]


def test_all_slots_are_used_even_where_fewer_products_earn_more() -> None:
    pull, margin = np.array([9.0, 9.0]), np.array([3.0, 0.1])
    assert best(pull, margin, 1.0, 2).value < best(pull, margin, 1.0, 1).value


def test_no_slots_earn_nothing() -> None:
    found = best(np.array([1.0]), np.array([1.0]), 1.0, 0)
    assert not len(found.products)
    assert found.value == 0


@pytest.mark.parametrize("margin", [[-50.0, -20.0], [-50.0, 20.0], [-1.0, 1.0], [0.0, 0.0]])
def test_where_all_slots_cost_money_the_least_loss_is_best(margin: list[float]) -> None:
    pull = np.array([1.0, 1.0])
    for size in (1, 2):
        found = best(pull, np.array(margin), 300.0, size)
        every = [
            worth(pull[list(chosen)], np.array(margin)[list(chosen)], 300.0)
            for chosen in combinations(range(2), size)
        ]
        assert found.value == pytest.approx(max(every))


@pytest.mark.parametrize("size", [-1, 3])
def test_there_must_be_as_many_products_as_slots(size: int) -> None:
    with pytest.raises(ValueError, match="products of 2"):
        best(np.ones(2), np.ones(2), 1.0, size)


@given(
    st.lists(st.tuples(positive, positive), min_size=1, max_size=7),
    st.floats(0.1, 50),
    st.data(),
)
def test_no_other_set_of_the_size_earns_more(
    products: list[tuple[float, float]], outside: float, data: st.DataObject
) -> None:
    pull, margin = np.array(products).T
    size = data.draw(st.integers(1, len(products)))
    every = [
        worth(pull[list(chosen)], margin[list(chosen)], outside)
        for chosen in combinations(range(len(products)), size)
    ]
    found = best(pull, margin, outside, size)
    assert found.value == pytest.approx(max(every))
    assert found.value == pytest.approx(
        worth(pull[found.products], margin[found.products], outside)
    )
    assert len(set(found.products.tolist())) == size
