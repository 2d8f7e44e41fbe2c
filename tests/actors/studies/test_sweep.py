"""A study in a folder: begun, killed, gone on with, refused."""

from __future__ import annotations

import base64
import hashlib
import html
import json
import os
import re
import signal
import subprocess
import sys
import time
from dataclasses import dataclass, field
from pathlib import Path

import pandas as pd
import psutil
import pytest

from actors.errors import UserError
from actors.studies.sweep import Swept, conclude, sweep
from market.config import Config, load
from market.journal import ConfigChangedError
from market.storage import LOCAL, LockedError

ROOT = Path(__file__).parents[3]
STUDY = [
    "study.primary=profit",
    "study.outcomes=[market.gini_net_worth, rank_agreement]",
    "study.vary={rules.price_cap: [1.5, 2.0]}",
    "study.seeds=8",
    "rules.steps=1",
    "rules.attention.similarity=none",
]


def study(*overrides: str, inline: bool = True) -> Config:
    return load("arena/paper", [*STUDY, f"inline={str(inline).lower()}", *overrides])


@dataclass
class Told:
    """Remembers what it is told, and stops the sweep or kills a worker once."""

    stop_after: int = 1_000_000
    kill: str = ""
    units: int = 0
    before: int = -1
    played_units: int = 0
    killed: list[int] = field(default_factory=list)

    def started(self, units: int, done: int) -> None:
        self.units, self.before = units, done

    def played(self, units: int) -> None:
        self.played_units += units
        if self.played_units >= self.stop_after:
            raise KeyboardInterrupt
        if self.kill and not self.killed:
            for process in psutil.Process().children(recursive=True):
                if " ".join(process.cmdline()).startswith(self.kill):
                    self.killed.append(process.pid)
                    os.kill(process.pid, signal.SIGKILL)


def rows(folder: Path) -> pd.DataFrame:
    frame = pd.concat(
        [pd.read_parquet(path) for path in sorted((folder / "parts").glob("*.parquet"))]
    )
    return frame.sort_values(["unit", "seat"]).reset_index(drop=True)


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Swept]:
    folder = tmp_path_factory.mktemp("studies") / "whole"
    swept = sweep(study(), folder, Told())
    conclude(swept, folder)
    return folder, swept


def test_a_study_leaves_question_parts_tables_summary_and_page(whole: tuple[Path, Swept]) -> None:
    folder, swept = whole
    assert (swept.played, swept.failures) == (16, {})
    told = json.loads((folder / "study.json").read_text())
    assert told["primary"] == "profit"
    assert told["exploratory"] == ["market.gini_net_worth", "rank_agreement"]
    summary = json.loads((folder / "summary.json").read_text())
    assert summary["primary_and_plan_sha256"] == told["primary_and_plan_sha256"]
    assert (summary["units"], summary["played"], summary["seeds"]) == (16, 16, 8)
    assert [line["outcome"] for line in summary["outcomes"][:2]] == ["profit", "profit"]
    assert load(str(folder / "config.json")) == study().model_copy()
    assert len(pd.read_parquet(folder / "tables" / "units.parquet")) == 16 * 21
    page = (folder / "report.html").read_text()
    assert '<h2>profit <span class="tag primary">' in page
    assert "one of no width is bold from 6 seeds on" in page


def test_the_page_runs_nothing_but_its_own_scripts(whole: tuple[Path, Swept]) -> None:
    page = (whole[0] / "report.html").read_text()
    (policy,) = re.findall(r'Content-Security-Policy" content="([^"]*)"', page)
    scripts = re.findall(r"<script>(.*?)</script>", page, re.DOTALL)
    assert len(scripts) >= 2
    for script in scripts:
        digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
        assert f"sha256-{digest}" in html.unescape(policy)
    assert "default-src &#39;none&#39;" in policy or "default-src 'none'" in policy


