from __future__ import annotations

import numpy as np
import pytest

from market.study.sweeps.outcomes import agreement, needed, of_cell, problem

COLUMNS = ["unit", "seed", "score", "profit", "market.gini", "reference.competitive"]


@pytest.mark.parametrize(
    "outcome",
    ["score", "profit", "a.profit", "market.gini", "correlation.profit", "best.score",
     "rank_agreement"],
)  # fmt: skip
def test_what_there_is_can_be_asked(outcome: str) -> None:
    assert problem(outcome, COLUMNS, ["a"]) is None


@pytest.mark.parametrize(
    ("outcome", "told"),
    [
        ("profits", "no metric `profits`; there are profit, score"),
        ("b.profit", "no retailer `b`; there are a"),
        ("a.profits", "no metric `profits`"),
        ("market.gin", "no figure `gin`; there are gini"),
        ("seed", "no metric `seed`"),
        ("collusion_index", "says nothing of competition"),
        ("best.luck", "no metric `luck`"),
    ],
)
def test_what_there_is_not_is_told_with_what_there_is(outcome: str, told: str) -> None:
    found = problem(outcome, COLUMNS, ["a"])
    assert found is not None
    assert told in found


def test_only_columns_that_are_needed_are_read() -> None:
    assert needed(["a.profit", "market.gini"], COLUMNS) == ["score", "profit", "market.gini"]
    assert of_cell("best.profit")
    assert not of_cell("profit")


def test_taus_are_kendalls() -> None:
    # 3 of 6 pairs turned; with ties tau-b divides by the pairs that are not tied.
    one = np.array([[1.0, 2, 3, 4], [1, 2, 3, 4], [1, 1, 2, 3], [1, 1, 1, 1]])
    other = np.array([[1.0, 2, 3, 4], [2, 1, 4, 3], [1, 2, 3, 4], [1, 2, 3, 4]])
    found = agreement(one, other)
    assert found[:3] == pytest.approx([1.0, 2 / 6, 5 / np.sqrt(5 * 6)])
    assert np.isnan(found[3])
