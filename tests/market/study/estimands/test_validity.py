from __future__ import annotations

from pathlib import Path

import pytest

from market.environment import Cause
from market.study import load
from market.study.estimands.finding import Finding
from market.study.estimands.validity import validity
from tests.market.study.purse import paid, pool, tournament


def found(folder: Path) -> dict[tuple[str, str], Finding]:
    return {
        (line.figure, str(line.about.get("retailer", ""))): line for line in validity(load(folder))
    }


def test_turns_without_action_are_counted_by_cause(tmp_path: Path) -> None:
    silent = {
        ("all.seed-0.rep-1", "a"): Cause.TRUNCATED,
        ("all.seed-1.rep-1", "a"): Cause.LATE,
        ("all.seed-2.rep-1", "b"): Cause.UNANSWERED,
    }
    lines = found(tournament(tmp_path, ["all"], pool(a=1, b=2), seeds=4, silent=silent))
    assert lines["no action", "a"].estimate.value == 2 / 4
    assert lines["no action: truncated", "a"].estimate.value == 1 / 4
    assert lines["no action: late", "a"].estimate.value == 1 / 4
    assert lines["no action: refused", "a"].estimate.value == 0
    assert lines["no action: unanswered", "b"].about == {"retailer": "b", "count": 1, "of": 4}
    assert lines["finished episodes", ""].estimate.value == 1
    assert lines["valid episodes", ""].estimate.value == 3 / 4


def test_void_lines_are_those_that_say_why(tmp_path: Path) -> None:
    lines = found(tournament(tmp_path, ["all"], pool(a=-1, b=2), seeds=2))
    assert lines["void: named", "a"].estimate.value == 1
    assert lines["void: named", "b"].estimate.value == 0


def test_who_wrote_no_line_has_no_rate_of_void_ones(tmp_path: Path) -> None:
    silent = {("all.seed-0.rep-1", "a"): Cause.REFUSED}
    lines = found(tournament(tmp_path, ["all"], pool(a=1, b=2), seeds=1, silent=silent))
    rate = lines["void: named", "a"].estimate
    assert (rate.value, rate.undefined) == (None, "no lines")


def test_replies_cut_at_the_token_limit_are_counted_of_all_replies(tmp_path: Path) -> None:
    tournament(tmp_path, ["all"], pool(a=1, b=2), seeds=2)
    paid(tmp_path, "all.seed-0.rep-1", "a", 0.1, 0.1, 0.1)
    paid(tmp_path, "all.seed-1.rep-1", "a", 0.1)
    line = found(tmp_path)["truncated replies", "a"]
    assert (line.about["count"], line.about["of"]) == (2, 4)
    assert line.estimate.value == pytest.approx(0.5)
    assert ("truncated replies", "b") not in found(tmp_path)
