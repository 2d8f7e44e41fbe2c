from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from market.rng import generator
from market.study.statistics.flips import p_values
from market.study.statistics.intervals import mean
from market.study.statistics.pairwise import matrix, romano_wolf, sign_flip


@pytest.mark.parametrize(
    ("differences", "p"),
    [
        ([1, 2, 3], 2 / 8),  # of the sums 6, 4, 2, 0, 0, -2, -4, -6 two are as far from 0 as 6
        ([3, -1, 2], 4 / 8),  # the sums are the same, and four are as far as 4
        ([0.1, 0.2, -0.3], 1),
        ([5], 1),
        ([1, 1, 1, 1, 1, 1], 2 / 64),
        ([0, 0, 0], 1),
        ([0, 0, 7], 1),
        ([], 1),
    ],
)
def test_a_sign_flip_counts_flips_that_are_as_far_from_zero(
    differences: list[float], p: float
) -> None:
    assert sign_flip(differences) == p


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 1000), st.integers(2, 10))
def test_a_sign_flip_is_the_permutation_test_of_one_sample(seed: int, blocks: int) -> None:
    values = generator(seed, "differences").normal(0.5, size=blocks)
    reference = stats.permutation_test(
        (values,), np.mean, permutation_type="samples", n_resamples=np.inf
    )
    assert sign_flip(values.tolist()) == pytest.approx(reference.pvalue)


def test_beyond_fourteen_blocks_flips_are_drawn_and_agree_with_all() -> None:
    values = generator(1, "differences").normal(0.5, size=14)
    exact = sign_flip(values.tolist())
    drawn = sign_flip([*values.tolist(), 0.0])  # a block without a difference changes nothing
    assert drawn == pytest.approx(exact, abs=0.015)
    assert drawn != exact
    assert sign_flip([1.0] * 40) == 1 / 10_000


def test_the_largest_is_compared_with_the_maximum_over_all() -> None:
    # Flips of the first: |s1 + s2 + s3|, of the second: |s1 + s2 - s3|. The first reaches 3 in 2
    # of 8 flips, the greater of both in 4 of 8; the second always reaches 1.
    differences = np.array([[1.0, 1.0], [1.0, 1.0], [1.0, -1.0]])
    found = p_values(differences)
    assert found.raw.tolist() == [2 / 8, 1]
    assert found.adjusted.tolist() == [4 / 8, 1]


def test_the_next_is_compared_with_what_is_left() -> None:
    # The first, |s1 + s2 + s3|/sqrt(3), reaches its 1.73 in 4 of 16 flips; the second,
    # |s1 + s4|/sqrt(2), its 1.41 in 8. Compared with the first as well it would reach it in 10.
    differences = np.array([[1.0, 1.0], [1.0, 0.0], [1.0, 0.0], [0.0, 1.0]])
    found = p_values(differences)
    assert found.raw.tolist() == [4 / 16, 8 / 16]
    assert found.adjusted.tolist() == [4 / 16, 8 / 16]


def test_adjusting_depends_neither_on_order_nor_on_unit() -> None:
    differences = generator(1, "family").normal(0.4, size=(9, 6))
    adjusted = romano_wolf(differences)
    assert romano_wolf(differences[:, ::-1])[::-1] == pytest.approx(adjusted)
    assert romano_wolf(differences * np.array([1, 10, 1e3, 1e-3, 5, 2])) == pytest.approx(adjusted)
    assert romano_wolf(-differences) == pytest.approx(adjusted)


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 1000), st.integers(1, 9), st.integers(1, 6))
def test_adjusted_p_values_are_never_below_the_raw_ones_nor_above_their_sum(
    seed: int, blocks: int, hypotheses: int
) -> None:
    found = p_values(generator(seed, "family").normal(0.5, size=(blocks, hypotheses)))
    assert (found.adjusted >= found.raw).all()
    assert (found.adjusted <= found.raw.sum()).all()


def test_copies_of_a_hypothesis_cost_nothing() -> None:
    one = generator(1, "one").normal(0.8, size=(8, 1))
    assert romano_wolf(np.repeat(one, 50, axis=1)) == pytest.approx(romano_wolf(one)[0])


def test_a_block_that_says_nothing_is_as_if_it_were_not_there() -> None:
    differences = np.array([[1.0], [2.0], [np.nan], [3.0]])
    assert romano_wolf(differences).tolist() == [2 / 8]


def test_one_sided_p_values_tell_the_sides_apart() -> None:
    differences = np.array([[1.0, -1.0], [2.0, -2.0], [3.0, -3.0]])
    found = p_values(differences, two_sided=False)
    assert found.raw.tolist() == [1 / 8, 1]


def test_families_refuse_what_is_no_table_of_numbers() -> None:
    with pytest.raises(ValueError, match="blocks x hypotheses"):
        romano_wolf(np.zeros(3))
    with pytest.raises(ValueError, match="finite"):
        romano_wolf(np.array([[np.inf]]))
    with pytest.raises(ValueError, match="finite"):
        sign_flip([float("nan")])
    assert romano_wolf(np.zeros((3, 0))).tolist() == []


SCORES = np.array([[1.0, 0.0, 5.0], [2.0, 0.0, 9.0], [3.0, 0.0, 4.0]])


def test_a_matrix_has_every_pair_once() -> None:
    found = matrix(SCORES)
    assert [(pair.first, pair.second) for pair in found.pairs] == [(0, 1), (0, 2), (1, 2)]
    assert [pair.difference.value for pair in found.pairs] == [2, -4, -6]
    assert found.pairs[0].difference == mean([1, 2, 3])
    assert [pair.p for pair in found.pairs] == [2 / 8, 2 / 8, 2 / 8]
    for pair in found.pairs:
        assert pair.p is not None
        assert pair.adjusted is not None
        assert pair.adjusted >= pair.p


def test_a_pair_seen_from_the_other_side_is_turned() -> None:
    found = matrix(SCORES)
    for first, second in ((0, 1), (0, 2), (1, 2)):
        one, other = found.between(first, second), found.between(second, first)
        assert one == found.pairs[first + second - 1]
        assert (other.first, other.second) == (second, first)
        assert one.difference.value is not None
        assert one.difference.high is not None
        assert other.difference.value == -one.difference.value
        assert other.difference.low == -one.difference.high
        assert (other.p, other.adjusted) == (one.p, one.adjusted)
    with pytest.raises(ValueError, match=r"no pair \(1, 1\)"):
        found.between(1, 1)


def test_a_pair_is_compared_where_both_played_and_undefined_where_they_never_did() -> None:
    missing = np.array([[1, 0, np.nan], [2, 0, np.nan], [3, np.nan, 4], [4, 1, np.nan]])
    found = matrix(missing)
    assert found.between(0, 1).difference == mean([1, 2, 3])
    assert found.between(0, 2).difference.undefined == "one block does not vary"
    assert found.between(0, 2).p == 1
    never = found.between(2, 1)
    assert never.difference.undefined == "no block has both players"
    assert (never.difference.value, never.p, never.adjusted) == (None, None, None)


def test_one_player_has_no_pairs() -> None:
    assert matrix(np.zeros((3, 1))).pairs == ()
    with pytest.raises(ValueError, match="blocks x players"):
        matrix(np.zeros(3))
