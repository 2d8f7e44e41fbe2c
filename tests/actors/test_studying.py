"""`market study` from the command line, and every shipped study in small."""

from __future__ import annotations

import io
import json
from collections.abc import Sequence
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from actors.cli import app
from actors.studies.pace import Pace, pace
from market.config import load, presets
from tests.embeddings.models import save_tiny_qwen3

STUDIES = [preset.name for preset in presets() if preset.name.startswith("studies/")]
SMALL = ["inline=true", "study.seeds=1"]
SILENT = [*SMALL, "rules.steps=1", "rules.attention={similarity: none}"]

#: What makes each study small enough for a test.
SMALLER = {
    "studies/attention": ["rules.attention.similarity=none", "rules.steps=1"],
    "studies/size": [
        "study.rosters=[{design: subsets, size: 5, count: 2}]",
        "rules.steps=1",
    ],
    "studies/collusion": ["rules.steps=8"],
}  # fmt: skip


def market(*arguments: str) -> Result:
    return CliRunner().invoke(app, arguments)


def sets(overrides: Sequence[str]) -> list[str]:
    return [word for override in overrides for word in ("--set", override)]


def test_all_studies_are_shipped() -> None:
    named = "attention collusion encoder feedback merger paper rules size supply transport words"
    assert [f"studies/{name}" for name in named.split()] == STUDIES


@pytest.mark.parametrize("name", [name for name in STUDIES if name != "studies/encoder"])
def test_every_shipped_study_runs(name: str, tmp_path: Path) -> None:
    small = [*SMALL, *SMALLER.get(name, ["rules.steps=1"])]
    done = market("study", name, "--out", str(tmp_path / "out"), *sets(small))
    assert done.exit_code == 0, done.output
    config = load(name)
    assert config.study is not None
    assert f"Primary outcome: {config.study.primary}" in done.output
    summary = json.loads((tmp_path / "out" / "summary.json").read_text())
    assert summary["played"] == summary["units"] > 1
    told = {line["outcome"]: line for line in summary["outcomes"]}
    assert list(told) == list(config.study.told)
    if name == "studies/collusion":
        values = {
            line["roster"]: line["value"]
            for line in summary["outcomes"]
            if line["outcome"] == "collusion_index"
            and line["cell"] == summary["outcomes"][0]["cell"]
        }
        assert values["self-undercutting-x2"] < 0.05
        assert values["self-greedy-x2"] == pytest.approx(1.0, abs=0.01)
        assert values["self-patient-x2"] == pytest.approx(0.5, abs=0.01)
    if name == "studies/paper":
        assert len(summary["published"]) == len(config.study.published)
        assert all(line["sentence"] for line in summary["published"])


@pytest.mark.slow
def test_the_study_of_encoders_runs_with_another_model(tmp_path: Path) -> None:
    model = save_tiny_qwen3(tmp_path / "model")
    other = f"study.vary={{encoder.model: [all-MiniLM-L6-v2, {model}]}}"
    done = market(
        "study", "studies/encoder", "--out", str(tmp_path / "out"), *sets([*SMALL, other])
    )
    assert done.exit_code == 0, done.output
    lines = json.loads((tmp_path / "out" / "summary.json").read_text())["outcomes"]
    convergence = [
        line["value"] for line in lines if line["outcome"] == "market.slogan_convergence"
    ]
    assert convergence[0] != convergence[1]


def test_a_dry_run_tells_size_cells_and_question_and_plays_nothing(tmp_path: Path) -> None:
    done = market("study", "studies/supply", "--dry-run", "--out", str(tmp_path / "out"))
    assert done.exit_code == 0
    assert "210 episodes of 7 cells" in done.output
    assert "Primary outcome: profit (with the plan SHA-256 " in done.output
    assert "demand-ratio-0.5\n" in done.output
    assert not (tmp_path / "out").exists()


