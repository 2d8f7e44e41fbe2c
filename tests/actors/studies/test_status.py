"""How far a study is, by what lies in its folder."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from typer.testing import CliRunner

from actors.studies.recorded import play_recorded
from actors.studies.status import as_text, status
from actors.studies.sweep import sweep
from market.storage import LOCAL
from tests.actors.studies.test_recorded import CAPS, model
from tests.actors.studies.test_recorded import study as study_of
from tests.actors.studies.test_sweep import ROOT, STUDY, Told, study
from tests.actors.test_ray import Silence
from tests.provider import Fails, Provider, Says


def told(*arguments: str) -> str:
    from actors.cli import app

    result = CliRunner().invoke(app, ["status", *arguments])
    assert result.exit_code == 0, result.output
    return result.stdout


@pytest.fixture
def stopped(tmp_path: Path) -> Path:
    """A study of 16 episodes in 16 parts that was stopped after five."""
    with pytest.raises(KeyboardInterrupt):
        sweep(study(), tmp_path / "stopped", Told(stop_after=5))
    return tmp_path / "stopped"


def test_a_study_that_was_stopped_is_told_with_what_it_lacks(stopped: Path) -> None:
    assert told(str(stopped)).splitlines() == [
        "study paper: 5 of 16 episodes in 5 of 16 parts",
        "episodes: 5 finished, 11 not begun",
        "Nobody plays it; go on with `market study` and --resume.",
    ]
    found = json.loads(told(str(stopped), "--json"))
    assert found["units"] == {
        "planned": 16, "finished": 5, "running": 0, "owed": 0, "failed": 0, "not begun": 11,
    }  # fmt: skip
    assert (found["parts"], found["playing"]) == ({"done": 5, "total": 16}, False)
    sweep(study(), stopped, Told(), resume=True)
    assert told(str(stopped)) == (
        "study paper: 16 of 16 episodes in 16 of 16 parts\nepisodes: 16 finished\n"
    )


def test_a_study_that_is_played_now_says_so(stopped: Path) -> None:
    lock = LOCAL.lock(stopped / "study.json")
    try:
        assert told(str(stopped)).splitlines()[-1] == "Somebody plays it now."
    finally:
        lock.release(remove=True)


def test_what_failed_is_named_with_its_traceback_until_it_is_played(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from actors.studies import packing

    ordinary = packing.build_environment

    def broken(config: dict[str, object]) -> object:
        if config["seed"] == 3 and (tmp_path / "new" / "study.json").exists():
            try:
                raise ValueError("a cause")
            except ValueError as error:
                raise RuntimeError("a bug") from error
        return ordinary(config)

    monkeypatch.setattr(packing, "build_environment", broken)
    sweep(study(), tmp_path / "new", Told())
    found = status(tmp_path / "new")
    assert set(found.failures) == {f"price-cap-{cap}.all.seed-3.rep-1" for cap in ("1.5", "2.0")}
    assert (found.finished, found.counts["failed"], found.counts["not begun"]) == (14, 2, 0)
    assert "seed-3.rep-1: failed (see " in as_text(found)
    monkeypatch.undo()
    sweep(study(), tmp_path / "new", Told(), resume=True)
    assert status(tmp_path / "new").failures == {}


def test_a_part_that_cannot_be_read_does_not_count_and_is_named(stopped: Path) -> None:
    part = sorted((stopped / "parts").iterdir())[0]
    part.write_bytes(part.read_bytes()[:100])
    found = status(stopped)
    assert (found.finished, found.parts) == (4, (4, 16))
    assert f"{part} cannot be read as Parquet" in as_text(found)


def test_an_extension_is_told(stopped: Path) -> None:
    more = study("study.seeds=9")
    sweep(more, stopped, Told(), resume=True, extend=True)
    assert "Extended from 8 to 9 seeds after results were seen (5 episodes)." in told(str(stopped))
    assert status(stopped).planned == status(stopped).finished == 18


@pytest.mark.slow
def test_a_study_that_was_killed_is_told_from_its_records(tmp_path: Path) -> None:
    folder = tmp_path / "killed"
    words = [word for override in STUDY for word in ("--set", override)]
    command = [sys.executable, "-c", "from actors.cli import main; main()", "study", "arena/paper"]
    command += ["--out", str(folder), *words, "--set", "inline=true"]
    driver = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.DEVNULL)
    while len(list(folder.glob("parts/*.parquet"))) < 2 and driver.poll() is None:
        time.sleep(0.002)
    assert status(folder).playing
    driver.send_signal(signal.SIGKILL)
    driver.wait()
    found = status(folder)
    assert not found.playing
    assert found.finished == len(list(folder.glob("parts/*.parquet"))) >= 2
    assert found.planned == 16


@pytest.mark.slow
@pytest.mark.usefixtures("ray_cluster")
def test_a_study_of_models_is_told_by_episode_with_what_it_spent(tmp_path: Path) -> None:
    folder = tmp_path / "new"

    def answer(body: dict[str, object]) -> Says:
        return Says('{"bids":[]}' if "bids" in str(body["messages"]) else '{"prices":{}}')

    with Provider(Fails(401)) as provider:
        play_recorded(study_of(model(provider.api_base), CAPS), folder, Silence())
    found = status(folder)
    assert found.counts["owed"] >= 1
    assert found.counts["finished"] == 0
    assert ": owed" in as_text(found)
    with Provider(answer) as provider:
        config = study_of(model(provider.api_base), CAPS)
        play_recorded(config, folder, Silence(), resume=True)
    found = status(folder)
    assert found.counts["finished"] == found.planned == 4
    assert found.spend.calls >= 4
    assert "model calls" in as_text(found)