def test_a_sweep_that_was_stopped_goes_on_with_what_is_missing(
    whole: tuple[Path, Swept], tmp_path: Path
) -> None:
    folder = tmp_path / "stopped"
    with pytest.raises(KeyboardInterrupt):
        sweep(study(), folder, Told(stop_after=5))
    kept = {path.name: path.stat().st_mtime_ns for path in (folder / "parts").iterdir()}
    before = (folder / "study.json").read_bytes()
    assert 5 <= len(kept) < 16
    told = Told()
    swept = sweep(study(), folder, told, resume=True)
    assert (told.before, told.played_units) == (len(kept), 16 - len(kept))
    assert swept.played == 16
    assert (folder / "study.json").read_bytes() == before
    assert (
        kept.items()
        <= {path.name: path.stat().st_mtime_ns for path in (folder / "parts").iterdir()}.items()
    )
    pd.testing.assert_frame_equal(rows(folder), rows(whole[0]))


def test_another_question_or_plan_is_refused_with_what_differs(
    whole: tuple[Path, Swept],
) -> None:
    for change, key in (
        ("study.primary=score", "study.primary"),
        ("study.seeds=9", "study.seeds"),
        ("rules.steps=2", "rules.steps"),
    ):
        with pytest.raises(ConfigChangedError) as caught:
            sweep(study(change), whole[0], Told(), resume=True)
        assert caught.value.keys == (key,)
    swept = sweep(study("deadline_seconds=5"), whole[0], Told(), resume=True)
    assert swept.played == 16


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ("study.primary=profits", "`study.primary`: there is no metric `profits`"),
        ("study.outcomes=[market.luck]", "`study.outcomes`: there is no figure `luck`"),
        ("study.outcomes=[nobody.profit]", "there is no retailer `nobody`"),
        ("retailers.0={name: m, policy: llm, options: {model: local}}", "ask models"),
        ("study=null", "has no `study`"),
    ],
)
def test_what_cannot_be_answered_is_refused_before_anything_is_written(
    tmp_path: Path, change: str, told: str
) -> None:
    with pytest.raises(UserError) as caught:
        sweep(study(change), tmp_path / "new", Told())
    assert told in str(caught.value)
    assert not (tmp_path / "new").exists()


def test_two_sweeps_do_not_write_one_folder(whole: tuple[Path, Swept]) -> None:
    lock = LOCAL.lock(whole[0] / "study.json")
    try:
        with pytest.raises(LockedError):
            sweep(study(), whole[0], Told(), resume=True)
    finally:
        lock.release(remove=True)


def test_there_is_nothing_to_resume_in_a_new_folder(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="no study to resume"):
        sweep(study(), tmp_path / "new", Told(), resume=True)


def test_a_part_that_failed_is_told_and_played_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from actors.studies import packing

    ordinary = packing.build_environment

    def broken(config: dict[str, object]) -> object:
        if config["seed"] == 3 and (tmp_path / "new" / "study.json").exists():
            raise RuntimeError("a bug")
        return ordinary(config)

    monkeypatch.setattr(packing, "build_environment", broken)
    swept = sweep(study(), tmp_path / "new", Told())
    assert swept.played == 14
    assert set(swept.failures) == {f"price-cap-{cap}.all.seed-3.rep-1" for cap in ("1.5", "2.0")}
    assert len(list((tmp_path / "new" / "errors").iterdir())) == 2
    monkeypatch.undo()
    again = sweep(study(), tmp_path / "new", Told(), resume=True)
    assert (again.played, again.failures) == (16, {})
    assert not list((tmp_path / "new" / "errors").iterdir())


@pytest.mark.slow
@pytest.mark.usefixtures("ray_cluster")
def test_workers_play_what_this_process_plays_even_if_one_is_killed(
    whole: tuple[Path, Swept], tmp_path: Path
) -> None:
    told = Told(kill="ray::PackingActor")
    swept = sweep(study(inline=False), tmp_path / "new", told)
    assert told.killed
    assert (swept.played, swept.failures) == (16, {})
    pd.testing.assert_frame_equal(rows(tmp_path / "new"), rows(whole[0]))


