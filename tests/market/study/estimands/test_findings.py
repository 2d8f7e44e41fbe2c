from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from market.config import load as load_config
from market.environment import Cause
from market.study import StudyError, load
from market.study.estimands.effects import CONDITIONAL
from market.study.frames import COLUMNS
from tests.market.study.purse import pool, tournament

DESIGNS = [
    "all",
    {"design": "replacement", "reference": "ref", "size": 3, "count": 2},
    {"design": "self-play", "size": 3},
    {"design": "one-among-many", "size": 3},
]


def played(folder: Path, rosters: list[Any] | None = None, **more: Any) -> Path:
    return tournament(folder, rosters or DESIGNS, pool(ref=2, m=5, b=3), seeds=2, **more)


def named(folder: Path, primary: str) -> Path:
    """Say what the study was about, as its configuration would."""
    path = folder / "config.json"
    config = json.loads(path.read_text())
    path.write_text(json.dumps({**config, "study": {"primary": primary}}))
    return folder


def test_all_that_the_design_allows_is_found(tmp_path: Path) -> None:
    found = load(played(tmp_path)).findings()
    assert found.reference == "ref"
    assert found.episodes == {"begun": 32, "finished": 32, "valid": 32}
    assert {line.table for line in found.lines} == {
        "validity", "replacement", "externality", "self-play", "invasion", "standings",
        "frontier", "bounds", "associations", "separability",
    }  # fmt: skip
    effect = {str(x.about["retailer"]): x.estimate.value for x in found.of("replacement")}
    assert effect == {"m": 30, "b": 10}
    assert found.notes == (CONDITIONAL,)


def test_what_the_design_does_not_allow_is_said(tmp_path: Path) -> None:
    found = load(played(tmp_path, ["leave-one-out"])).findings()
    assert [note.split("`")[1] for note in found.notes] == [
        "replacement", "self-play", "invasion", "standings",
    ]  # fmt: skip
    assert not found.of("replacement")


def test_who_was_never_in_the_references_place_is_not_hidden(tmp_path: Path) -> None:
    design = {"design": "replacement", "reference": "ref", "candidates": ["m"], "size": 4}
    found = load(played(tmp_path, [design])).findings()
    effects = {str(line.about["retailer"]): line.estimate for line in found.of("replacement")}
    assert effects["m"].value == 30
    assert effects["b"].value is None
    assert "played by both b and ref" in str(effects["b"].undefined)


def test_a_single_step_in_which_nobody_does_anything_has_reasons_and_no_numbers(
    tmp_path: Path,
) -> None:
    rules = load_config("arena/default", ["rules.attention.similarity=none", "rules.steps=1"]).rules
    retailers = [{"name": "idle", "policy": "idle", "count": 3}]
    folder = tournament(tmp_path, ["all"], retailers, environment="arena", rules=rules, seeds=2)
    found = load(folder).findings()
    lines = {line.figure: line.estimate for line in found.of("indices")}
    for name in ("hhi_revenue", "price_dispersion", "net_margin", "rank_mobility_profit"):
        assert (lines[name].value, lines[name].undefined) == (None, "in no episode defined")
    assert lines["gini_net_worth"].value == lines["active_sold"].value == 0
    (share,) = [line for line in found.of("bounds") if line.figure.startswith("share")]
    assert share.estimate.undefined == "it never bid"
    assert not found.of("pass-through")
    assert {line.estimate.value for line in found.of("associations")} == {None}


def test_without_a_named_outcome_everything_is_exploratory(tmp_path: Path) -> None:
    found = load(played(tmp_path)).findings()
    assert found.primary is None
    assert not any(line.primary for line in found.lines)


def test_the_named_outcome_is_primary_and_all_else_exploratory(tmp_path: Path) -> None:
    run = load(named(played(tmp_path, ["all", "self-play"]), "score"))
    found = run.findings()
    assert (found.primary, found.outcome) == ("score", "score")
    primary = {line.table for line in found.lines if line.primary}
    assert primary == {"self-play", "standings", "separability"}
    assert all(line.outcome == "score" for line in found.lines if line.primary)
    assert not any(line.primary for line in found.lines if line.episodes == "all")
    other = run.findings(outcome="named")
    assert not any(line.primary for line in other.lines)


def test_results_are_on_valid_episodes_and_on_all(tmp_path: Path) -> None:
    silent = {("self-m-x3.seed-0.rep-1", "m-1"): Cause.UNANSWERED}
    begun = ("self-b-x3.seed-0.rep-1",)
    found = load(played(tmp_path, silent=silent, begun=begun)).findings()
    assert found.episodes == {"begun": 32, "finished": 31, "valid": 30}
    blocks = {
        selection: {
            str(line.about["retailer"]): line.estimate.blocks
            for line in found.of("self-play", selection)
        }
        for selection in ("valid", "all")
    }
    assert blocks == {"valid": {"ref": 2, "m": 1, "b": 1}, "all": {"ref": 2, "m": 2, "b": 1}}
    assert any(note.startswith("1 of 32 episodes are not finished") for note in found.notes)
    assert any(note.startswith("In 1 finished episodes a provider") for note in found.notes)


def test_where_all_finished_episodes_are_valid_both_say_the_same(tmp_path: Path) -> None:
    found = load(played(tmp_path)).findings()
    valid = [line.estimate for line in found.of("invasion", "valid")]
    assert valid == [line.estimate for line in found.of("invasion", "all")] != []


def test_an_outcome_of_the_market_has_effects_on_the_market(tmp_path: Path) -> None:
    found = load(played(tmp_path)).findings(outcome="pot")
    (of_m,) = [x for x in found.of("replacement") if x.about["retailer"] == "m"]
    assert (of_m.figure, of_m.estimate.value) == ("effect on the market", 3)
    selves = {str(x.about["retailer"]): x.estimate.value for x in found.of("self-play")}
    assert selves == {"ref": 6, "m": 15, "b": 9}
    assert not found.of("invasion")


def test_findings_are_plain_data_in_which_what_is_undefined_has_a_reason(tmp_path: Path) -> None:
    data = load(played(tmp_path)).findings().as_json()
    assert json.loads(json.dumps(data, allow_nan=False)) == data
    for line in data["lines"]:
        estimate = line["estimate"]
        assert (None in (estimate["value"], estimate["low"])) == bool(estimate["undefined"])
        assert line["sentence"]
        assert line["unit"]


def test_findings_are_the_same_each_time(tmp_path: Path) -> None:
    folder = played(tmp_path)
    assert load(folder).findings().as_json() == load(folder).findings().as_json()


def test_an_outcome_that_nobody_has_is_a_mistake(tmp_path: Path) -> None:
    with pytest.raises(StudyError, match="`fame`"):
        load(played(tmp_path, ["all"])).findings(outcome="fame")


def test_findings_are_a_frame_with_the_documented_columns(tmp_path: Path) -> None:
    found = load(tournament(tmp_path, ["all"], pool(a=1, b=2), seeds=3)).findings()
    frame = found.frame
    assert list(frame.columns) == list(COLUMNS["findings"])
    assert len(frame) == len(found.lines)
    assert frame["value"].iloc[0] == found.lines[0].estimate.value
    assert frame["about"].iloc[-1] == found.lines[-1].about
