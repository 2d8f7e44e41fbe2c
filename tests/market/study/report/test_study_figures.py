from __future__ import annotations

import pytest

from market.study.report.paths import Path
from market.study.report.study_figures import capital, cost, index_panels, looks

STEEP = Path("a", (0.2, 0.95), (-0.3, 0.8), (0.7, 1.1))


@pytest.mark.parametrize("name", ["active_sold", "rank_mobility_profit", "gini_net_worth"])
def test_no_band_of_a_share_goes_below_0_or_above_1_and_the_note_says_so(name: str) -> None:
    (panel,) = index_panels({name: STEEP})
    band = panel["data"][0]["y"]
    assert (min(band), max(band)) == (0, 1)
    assert panel["note"].endswith("; intervals are cut at 0 and 1")


def test_a_band_that_can_be_is_left_as_it_is() -> None:
    (panel,) = index_panels({"allocative_efficiency": STEEP})
    band = panel["data"][0]["y"]
    assert (min(band), max(band)) == (-0.3, 1.1)
    assert "cut" not in panel["note"]


@pytest.mark.parametrize(("scale", "form"), [(1, "~g"), (10_000, "~s")])
def test_no_axis_of_money_spells_small_figures_as_millions(scale: int, form: str) -> None:
    path = Path("a", (0.2 * scale, 0.6 * scale), (None, None), (None, None))
    style = looks(["a"])
    (gains,) = index_panels({"consumer_surplus": path})
    drawn = [gains, capital([path], style), cost([("a", 0.5, 0.6 * scale, True)], style)]
    assert [each["layout"]["yaxis"]["tickformat"] for each in drawn if each] == [form] * 3
