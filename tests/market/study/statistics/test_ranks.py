from __future__ import annotations

import numpy as np
import pytest

from market.rng import generator
from market.study.statistics.pairwise import matrix
from market.study.statistics.ranks import RankSet, rank_sets


def test_six_blocks_can_tell_two_apart_and_five_cannot() -> None:
    # Six differences of one sign: of 64 flips two have the greatest of both sides as high, 0.03.
    # Five: 2 of 32, 0.06.
    scores = np.array([[1.0, 0.0]] * 6)
    assert rank_sets(scores) == [RankSet(1, 1), RankSet(2, 2)]
    assert rank_sets(scores[:5]) == [RankSet(1, 2), RankSet(1, 2)]
    assert rank_sets(scores[:5], level=0.9) == [RankSet(1, 1), RankSet(2, 2)]


def test_sets_count_who_is_surely_better_and_surely_worse() -> None:
    # The first two cannot be told from each other, the third is below both, the fourth below all.
    leap = np.array([1.0, -1.0] * 5)
    scores = np.stack([leap, -leap, np.full(10, -50.0), np.full(10, -100.0)], axis=1)
    assert rank_sets(scores) == [RankSet(1, 2), RankSet(1, 2), RankSet(3, 3), RankSet(4, 4)]


def test_sets_agree_with_pairs_that_differ() -> None:
    scores = generator(2, "scores").normal(size=(20, 6)) + np.arange(6) * 0.6
    pairs = [pair for pair in matrix(scores).pairs if pair.adjusted and pair.adjusted <= 0.05]
    # One-sided families step down a little less far, and never further.
    losses = [0] * 6
    for pair in pairs:
        assert pair.difference.value is not None
        losses[pair.second if pair.difference.value > 0 else pair.first] += 1
    lows = [own.low for own in rank_sets(scores)]
    assert all(low <= 1 + lost for low, lost in zip(lows, losses, strict=True))
    assert lows[0] > 1
    assert lows[5] == 1


def test_players_that_are_all_equal_may_have_any_rank() -> None:
    assert rank_sets(np.ones((12, 4))) == [RankSet(1, 4)] * 4


def test_a_player_that_was_not_seen_may_have_any_rank() -> None:
    scores = np.array([[1.0, 0.0, np.nan]] * 8)
    assert rank_sets(scores) == [RankSet(1, 2), RankSet(2, 3), RankSet(1, 3)]


def test_without_blocks_or_rivals_nothing_is_known_or_everything() -> None:
    assert rank_sets(np.zeros((0, 3))) == [RankSet(1, 3)] * 3
    assert rank_sets(np.zeros((4, 1))) == [RankSet(1, 1)]
    assert rank_sets(np.zeros((4, 0))) == []
    with pytest.raises(ValueError, match="blocks x players"):
        rank_sets(np.zeros(4))
