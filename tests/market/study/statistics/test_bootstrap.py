from __future__ import annotations

from collections.abc import Sequence
from math import sqrt
from statistics import fmean, median

import numpy as np
import pytest
from scipy.stats import t as student

from market.rng import generator
from market.study.estimands.indices import gini
from market.study.statistics.bootstrap import percentile, two_way
from market.study.statistics.intervals import mean, ratio


def cells(rows: Sequence[Sequence[float | None]]) -> dict[tuple[int, str], float]:
    return {
        (seed, f"roster {column}"): value
        for seed, row in enumerate(rows)
        for column, value in enumerate(row)
        if value is not None
    }


def test_crossed_seeds_and_rosters_both_widen() -> None:
    # Residuals of the mean 5 by seed are (-9, 0, 9), by roster (-6, 0, 6); the cells are additive.
    # Variances over 9 cells, made good by 3/2, 3/2 and 9/8:
    # seeds 162/81 * 3/2 = 3, rosters 72/81 * 3/2 = 4/3, cells 78/81 * 9/8 = 13/12.
    found = two_way(cells([[0, 2, 4], [3, 5, 7], [6, 8, 10]]), draws=200_000)
    half = student.ppf(0.975, 2) * sqrt(3 + 4 / 3 - 13 / 12)
    assert (found.value, found.blocks, found.method) == (5, 3, "two-way bootstrap")
    assert found.low == pytest.approx(5 - half, rel=0.01)
    assert found.high == pytest.approx(5 + half, rel=0.01)


def test_the_interval_is_never_narrower_than_that_of_one_way() -> None:
    # Every seed and roster has the same mean: one way alone would see no variance at all.
    found = two_way(cells([[1, -1, 0], [0, 1, -1], [-1, 0, 1]]))
    assert (found.value, found.low, found.high) == (0, 0, 0)
    rows = [[1, 1, 1], [2, 2.1, 2], [4, 4, 4.1]]
    crossed, by_seed = two_way(cells(rows)), mean([fmean(row) for row in rows])
    assert crossed.high is not None
    assert by_seed.high is not None
    assert crossed.high >= 0.97 * by_seed.high


def test_cells_that_were_not_played_are_not_there() -> None:
    found = two_way(cells([[0, 2, None], [3, None, 7], [None, 8, 10]]))
    assert found.value == 5
    assert found.undefined is None


def test_one_roster_is_part_of_its_seed() -> None:
    found = two_way(cells([[1], [2], [4]]))
    plain = mean([1, 2, 4])
    assert (found.low, found.high, found.method) == (plain.low, plain.high, "t by seed")


def test_rosters_that_met_one_seed_each_are_part_of_it() -> None:
    found = two_way({(1, "a"): 1, (1, "b"): 3, (2, "c"): 5, (2, "d"): 5, (3, "e"): 9, (3, "f"): 9})
    plain = mean([2, 5, 9])
    assert (found.value, found.low, found.method) == (plain.value, plain.low, "t by seed")
    uneven = two_way({(1, "a"): 10, (1, "b"): 12, (2, "c"): 11, (3, "d"): 10, (4, "e"): 11})
    by_hand = ratio([22, 11, 10, 11], [2, 1, 1, 1])
    assert (uneven.value, uneven.low, uneven.method) == (10.8, by_hand.low, "Fieller by seed")


def test_seeds_that_met_one_roster_each_are_part_of_it() -> None:
    found = two_way({(1, "a"): 1, (2, "a"): 3, (3, "b"): 5, (4, "b"): 5, (5, "c"): 9, (6, "c"): 9})
    plain = mean([2, 5, 9])
    assert (found.low, found.method, found.blocks) == (plain.low, "t by roster", 6)


def test_one_seed_has_no_interval_and_no_cell_no_value() -> None:
    found = two_way({(1, "a"): 1, (1, "b"): 3})
    assert (found.value, found.undefined) == (2, "one block does not vary")
    assert two_way({}).undefined == "no blocks"


def test_cells_that_are_all_equal_have_an_interval_of_no_width() -> None:
    found = two_way(cells([[0.1, 0.1], [0.1, 0.1]]))
    assert (found.value, found.low, found.high) == (0.1, 0.1, 0.1)


def test_a_two_way_bootstrap_is_that_of_its_seed() -> None:
    values = cells(generator(1, "cells").normal(size=(6, 4)).tolist())
    assert two_way(values, seed=1) == two_way(values, seed=1)
    assert two_way(values, seed=1) != two_way(values, seed=2)


def test_percentiles_are_those_of_resampled_blocks() -> None:
    # Of two kinds of blocks the share of ones is binomial: 20 draws with 0.5 lie in 6 to 14.
    found = percentile([0] * 10 + [1] * 10, fmean, draws=20_000)
    assert (found.value, found.low, found.high) == (0.5, 0.3, 0.7)
    assert (found.blocks, found.method) == (20, "percentile bootstrap")


def test_a_block_is_resampled_with_all_that_belongs_to_it() -> None:
    blocks = [[1.0, 1.0, 1.0], [1.0], [1.0, 1.0], [4.0], [4.0, 4.0]]
    sizes = set()

    def pooled(drawn: Sequence[list[float]]) -> float | None:
        sizes.add(sum(map(len, drawn)))
        return gini([value for block in drawn for value in block])

    found = percentile(blocks, pooled)
    assert found.value == pytest.approx(gini([1, 1, 1, 1, 1, 1, 4, 4, 4]))
    assert found.low == 0
    assert min(sizes) == 5
    assert max(sizes) > 12


def test_percentiles_of_a_handful_are_refused() -> None:
    found = percentile([1, 2, 3, 4], median)
    assert (found.value, found.low, found.undefined) == (2.5, None, "fewer than 5 blocks")
    assert percentile([], median).undefined == "no blocks"


def test_a_statistic_that_is_often_undefined_has_no_interval() -> None:
    def share(blocks: Sequence[int]) -> float | None:
        return sum(blocks) / len(blocks) if sum(blocks) else None

    found = percentile([0, 0, 0, 0, 1], share)
    assert (found.value, found.undefined) == (0.2, "undefined in too many resamples")
    assert percentile([0] * 6, share).undefined == "undefined in these blocks"
    assert percentile([0] + [1] * 9, share).undefined is None


def test_a_figure_that_is_none_cannot_be_resampled() -> None:
    with pytest.raises(ValueError, match="finite numbers"):
        two_way({(1, "a"): np.nan, (2, "a"): 1})