@pytest.mark.slow
@pytest.mark.usefixtures("ray_cluster")
def test_workers_have_the_similarities_that_this_process_has(tmp_path: Path) -> None:
    words = ["rules.attention={similarity: encoder}", "study.seeds=2", "rules.steps=2"]
    sweep(study(*words), tmp_path / "here", Told())
    sweep(study(*words, inline=False), tmp_path / "there", Told())
    pd.testing.assert_frame_equal(rows(tmp_path / "there"), rows(tmp_path / "here"))


@pytest.mark.slow
def test_a_driver_that_was_killed_is_gone_on_with(
    whole: tuple[Path, Swept], tmp_path: Path
) -> None:
    folder = tmp_path / "killed"
    words = [word for override in STUDY for word in ("--set", override)]
    command = [sys.executable, "-c", "from actors.cli import main; main()", "study", "arena/paper"]
    command += ["--out", str(folder), *words, "--set", "inline=true"]
    driver = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.DEVNULL)
    while not len(list(folder.glob("parts/*.parquet"))) >= 3 and driver.poll() is None:
        time.sleep(0.005)
    driver.kill()
    driver.wait()
    done = len(list(folder.glob("parts/*.parquet")))
    assert 3 <= done <= 16
    subprocess.run([*command, "--resume"], cwd=ROOT, check=True, stdout=subprocess.DEVNULL)
    pd.testing.assert_frame_equal(rows(folder), rows(whole[0]))
    assert json.loads((folder / "summary.json").read_text())["played"] == 16


def test_a_study_is_extended_by_seeds_and_says_so_wherever_results_are(tmp_path: Path) -> None:
    folder = tmp_path / "new"
    conclude(sweep(study(), folder, Told()), folder)
    kept = {path.name: path.stat().st_mtime_ns for path in (folder / "parts").iterdir()}
    before = json.loads((folder / "study.json").read_text())
    told = Told()
    more = study("study.seeds=10")
    swept = sweep(more, folder, told, resume=True, extend=True)
    conclude(swept, folder)
    assert (told.before, told.played_units, swept.played) == (16, 4, 20)
    parts = {path.name: path.stat().st_mtime_ns for path in (folder / "parts").iterdir()}
    assert kept.items() <= parts.items()
    sentence = "Extended from 8 to 10 seeds after results were seen (16 episodes)."
    for name in ("study.json", "summary.json"):
        (noted,) = json.loads((folder / name).read_text())["amendments"]
        assert noted["sentence"] == sentence
        assert noted["before"]["sha256"] == before["primary_and_plan_sha256"]
    assert sentence in (folder / "report.html").read_text()
    assert load(str(folder / "config.json")) == more.model_copy()
    sweep(more, tmp_path / "at-once", Told())
    pd.testing.assert_frame_equal(rows(folder), rows(tmp_path / "at-once"))


def test_an_extension_that_was_interrupted_is_resumed_and_the_old_plan_is_gone(
    tmp_path: Path,
) -> None:
    folder, more = tmp_path / "new", study("study.seeds=10")
    sweep(study(), folder, Told())
    with pytest.raises(KeyboardInterrupt):
        sweep(more, folder, Told(stop_after=1), resume=True, extend=True)
    told = Told()
    assert sweep(more, folder, told, resume=True).played == 20
    assert 16 < told.before < 20
    with pytest.raises(ConfigChangedError) as caught:
        sweep(study(), folder, Told(), resume=True)
    assert caught.value.keys == ("study.seeds",)
    sweep(study("study.seeds=11"), folder, Told(), resume=True, extend=True)
    assert len(json.loads((folder / "study.json").read_text())["amendments"]) == 2
