from __future__ import annotations

from math import atanh, sqrt, tanh
from statistics import fmean

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from market.rng import generator
from market.study.statistics.association import between, correlation, within, within_columns
from market.study.statistics.intervals import mean


def test_spearman_is_one_less_the_squared_differences_of_ranks() -> None:
    # Ranks differ by -1, 1, -1, 1, 0: 1 - 6 * 4/(5 * 24) = 0.8.
    found = correlation([1, 20, 3, 400, 5000], [2, 30, 10, 450, 500])
    assert found.value == 1
    found = correlation([1, 2, 3, 4, 5], [20, 10, 40, 30, 50])
    assert found.value == pytest.approx(0.8)
    half = 1.959964 * sqrt((1 + 0.32) / 2)
    assert (found.method, found.blocks) == ("Fisher z", 5)
    assert found.low == pytest.approx(tanh(atanh(0.8) - half), abs=1e-6)
    assert found.high == pytest.approx(tanh(atanh(0.8) + half), abs=1e-6)


def test_pearson_has_the_usual_interval() -> None:
    x, y = [1, 2, 3, 4, 5, 7], [2, 1, 4, 3, 6, 5]
    found = correlation(x, y, kind="pearson")
    reference = stats.pearsonr(x, y)
    assert found.value == pytest.approx(reference.statistic)
    assert found.low == pytest.approx(reference.confidence_interval().low)
    assert found.high == pytest.approx(reference.confidence_interval().high)


@settings(max_examples=50, deadline=None)
@given(st.lists(st.tuples(st.integers(0, 5), st.integers(0, 5)), min_size=3, max_size=12))
def test_ties_have_their_mean_rank(pairs: list[tuple[int, int]]) -> None:
    x, y = [a for a, _ in pairs], [b for _, b in pairs]
    found = correlation(x, y)
    if len(set(x)) == 1 or len(set(y)) == 1:
        assert found.value is None
    else:
        assert found.value == pytest.approx(stats.spearmanr(x, y).statistic)


def test_what_orders_nothing_has_no_correlation() -> None:
    assert correlation([1, 1, 1], [1, 2, 3]).undefined == "the first side is constant"
    assert correlation([1, 2, 3], [1, 1, 1]).undefined == "the second side is constant"
    assert correlation([1, 2], [1, 2]).undefined == "fewer than 3 pairs"
    assert correlation([], []).value is None


def test_a_correlation_can_have_a_value_and_no_interval() -> None:
    few = correlation([1, 2, 3], [1, 3, 2])
    assert (few.value, few.low, few.undefined) == (0.5, None, "fewer than 4 pairs")
    perfect = correlation([1, 2, 3, 4], [4, 3, 2, 1])
    assert perfect.value == -1
    assert perfect.undefined == "a perfect correlation has no interval by Fisher's z"


def test_a_pair_with_an_undefined_side_is_left_out() -> None:
    found = correlation([1, 2, 3, None, 4, 5], [2, 1, 4, 9, 3, 5])
    assert found == correlation([1, 2, 3, 4, 5], [2, 1, 4, 3, 5])
    with pytest.raises(ValueError, match="finite numbers, or None"):
        correlation([1, 2, float("nan")], [1, 2, 3])
    with pytest.raises(ValueError, match="shorter"):
        correlation([1, 2, 3], [1, 2])


UP, MIXED, DOWN = [1, 2, 3], [1, 3, 2], [3, 2, 1]


def test_within_episodes_correlations_are_averaged_by_block() -> None:
    # Blocks: (1 + 0.5)/2, -1, 0.5.
    found = within([(1, UP, UP), (1, UP, MIXED), (2, UP, DOWN), (3, MIXED, UP)])
    assert found.estimate.value == mean([0.75, -1, 0.5]).value
    assert found.estimate.value == pytest.approx(1 / 12)
    assert (found.estimate.low, found.estimate.high) == (-1, 1), "no correlation lies beyond"
    assert (found.episodes, found.left_out, found.missing) == (4, {}, 0)


def test_within_episodes_levels_of_blocks_do_not_matter() -> None:
    raised = [(block, [x + 100 * block for x in UP], [y - 100 * block for y in UP])
              for block in range(4)]  # fmt: skip
    found = within(raised)
    assert found.estimate.value == 1
    pooled = correlation([x for _, own, _ in raised for x in own],
                         [y for _, _, own in raised for y in own])  # fmt: skip
    assert pooled.value is not None
    assert pooled.value < 0, "the pooled one answers another question"


def test_episodes_without_a_correlation_are_counted_with_their_reason() -> None:
    found = within(
        [(1, UP, UP), (2, [1, 1, 1], UP), (3, UP, [2, 2, 2]), (4, [None, 1, 2], UP), (5, UP, UP)]
    )
    assert (found.estimate.value, found.estimate.blocks, found.episodes) == (1, 2, 2)
    assert found.missing == 1
    assert found.left_out == {
        "the first side is constant": 1,
        "the second side is constant": 1,
        "fewer than 3 pairs": 1,
    }


def test_a_correlation_that_no_episode_has_is_undefined() -> None:
    found = within([(1, [1, 1, 1], UP), (2, [1, 1, 1], UP)])
    assert found.estimate.undefined == "defined in no episode: the first side is constant in 2"
    assert within([]).estimate.undefined == "no episodes"


def test_between_groups_each_group_is_one_point() -> None:
    found = between(
        {"a": ([1, 3], [10]), "b": ([4], [5, 7]), "c": ([6, 6, 6], [12]), "d": ([9, None], [14])}
    )
    assert found == correlation([2, 4, 6, 9], [10, 6, 12, 14])
    assert found.blocks == 4
    assert between({"a": ([None], [1]), "b": ([1], [2])}).undefined == "fewer than 3 pairs"


def test_long_columns_say_what_each_episode_says_with_ties_gaps_and_any_order() -> None:
    draws = generator(5, "columns")
    episodes = draws.integers(0, 40, 300)
    blocks = [episode % 7 for episode in range(40)]
    x, y = draws.integers(0, 4, 300).astype(float), draws.integers(0, 4, 300).astype(float)
    x[draws.integers(0, 300, 60)] = np.nan
    found = within_columns(blocks, episodes, x, y)
    by_block: dict[int, list[float]] = {}
    known = ~np.isnan(x)
    for episode, block in enumerate(blocks):
        own = known & (episodes == episode)
        rho = correlation(x[own].tolist(), y[own].tolist()).value
        if rho is not None:
            by_block.setdefault(block, []).append(rho)
    expected = mean([fmean(own) for own in by_block.values()])
    assert found.estimate.value == pytest.approx(expected.value)
    assert found.episodes == sum(map(len, by_block.values()))
    assert found.missing == int(np.isnan(x).sum())
    with pytest.raises(ValueError, match="finite"):
        within_columns([1], np.zeros(3, dtype=np.intp), np.array([1.0, 2.0, np.inf]), y[:3])
