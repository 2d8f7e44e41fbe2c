"""A folder holds one run, which one command at a time plays, and which is told as a whole."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from actors.errors import UserError
from actors.run import RunOutcome, alone_in, run
from market.calls import CallLog, CallRecord, Outcome
from market.config import Config, configure
from market.journal import ConfigChangedError
from market.storage import LockedError
from tests.actors.progress.test_scoreboard import CONFIG, Listening

pytestmark = pytest.mark.usefixtures("ray_cluster")

ROOT = Path(__file__).parents[2]

#: Holds the folder of a run until it is killed.
HOLDER = """
import sys
from pathlib import Path
from actors.run import alone_in

with alone_in(Path(sys.argv[1])):
    print("holding", flush=True)
    sys.stdin.read()
"""


def config(**more: Any) -> Config:
    return configure(CONFIG.model_dump(mode="json", exclude_unset=True) | more)


def play(folder: Path, resume: bool = False, **more: Any) -> RunOutcome:
    return run(config(**more), folder, Listening(), resume)


def log(folder: Path, episode: str, played: float = 1.0) -> Path:
    """An answer log with one call, sent so many seconds after the run was begun."""
    path = folder / "episodes" / episode / "calls.jsonl"
    with CallLog(path, {}) as calls:
        calls.append(
            CallRecord(episode, 1, 0, "markup-1", 0, Outcome.LOST, "openai/gpt", played=played)
        )
    return path


def damage(path: Path) -> None:
    path.write_text(path.read_text() + "garbage\n")


def test_a_run_is_not_gone_on_with_under_another_seed(tmp_path: Path) -> None:
    play(tmp_path / "run", seed=1)
    before = (tmp_path / "run" / "summary.json").read_bytes()
    with pytest.raises(ConfigChangedError, match="begun with other values of seed; leave") as told:
        play(tmp_path / "run", resume=True, seed=7)
    assert told.value.keys == ("seed",)
    assert (tmp_path / "run" / "summary.json").read_bytes() == before
    assert [path.name for path in (tmp_path / "run" / "episodes").iterdir()] == ["seed-1"]


def test_a_run_is_not_gone_on_with_as_a_tournament(tmp_path: Path) -> None:
    play(tmp_path / "run")
    with pytest.raises(ConfigChangedError) as told:
        play(tmp_path / "run", resume=True, tournament={"seeds": [0]})
    assert told.value.keys == ("tournament",)


def test_a_tournament_may_get_more_seeds_and_no_others(tmp_path: Path) -> None:
    play(tmp_path / "run", tournament={"seeds": [1, 2]})
    more = play(tmp_path / "run", resume=True, tournament={"seeds": [2, 3]})
    assert more.summary is not None
    assert more.summary["episodes"] == 2
    with pytest.raises(ConfigChangedError, match="other values of seed"):
        play(tmp_path / "run", resume=True, tournament={"seeds": [8, 9]})


def test_a_second_command_in_a_folder_is_refused_before_it_writes_anything(tmp_path: Path) -> None:
    folder = tmp_path / "run"
    with alone_in(folder):
        before = sorted(folder.rglob("*"))
        for resume in (False, True):
            with pytest.raises(LockedError, match=f"^Another command plays in {folder}; wait"):
                play(folder, resume)
        assert sorted(folder.rglob("*")) == before
    assert not folder.exists()
    assert play(folder).summary is not None
    assert not list(folder.glob("*.lock"))


def test_a_folder_is_free_again_when_its_command_is_killed(tmp_path: Path) -> None:
    folder = tmp_path / "run"
    with subprocess.Popen(
        [sys.executable, "-c", HOLDER, str(folder)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env=os.environ | {"PYTHONPATH": str(ROOT)},
    ) as holder:
        assert holder.stdout is not None
        assert holder.stdout.readline() == "holding\n"
        with pytest.raises(LockedError):
            play(folder, resume=True)
        holder.kill()
        holder.communicate()
    assert play(folder, resume=True).summary is not None


def test_what_cannot_be_resumed_is_told_with_what_can_be_done(tmp_path: Path) -> None:
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "file").touch()
    for name, mend in (("other", "name another folder with --out"), ("new", "leave out --resume")):
        with pytest.raises(UserError, match=f"{name} holds no run to resume; {mend}."):
            play(tmp_path / name, resume=True)
    assert [path.name for path in tmp_path.rglob("*")] == ["other", "file"]


def test_a_damaged_log_of_a_finished_episode_stops_no_other(tmp_path: Path) -> None:
    folder = tmp_path / "run"
    play(folder, tournament={"seeds": [0]})
    damaged = log(folder, "all.seed-0.rep-1")
    damage(damaged)
    outcome = play(folder, resume=True, tournament={"seeds": [0, 1, 2]})
    assert outcome.summary is not None
    assert (folder / "report.html").exists()
    assert outcome.summary["states"]["finished"] == 3
    assert outcome.failed == (f"{damaged}, line 3 is not JSON",)


def test_under_a_budget_a_damaged_log_is_refused_since_spending_is_unknown(tmp_path: Path) -> None:
    folder = tmp_path / "run"
    play(folder, tournament={"seeds": [1]})
    damage(log(folder, "all.seed-1.rep-1"))
    stands = [{"name": "markup", "policy": "markup", "count": 2, "budget": {"tokens": 9}}]
    for limited in ({"budget": {"tokens": 9}}, {"retailers": stands}):
        with pytest.raises(UserError, match="nobody knows how much of the budget is spent"):
            play(folder, resume=True, tournament={"seeds": [1, 2]}, **limited)
    assert not (folder / "episodes" / "all.seed-2.rep-1").exists()


def seconds(outcome: RunOutcome) -> Any:
    assert outcome.summary is not None
    assert outcome.summary == json.loads((outcome.folder / "summary.json").read_text())
    return outcome.summary["wall_seconds"]


def test_the_time_of_play_stays_where_nothing_is_played_and_else_adds_up(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = [0.0]

    def clock() -> float:
        now[0] += 0.001
        return now[0]

    monkeypatch.setattr(time, "monotonic", clock)
    folder = tmp_path / "run"
    first = seconds(play(folder, tournament={"seeds": [1]}))
    assert first > 0
    assert seconds(play(folder, resume=True, tournament={"seeds": [1]})) == first
    assert seconds(play(folder, resume=True, tournament={"seeds": [1, 2]})) > first
    log(folder, "all.seed-2.rep-1", played=7_200.0)
    assert seconds(play(folder, resume=True, tournament={"seeds": [1, 2]})) == 7_200
    (folder / "summary.json").unlink()
    assert seconds(play(folder, resume=True, tournament={"seeds": [1]})) is None
