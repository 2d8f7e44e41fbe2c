from __future__ import annotations

import pytest

from market.config.study import Published
from market.study.statistics.estimates import Estimate
from market.study.sweeps.contrasts import Told
from market.study.sweeps.published import beside, comparison, spelled


def estimate(value: float, low: float, high: float) -> Estimate:
    return Estimate(value, low, high, 10, "t")


@pytest.mark.parametrize(
    ("ours", "published", "told"),
    [
        (estimate(0.1, 0.0, 0.2), Published(low=0.05, high=0.2), "where theirs does"),
        (estimate(0.3, 0.1, 0.5), Published(value=0.2), "above theirs, but within its interval"),
        (estimate(0.3, 0.25, 0.35), Published(value=0.2), "above theirs, by more than"),
        (estimate(0.1, 0.05, 0.15), Published(low=0.2, high=0.3), "below theirs, by more than"),
        (Estimate.missing("no", value=3.0), Published(value=2.0), "how sure that is, is not known"),
        (Estimate.missing("nobody sold"), Published(value=2.0), "undefined: nobody sold"),
    ],
)
def test_each_difference_has_a_sentence(ours: Estimate, published: Published, told: str) -> None:
    assert told in comparison(ours, published)


def test_the_baseline_stands_beside_what_was_published_with_its_note() -> None:
    told = [
        Told(cell, "", "all", "gini", True, estimate(value, value - 0.01, value + 0.01), None)
        for cell, value in (("first", 0.1), ("second", 0.9))
    ]
    (line,) = beside(
        told,
        {"gini": Published(low=0.2, high=0.3, note="Alike."), "other": Published(value=1.0)},
    )
    assert line.ours == "0.100 (0.090 to 0.110)"
    assert line.published == "0.200 to 0.300"
    assert line.sentence == "Ours lies below theirs, by more than its interval. Alike."


def test_figures_have_the_decimals_that_they_need() -> None:
    assert spelled(Estimate.missing("why", value=36589.4)) == "36,589"
    assert spelled(Estimate.missing("why")) == "undefined: why"
