from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest

from market.arena.counterfactual.luck import luck
from market.arena.counterfactual.scene import scenes
from market.study.recording import load
from market.study.report import counterfactuals as computing
from market.study.report.counterfactuals import Counterfactuals, counterfactuals
from market.study.report.settled import findings, settled
from tests.market.study.purse import pool
from tests.market.study.purse import tournament as purse
from tests.market.study.report import hostile

SEATS = ["a", "b"]


def made() -> Counterfactuals:
    """Two episodes of two seats of one retailer; who is `*` is the market."""
    rows = [
        {"episode": f"e{seed}", "seed": seed, "seat": seat, "recorded": 10.0 * seed,
         "adjusted": 5.0,
         "luck": 10.0 * seed - 5, "skill": None, "undefined": None}
        for seed in (1, 2) for seat in SEATS
    ]  # fmt: skip
    rows += [
        {"episode": "e1", "seed": 1, "seat": "*", "skill": 0.5},
        {"episode": "e2", "seed": 2, "seat": "*", "undefined": "nothing varies"},
    ]
    regret = [
        {"episode": "e1", "seed": 1, "seat": seat, "subset": subset, "value": value, "part": part}
        for seat in SEATS
        for subset, value, part in (
            ("bid", 3.0, 1.0), ("price", 5.0, 2.0), ("slogan", 4.0, 3.0),
            ("bid+price+slogan", 6.0, None),
        )
    ]  # fmt: skip
    words = [{"episode": "e1", "seed": 1, "seat": seat, "direct": 4.0} for seat in SEATS]
    words += [
        {"episode": "e1", "seed": 1, "seat": "*", "profit": 9.0, "surplus": None, "gini": 0.1}
    ]
    return Counterfactuals(
        pd.DataFrame(rows), pd.DataFrame(regret), pd.DataFrame(words), ("e1", "e2")
    )


def test_figures_are_means_over_seats_with_intervals_over_seeds() -> None:
    names = {(f"e{seed}", seat): "shop" for seed in (1, 2) for seat in SEATS}
    lines = {(line.table, line.figure): line for line in findings(made(), names)}
    assert lines["luck", "recorded"].estimate.value == 15
    assert lines["luck", "recorded"].estimate.blocks == 2
    assert lines["luck", "luck"].estimate.value == 10
    assert lines["luck", "share of skill"].estimate.value == 0.5
    assert dict(lines["luck", "share of skill"].about) == {}
    parts = [lines["regret", part].estimate.value for part in ("bid", "price", "slogan")]
    assert parts == [1, 2, 3]
    assert lines["regret", "of all three"].estimate.value == sum(filter(None, parts))
    assert lines["words", "direct value"].estimate.value == 4
    assert lines["words", "consumer surplus"].estimate.value is None


@pytest.fixture
def short(monkeypatch: pytest.MonkeyPatch) -> None:
    """Few redraws, and no search for better answers: both are tested where they are made."""
    monkeypatch.setattr(
        computing, "_COMPUTED",
        {
            "luck": lambda played: [
                {"seat": seat, "recorded": float(one.recorded), "adjusted": one.adjusted,
                 "luck": one.luck}
                for seat, one in luck(played, 4).seats.items()
            ],
            "regret": lambda played: [{"seat": "*", "undefined": "not asked"}],
            "words": lambda played: [{"seat": "*", "undefined": "not asked"}],
        },
    )  # fmt: skip


def test_what_was_computed_is_kept_and_not_computed_again(tmp_path: Path, short: None) -> None:
    folder = hostile.tournament(tmp_path / "run", seeds=2)
    run = load(folder)
    journals = [run.journal(f"all.seed-{seed}.rep-1") for seed in (1, 2)]
    told: list[str] = []
    into = folder / "counterfactuals"
    assert counterfactuals(journals, into, 0, told.append) is None
    first = counterfactuals(journals, into, 1, told.append)
    assert told == ["all.seed-1.rep-1"]
    assert first is not None
    profits = {
        seat: sum(s.profits[seat] for s in scenes(journals[0])) for seat in ("gpt", "markup-1")
    }
    own = first.luck.set_index("seat")
    assert {seat: own.loc[seat, "recorded"] for seat in profits} == profits
    both = counterfactuals(journals, into, 2, told.append)
    assert both is not None
    assert both.episodes == ("all.seed-1.rep-1", "all.seed-2.rep-1")
    assert told == ["all.seed-1.rep-1", "all.seed-2.rep-1"]
    assert counterfactuals(journals, into, 0, told.append) is not None
    assert len(told) == 2


def test_of_a_journal_that_has_changed_nothing_is_kept(tmp_path: Path, short: None) -> None:
    folder = hostile.tournament(tmp_path / "run", seeds=1)
    run = load(folder)
    journals = [run.journal("all.seed-1.rep-1")]
    counterfactuals(journals, folder / "counterfactuals", 1)
    journals[0].write_bytes(journals[0].read_bytes() + b"{")
    assert counterfactuals(journals, folder / "counterfactuals", 0) is None


def test_a_report_says_what_was_left_out_and_other_environments_have_nothing(
    tmp_path: Path,
) -> None:
    run = load(hostile.tournament(tmp_path / "run", seeds=1))
    nothing = settled(run, [run.journal(episode) for episode in run.seatings], 0)
    assert nothing is not None
    assert (nothing.grids, nothing.episodes) == ((), 0)
    assert nothing.recorded == len(run.seatings)
    other = load(purse(tmp_path / "purse", ["all"], pool(a=1, b=2)))
    assert settled(other, [other.journal(episode) for episode in other.seatings], 3) is None
