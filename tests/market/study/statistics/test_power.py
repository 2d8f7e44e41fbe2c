from __future__ import annotations

import pytest

from market.study.statistics.pairwise import sign_flip
from market.study.statistics.power import blocks_needed, detectable, floor, probability, told


@pytest.mark.parametrize(("effect", "pairs"), [(0.2, 199), (0.5, 34), (0.8, 15), (1.0, 10)])
def test_blocks_are_those_of_the_tables_of_paired_t_tests(effect: float, pairs: int) -> None:
    assert blocks_needed(1, effect) == pairs
    assert blocks_needed(250, -250 * effect) == pairs


def test_what_is_detectable_has_the_power_and_less_has_less() -> None:
    least = detectable(3, 12, power=0.9)
    assert least is not None
    assert probability(3, 12, least) == pytest.approx(0.9)
    assert probability(3, 12, 0.9 * least) < 0.9  # type: ignore[operator]
    assert blocks_needed(3, least * 1.0001, power=0.9) == 12
    assert blocks_needed(3, least * 0.9999, power=0.9) == 13


def test_a_difference_of_nothing_is_found_as_often_as_the_test_errs() -> None:
    assert probability(1, 10, 0) == pytest.approx(0.05, abs=1e-5)
    assert detectable(1, 10, power=0.04) == 0


@pytest.mark.parametrize("blocks", [2, 3, 1_000, 100_000])
def test_any_number_of_blocks_from_two_detects_something(blocks: int) -> None:
    least = detectable(1, blocks)
    assert least is not None
    assert probability(1, blocks, least) == pytest.approx(0.8)


def test_blocks_that_do_not_vary_detect_everything() -> None:
    assert detectable(0, 5) == 0
    assert probability(0, 5, 0.1) == 1
    assert probability(0, 5, 0) == 0
    assert blocks_needed(0, 1) == 2


def test_one_block_detects_nothing() -> None:
    assert detectable(1, 1) is None
    assert probability(1, 1, 5) is None
    assert told(1, 1).startswith("One block detects nothing")


@pytest.mark.parametrize("blocks", [1, 2, 5, 10])
def test_no_sign_flip_is_below_its_floor(blocks: int) -> None:
    assert sign_flip([1.0] * blocks) == floor(blocks) == 2 / 2**blocks
    assert floor(0) == 1


def test_the_design_is_told_in_words() -> None:
    assert told(1000, 10) == (
        "10 blocks detect a difference of 996 with a probability of 80% at an error of 0.05."
    )
    assert told(1000, 5) == (
        "5 blocks detect a difference of 1,682 with a probability of 80% at an error of 0.05."
        " A sign-flip test of 5 blocks has no p-value below 2/2^5 = 0.062 and finds nothing,"
        " whatever the difference: play 6 blocks at least."
    )
    many = told(1000, 10, comparisons=190)
    assert "(190 comparisons, at most 0.00026 each)" in many
    assert many.endswith("play 13 blocks at least.")


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"deviation": -1}, "standard deviation"),
        ({"deviation": float("nan")}, "standard deviation"),
        ({"power": 1}, "between 0 and 1"),
        ({"level": 95}, "between 0 and 1"),
    ],
)
def test_what_is_no_design_is_refused(arguments: dict[str, float], words: str) -> None:
    with pytest.raises(ValueError, match=words):
        detectable(**{"deviation": 1, "blocks": 5, **arguments})  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="not detected with any number"):
        blocks_needed(1, 0)
    with pytest.raises(ValueError, match="more than 10,000,000 blocks"):
        blocks_needed(1, 1e-5)
    with pytest.raises(ValueError, match="nothing is compared"):
        told(1, 5, comparisons=0)
