from __future__ import annotations

import math

import pytest

from market.study.statistics.estimates import FEW_BLOCKS, Estimate


def test_what_is_undefined_has_a_reason_and_nothing_else_has_one() -> None:
    Estimate(1.0, 0.0, 2.0, 5, "t")
    Estimate(1.0, None, None, 1, "none", undefined="one block does not vary")
    with pytest.raises(ValueError, match="what is undefined has a reason"):
        Estimate(None, None, None, 0, "t")
    with pytest.raises(ValueError, match="what is undefined has a reason"):
        Estimate(1.0, None, None, 1, "t")
    with pytest.raises(ValueError, match="nothing else has one"):
        Estimate(1.0, 0.0, 2.0, 5, "t", undefined="for no reason")


def test_an_interval_has_two_ends_and_a_value() -> None:
    with pytest.raises(ValueError, match="two ends or none"):
        Estimate(1.0, 0.0, None, 5, "t", undefined="half")
    with pytest.raises(ValueError, match="needs a value"):
        Estimate(None, 0.0, 2.0, 5, "t", undefined="no value")


@pytest.mark.parametrize("number", [math.nan, math.inf])
def test_no_estimate_is_a_number_that_is_none(number: float) -> None:
    with pytest.raises(ValueError, match="finite number or None"):
        Estimate(number, 0.0, 1.0, 3, "t")


def test_an_interval_decides_if_it_leaves_zero_out() -> None:
    assert Estimate(2.0, 0.5, 3.0, 5, "t").decided
    assert Estimate(-2.0, -3.0, -0.5, 5, "t").decided
    assert not Estimate(2.0, 0.0, 3.0, 5, "t").decided
    assert not Estimate.missing("one block", value=2.0, blocks=1).decided


def test_a_few_equal_blocks_decide_nothing() -> None:
    assert not Estimate(-0.214, -0.214, -0.214, 2, "t").decided
    assert not Estimate(-0.3, -0.3 - 1e-17, -0.3 + 1e-16, 5, "t").decided
    assert Estimate(-0.214, -0.214, -0.214, FEW_BLOCKS, "t").decided
    assert Estimate(-0.214, -0.215, -0.213, 2, "t").decided
    assert 2 / 2**FEW_BLOCKS < 0.05 < 2 / 2 ** (FEW_BLOCKS - 1)


def test_an_estimate_goes_into_a_file_with_its_reason() -> None:
    assert Estimate.missing("no blocks", level=0.9).json() == {
        "value": None,
        "low": None,
        "high": None,
        "blocks": 0,
        "method": "none",
        "level": 0.9,
        "undefined": "no blocks",
    }


def test_an_interval_is_cut_to_what_the_figure_can_be() -> None:
    wide = Estimate(0.9, 0.2, 1.6, 3, "t")
    assert wide.within(-1, 1) == Estimate(0.9, 0.2, 1, 3, "t")
    assert wide.within(0, 2) == wide
    missing = Estimate.missing("nothing was sold")
    assert missing.within(-1, 1) == missing