def test_a_finished_study_is_told_again_and_reported_anew(tmp_path: Path) -> None:
    out = str(tmp_path / "out")
    assert market("study", "studies/rules", "--out", out, *sets(SILENT)).exit_code == 0
    (tmp_path / "out" / "report.html").unlink()
    again = market("report", out)
    assert again.exit_code == 0
    assert "Wrote" in again.output
    assert (tmp_path / "out" / "report.html").exists()
    resumed = market("study", "studies/rules", "--out", out, "--resume", *sets(SILENT))
    assert "4/4 episodes" in resumed.output


def test_mistakes_are_told_in_one_sentence(tmp_path: Path) -> None:
    full = tmp_path / "full"
    full.mkdir()
    (full / "something").touch()
    for arguments, told in (
        (["study", "arena/paper"], "has no `study`"),
        (["study", "studies/rules", "--out", str(full)], "is not empty"),
        (["study", "studies/rules", "--set", "study.primary=luck", "--out", str(tmp_path / "a")],
         "there is no metric `luck`"),
        (["run", "studies/rules", "--out", str(tmp_path / "b")], "play it with `market study`"),
        (["study", "studies/rules", "--pilot", str(full)], "holds no results"),
    ):  # fmt: skip
        done = market(*arguments)
        assert done.exit_code == 2, done.output
        assert told in done.output
        assert done.output.count("\n") == 1
    assert not (tmp_path / "a").exists()


def test_the_power_of_a_design_is_told_from_a_known_deviation() -> None:
    known = "study.power={deviation: 100.0}"
    done = market("study", "studies/rules", "--power", *sets([known, "study.seeds=16"]))
    # Three comparisons share the error: t of 15 degrees at 0.05/3, power 0.8.
    assert done.exit_code == 0
    assert "deviation 100, as configured" in done.output
    assert "16 blocks detect a difference of" in done.output
    assert "3 comparisons" in done.output


def test_the_power_of_a_design_is_told_from_a_pilot_that_scripts_play() -> None:
    done = market("study", "studies/rules", "--power", *sets([*SILENT, "study.seeds=10"]))
    assert done.exit_code == 0, done.output
    assert "from 8 seeds of differences between cells on equal seeds" in done.output
    assert "10 blocks detect a difference of" in done.output


def test_the_power_of_a_design_is_told_from_an_earlier_study(tmp_path: Path) -> None:
    study = str(tmp_path / "study")
    played = market("study", "studies/rules", "--out", study, *sets([*SILENT, "study.seeds=4"]))
    assert played.exit_code == 0
    done = market("study", "studies/rules", "--pilot", study)
    assert done.exit_code == 0, done.output
    assert "from 4 seeds of differences" in done.output


def test_a_pilot_of_models_is_not_played_unasked() -> None:
    models = "retailers=[{name: m, policy: llm, options: {model: local}, count: 2}]"
    done = market("study", "studies/rules", "--power", "--set", models)
    assert done.exit_code == 2
    assert "would cost money" in done.output


def test_the_pace_counts_what_was_played_now() -> None:
    now = [0.0]
    lines: list[str] = []
    told = Pace(lambda line, _: lines.append(line), clock=lambda: now[0])
    told.started(1_000, 200)
    for when in (10.0, 20.0, 30.0):
        now[0] = when
        told.played(100)
    assert lines == [
        "200/1,000 episodes",
        "300/1,000 episodes",
        "400/1,000 episodes, 10.0 per second, 1:00 to go",
        "500/1,000 episodes, 10.0 per second, 0:50 to go",
    ]


def test_without_a_terminal_only_some_lines_are_said() -> None:
    stream = io.StringIO()
    with pace(stream) as told:
        told.started(100, 0)
        for _ in range(100):
            told.played(1)
    lines = stream.getvalue().splitlines()
    assert lines[0] == "0/100 episodes"
    assert lines[-1].startswith("100/100 episodes")
    assert len(lines) == 2
