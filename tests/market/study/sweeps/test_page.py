"""The page of a study."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest

from market.study.sweeps.concluding import conclude
from tests.market.study.sweeps.swept import study, written

#: Outcomes of the study beside its primary one, the profit.
OUTCOMES = ("market.gross_margin", "market.gini_net_worth")


@pytest.fixture(scope="module")
def panels(tmp_path_factory: pytest.TempPathFactory) -> dict[str, dict[str, Any]]:
    """The panel of each outcome: profits of thousands, margins of some percent, a Gini near 0."""
    folder = tmp_path_factory.mktemp("study")
    swept = written(
        folder,
        study(f"study.outcomes=[{', '.join(OUTCOMES)}]"),
        lambda cell, seed, seat: {"score": 1e4 * seed, "profit": 1e4 * seed},
        lambda cell, seed, seat: {
            "market.gross_margin": 0.2 + seed / 100,
            "market.gini_net_worth": 0.4 if seed == 1 else 0.0,
        },
    )
    assert conclude(swept, folder) is not None
    html = (folder / "report.html").read_text(encoding="utf-8")
    found = re.search(r'<script type="application/json" id="figures">(.*?)</script>', html)
    assert found is not None
    return {panel["title"]: panel for panel in json.loads(found[1])}


def test_figures_below_1_are_not_spelled_as_millions(panels: dict[str, dict[str, Any]]) -> None:
    forms = {name: each["layout"]["yaxis"]["tickformat"] for name, each in panels.items()}
    assert forms == {"profit": "~s", "market.gross_margin": "~g", "market.gini_net_worth": "~g"}


def test_no_interval_of_a_share_goes_below_0_and_the_note_says_so(
    panels: dict[str, dict[str, Any]],
) -> None:
    gini = panels["market.gini_net_worth"]
    (line,) = gini["data"]
    for mean, down in zip(line["y"], line["error_y"]["arrayminus"], strict=True):
        assert mean - down == 0
    assert gini["note"] == "by rules.attention.tau; intervals are cut at 0"
    assert "cut" not in panels["market.gross_margin"]["note"]
