"""Best prices under the logit, against the published exact cases."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from market.vending.pricing import Offers
from tests.market.vending.best_prices import alone, together

FAR = 1e9


def offers(pull: Any, cost: Any, reference: Any = None, **changes: Any) -> Offers:
    cost = np.atleast_1d(np.array(cost, float))
    reference = np.ones(len(cost)) if reference is None else np.array(reference, float)
    cap = changes.pop("cap", np.full(len(cost), FAR))
    values: dict[str, Any] = {"sensitivity": 2.0, "outside": 1.0, **changes}
    return Offers(np.atleast_1d(np.array(pull, float)), cost, reference, cap=cap, **values)


def profit(of: Offers, prices: Any) -> float:
    pull = of.attraction(np.array(prices, float))
    return float(np.sum(pull * (prices - of.cost)) / (of.outside + np.sum(pull)))


def test_one_product_against_an_equal_outside_is_best_at_1_349_of_reference() -> None:
    prices, value = together(offers(1, 0.6))
    assert prices[0] == pytest.approx(1.349, abs=5e-4)
    assert value == pytest.approx(profit(offers(1, 0.6), prices))


def test_it_does_not_hang_on_the_unit_of_money() -> None:
    prices, _ = together(offers(1, 480, [800]))
    assert prices[0] / 800 == pytest.approx(1.349, abs=5e-4)


def test_where_hardly_anybody_buys_the_price_is_cost_and_reference_over_b() -> None:
    prices, _ = together(offers([1, 2], [3, 5], [6, 8], outside=1e9))
    assert prices == pytest.approx([3 + 6 / 2, 5 + 8 / 2])


def test_at_the_joint_optimum_every_adjusted_mark_up_is_what_a_visit_is_worth() -> None:
    of = offers([1, 2, 0.5], [3, 5, 7], [6, 8, 9], sensitivity=1.4)
    prices, value = together(of)
    assert prices - of.cost - of.reference / 1.4 == pytest.approx([value] * 3)


def test_a_price_is_never_above_the_cap() -> None:
    prices, value = together(offers([1, 1], [0.6, 0.6], cap=np.array([1.1, FAR])))
    assert prices[0] == 1.1
    assert prices[1] == pytest.approx(0.6 + 0.5 + value)


def test_customers_who_do_not_mind_the_price_pay_the_cap() -> None:
    prices, _ = together(offers([1], [0.6], sensitivity=0.0, cap=np.array([3.0])))
    assert prices.tolist() == [3.0]


def test_a_machine_of_one_product_has_one_best_price_however_it_is_asked() -> None:
    of = offers(1, 0.6)
    best, value = alone(of, np.array([1.0]))
    assert best[0] == pytest.approx(together(of)[0][0])
    assert value[0] == pytest.approx(together(of)[1])


@given(
    st.lists(st.tuples(st.floats(0.01, 10), st.floats(0.45, 0.75)), min_size=1, max_size=5),
    st.floats(0.5, 5),
    st.floats(0.1, 50),
    st.data(),
)
def test_no_price_on_a_grid_does_better(
    products: list[tuple[float, float]], sensitivity: float, outside: float, data: st.DataObject
) -> None:
    pull, cost = np.array(products).T
    of = offers(pull, cost, sensitivity=sensitivity, outside=outside)
    posted = np.array(
        data.draw(st.lists(st.floats(0.5, 3), min_size=len(pull), max_size=len(pull)))
    )
    singly, values = alone(of, posted)
    _, joint = together(of)
    for i in range(len(pull)):
        moved = posted.copy()
        moved[i] = singly[i]
        assert profit(of, moved) == pytest.approx(values[i])
        for price in np.linspace(0.3, 6, 40):
            moved[i] = price
            assert profit(of, moved) <= values[i] + 1e-9
    assert joint >= max(values) - 1e-9
