"""A small version of what `benchmarks/intervals.py` measures."""

from __future__ import annotations

from math import sqrt

import numpy as np
import pytest

from benchmarks.intervals import (
    Draw,
    detections,
    exponential,
    false_finding_of_one,
    false_findings,
    lognormal,
    mean_coverage,
    normal,
    rank_coverage,
    ratio_coverage,
    two_way_coverage,
)


def holds(found: list[bool], share: float) -> bool:
    """Whether a share is reached but for four sampling errors."""
    return sum(found) / len(found) > share - 4 * sqrt(share * (1 - share) / len(found))


def rare(found: list[bool], share: float = 0.05) -> bool:
    return holds([not each for each in found], 1 - share)


@pytest.mark.parametrize("blocks", [5, 10, 30])
def test_intervals_of_normal_blocks_cover_what_they_say(blocks: int) -> None:
    for found in (
        mean_coverage(normal, blocks, "t", 600),
        mean_coverage(normal, blocks, "bootstrap-t", 600),
        ratio_coverage(blocks, 600),
    ):
        assert holds(found, 0.95)
        assert rare(found, 0.97), "nor are they wide without need"


@pytest.mark.parametrize("blocks", [5, 10, 30])
def test_skew_hurts_student_and_the_bootstrap_t_less(blocks: int) -> None:
    student = mean_coverage(exponential, blocks, "t", 600)
    studentised = mean_coverage(exponential, blocks, "bootstrap-t", 600)
    assert holds(student, 0.88)
    assert holds(studentised, 0.93)
    assert sum(studentised) > sum(student)


@pytest.mark.parametrize("blocks", [5, 10, 30])
def test_intervals_over_seeds_and_rosters_cover_what_they_say(blocks: int) -> None:
    assert holds(two_way_coverage(blocks, 10, 1, 1, 100), 0.95)
    assert holds(two_way_coverage(blocks, 10, 1, 0.7, 100), 0.95)
    assert holds(two_way_coverage(blocks, 10, 0, 1, 100), 0.95)


@pytest.mark.parametrize("blocks", [5, 10, 30])
def test_twenty_identical_policies_are_rarely_told_apart(blocks: int) -> None:
    assert rare(false_findings(normal, blocks, 100))
    assert rare(false_findings(lognormal, blocks, 60))
    assert rare(false_finding_of_one(lognormal, blocks, 300))


def test_a_family_spends_its_error() -> None:
    assert holds(false_findings(normal, 10, 400, players=4), 0.05)


@pytest.mark.slow
@pytest.mark.parametrize("blocks", [5, 10, 30])
@pytest.mark.parametrize("draw", [normal, exponential, lognormal])
def test_a_thousand_studies_of_identical_policies_find_few_differences(
    draw: Draw, blocks: int
) -> None:
    assert rare(false_findings(draw, blocks, 1_000))


@pytest.mark.parametrize("blocks", [5, 10, 30])
def test_all_rank_sets_hold_at_once(blocks: int) -> None:
    equal, _ = rank_coverage(np.zeros(10), blocks, 100)
    groups, size = rank_coverage(np.repeat([0.0, 2.0], 5), blocks, 60)
    assert holds(equal, 0.95)
    assert holds(groups, 0.95)
    assert size < 10 or blocks == 5


@pytest.mark.parametrize("blocks", [5, 10, 30])
def test_what_is_said_to_be_detectable_is_detected(blocks: int) -> None:
    found = detections(blocks, 600)
    assert holds(found, 0.8)
    assert rare(found, 0.8)
