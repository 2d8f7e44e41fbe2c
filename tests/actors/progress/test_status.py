from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from typer.testing import CliRunner

from actors.cli import app
from actors.errors import UserError
from actors.progress.status import EpisodeStatus, Spend, State, as_json, as_text, status
from market.calls import CallLog, CallRecord, Outcome
from market.config import Config, EpisodePlan, configure, expand, recorded, resolved
from market.environment import Cause, NoAction
from market.journal import Header, JournalWriter
from market.language import Reply, Usage
from market.replay import build_environment
from tests.market.recorded import LEMONADE, record

ROOT = Path(__file__).parents[3]

#: Holds the lock of a journal until it is killed, as a driver does.
WRITER = """
import sys
from pathlib import Path
from market.config import configure, expand
from market.journal import JournalWriter
from tests.actors.progress.test_status import TOURNAMENT, header

plan = expand(configure(TOURNAMENT))[int(sys.argv[2])]
journal = JournalWriter.reopen(Path(sys.argv[1]), header(plan))
print("holding", flush=True)
sys.stdin.read()
"""

TOURNAMENT = {
    "environment": "arena",
    "rules": {
        "steps": 2,
        "items": [{"item": "tea", "tier": "commodity", "quantity": 40, "base": 50}],
        "personas": {"Thrifty": {"share": 1.0, "sensitivity": 0.2, "theme": "cheap"}},
        "buyers": 10,
        "attention": {"similarity": "none"},
    },
    "retailers": [{"name": "stand", "policy": "idle", "count": 2}],
    "tournament": {"seeds": 4},
}


def header(plan: EpisodePlan) -> Header:
    return Header.of(recorded(plan.config), plan.config.kind.rules_version, plan.id)


@pytest.fixture
def run(tmp_path: Path) -> Path:
    """A run that is planned and not begun."""
    (tmp_path / "config.json").write_text(json.dumps(resolved(configure(TOURNAMENT))))
    return tmp_path


def journal(run: Path, plan: EpisodePlan) -> Path:
    path = run / "episodes" / plan.id / "journal.jsonl"
    path.parent.mkdir(parents=True, exist_ok=True)
    return path


def play(run: Path, plan: EpisodePlan, batches: int | None = None) -> Path:
    """Record an episode, or its first batches, in which nobody does anything."""
    path, first = journal(run, plan), header(plan)
    environment = build_environment(first.config)
    asked, played = environment.start(), 0
    with JournalWriter.create(path, first) as writer:
        while asked and played != batches:
            answers = {decision.seat: NoAction(Cause.LATE) for decision in asked}
            writer.append(asked, answers)
            asked = environment.apply(answers)
            played += 1
        if not asked:
            writer.finish(environment.result)
    return path


def call(
    outcome: Outcome,
    turn: int = 0,
    cost: float | None = 0.25,
    cached: bool = False,
    **more: object,
) -> CallRecord:
    reply = None
    if outcome is Outcome.REPLIED:
        reply = Reply("{}", "stop", usage=Usage("gpt-1", 100, 20, 0, cost, 1.0, 1, cached))
    return CallRecord("e", 1, turn, "stand-1", 0, outcome, "openai/gpt", (), reply, **more)  # type: ignore[arg-type]


def log(journal: Path, *records: CallRecord) -> None:
    with CallLog(journal.with_name("calls.jsonl"), {}) as calls:
        calls.append(*records)


def of(run: Path, plan: EpisodePlan) -> EpisodeStatus:
    return next(episode for episode in status(run).episodes if episode.id == plan.id)


def plans() -> tuple[EpisodePlan, ...]:
    return expand(configure(TOURNAMENT))


@contextmanager
def writer(path: Path, number: int) -> Iterator[subprocess.Popen[str]]:
    """Another process that writes a journal; it is killed with SIGKILL."""
    process = subprocess.Popen(
        [sys.executable, "-c", WRITER, str(path), str(number)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env=os.environ | {"PYTHONPATH": str(ROOT)},
    )
    try:
        assert process.stdout is not None
        assert process.stdout.readline() == "holding\n"
        yield process
    finally:
        process.kill()
        process.communicate()


def test_what_is_planned_and_without_a_journal_is_not_begun(run: Path) -> None:
    found = status(run)
    assert [episode.state for episode in found.episodes] == [State.NOT_BEGUN] * 4
    assert [episode.id for episode in found.episodes] == [plan.id for plan in plans()]
    assert (found.steps_done, found.steps, found.spend) == (0, 8, Spend())


def test_a_journal_with_its_result_is_finished(run: Path) -> None:
    play(run, plans()[0])
    episode = of(run, plans()[0])
    assert (episode.state, episode.steps_done, episode.steps) == (State.FINISHED, 2, 2)


def test_an_episode_is_running_until_its_writer_is_killed_and_then_owed(run: Path) -> None:
    plan = plans()[1]
    path = play(run, plan, batches=4)  # bids twice, sale; then a bid of the second step
    with writer(path, 1) as process:
        running = of(run, plan)
        assert (running.state, running.steps_done) == (State.RUNNING, 1)
        process.kill()
        process.wait()
        owed = of(run, plan)
    assert (owed.state, owed.steps_done, owed.steps) == (State.OWED, 1, 2)
    assert path.with_name("journal.jsonl.lock").exists()


def test_asking_does_not_keep_a_writer_out(run: Path) -> None:
    plan = plans()[0]
    path = play(run, plan, batches=1)
    assert of(run, plan).state is State.OWED
    with JournalWriter.reopen(path, header(plan)):
        assert of(run, plan).state is State.RUNNING
    assert of(run, plan).state is State.OWED


def test_an_error_beside_the_journal_is_a_failure_until_it_is_played_on(run: Path) -> None:
    plan = plans()[0]
    path = play(run, plan, batches=1)
    path.with_name("error.txt").write_text("Traceback\n  File x\nValueError: \x1b[31mbad\n\n")
    episode = of(run, plan)
    assert episode.state is State.FAILED
    assert episode.note == "ValueError: [31mbad"
    with JournalWriter.reopen(path, header(plan)):
        assert of(run, plan).state is State.RUNNING


def test_a_failure_before_the_first_line_is_one_all_the_same(run: Path) -> None:
    path = journal(run, plans()[0])
    path.with_name("error.txt").write_text("RuntimeError: no actor\n")
    assert of(run, plans()[0]).state is State.FAILED


def test_a_damaged_journal_is_a_failure_that_costs_the_others_nothing(run: Path) -> None:
    first, second = plans()[:2]
    path = play(run, first, batches=2)
    path.write_bytes(path.read_bytes().replace(b"late", b"lame", 1))
    play(run, second)
    assert of(run, first).state is State.FAILED
    assert "was changed after it was written" in str(of(run, first).note)
    assert of(run, second).state is State.FINISHED


@pytest.mark.parametrize("content", [b"", b'{"config":'])
def test_a_writer_that_died_at_its_first_line_leaves_an_episode_owed(
    run: Path, content: bytes
) -> None:
    journal(run, plans()[0]).write_bytes(content)
    episode = of(run, plans()[0])
    assert (episode.state, episode.steps_done) == (State.OWED, 0)


def test_a_torn_last_line_is_no_damage(run: Path) -> None:
    path = play(run, plans()[0], batches=2)
    path.write_bytes(path.read_bytes()[:-5])
    assert of(run, plans()[0]).state is State.OWED


def test_spend_is_what_the_answer_logs_hold(run: Path) -> None:
    first, second = plans()[:2]
    log(
        play(run, first),
        call(Outcome.SENT),
        call(Outcome.REPLIED),
        call(Outcome.SENT, 1),
        call(Outcome.REPLIED, 1),
    )
    log(play(run, second), call(Outcome.REPLIED, cost=1.0))
    assert of(run, first).spend == Spend(2, 240, 0.5)
    assert status(run).spend == Spend(3, 360, 1.5)


def test_a_call_without_an_answer_is_in_flight_while_somebody_waits_and_lost_after(
    run: Path,
) -> None:
    plan = plans()[0]
    path = play(run, plan, batches=1)
    log(path, call(Outcome.SENT), call(Outcome.REPLIED), call(Outcome.SENT, 1))
    with JournalWriter.reopen(path, header(plan)):
        assert of(run, plan).spend == Spend(1, 120, 0.25, in_flight=1)
    assert of(run, plan).spend == Spend(1, 120, None, lost=1)


def test_answers_from_the_cache_are_told_apart_and_take_nothing(run: Path) -> None:
    plan = plans()[0]
    log(play(run, plan), call(Outcome.REPLIED), call(Outcome.REPLIED, 1, 0.0, cached=True))
    assert of(run, plan).spend == Spend(1, 120, 0.25, cached=1)
    assert "1 model calls, 120 tokens, $0.2500, 1 answers from the cache" in as_text(status(run))


@pytest.mark.parametrize(("batches", "state"), [(None, State.FINISHED), (1, State.FAILED)])
def test_what_a_damaged_log_holds_is_unknown_and_named(
    run: Path, batches: int | None, state: State
) -> None:
    first, second = plans()[:2]
    path = play(run, first, batches)
    log(path, call(Outcome.REPLIED))
    with path.with_name("calls.jsonl").open("a") as file:
        file.write("garbage\n")
    log(play(run, second), call(Outcome.REPLIED))
    episode = of(run, first)
    assert episode.state is state
    assert episode.spend == Spend(0, None, None, unread=1)
    assert episode.note == "calls.jsonl, line 3 is not JSON"
    assert status(run).spend == Spend(1, None, None, unread=1)
    told = as_text(status(run))
    assert "spent: 1 model calls, tokens unknown, cost unknown, 1 answer logs unreadable" in told
    assert "calls.jsonl, line 3 is not JSON" in told


def test_beside_a_damaged_journal_a_whole_log_is_counted(run: Path) -> None:
    plan = plans()[0]
    path = play(run, plan, batches=2)
    log(path, call(Outcome.REPLIED))
    path.write_bytes(path.read_bytes().replace(b"late", b"lame", 1))
    assert of(run, plan).state is State.FAILED
    assert of(run, plan).spend == Spend(1, 120, 0.25)


def test_an_owed_episode_says_what_its_provider_said(run: Path) -> None:
    path = play(run, plans()[0], batches=1)
    log(path, call(Outcome.SENT), call(Outcome.PROVIDER_FAILED, error="no such\nmodel"))
    assert of(run, plans()[0]).note == "no such model"


def test_episodes_that_nobody_planned_are_told_apart(run: Path) -> None:
    stray = run / "episodes" / "stray"
    stray.mkdir(parents=True)
    record(stray / "journal.jsonl")
    episode = status(run).episodes[-1]
    assert (episode.id, episode.planned, episode.state) == ("stray", False, State.FINISHED)
    assert "(not in config.json)" in as_text(status(run))


def test_without_a_configuration_the_journals_speak_for_themselves(tmp_path: Path) -> None:
    play(tmp_path, plans()[0], batches=4)
    (episode,) = status(tmp_path).episodes
    assert (episode.state, episode.steps_done, episode.steps) == (State.OWED, 1, 2)


def test_a_run_of_one_episode_has_a_status_too(tmp_path: Path) -> None:
    config: Config = configure({"environment": LEMONADE, "retailers": TOURNAMENT["retailers"]})
    (tmp_path / "config.json").write_text(json.dumps(resolved(config)))
    (episode,) = status(tmp_path).episodes
    assert (episode.id, episode.state, episode.steps) == ("seed-0", State.NOT_BEGUN, None)


def test_a_folder_without_a_run_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="holds no run"):
        status(tmp_path)


def test_people_and_programs_are_told_the_same(run: Path) -> None:
    log(play(run, plans()[0]), call(Outcome.REPLIED))
    play(run, plans()[1], batches=4)
    told = CliRunner().invoke(app, ["status", str(run)])
    assert told.exit_code == 0
    assert told.stdout.splitlines()[:3] == [
        "episodes: 1 finished, 1 owed, 2 not begun",
        "steps: 3 of 8",
        "spent: 1 model calls, 120 tokens, $0.2500",
    ]
    data = json.loads(CliRunner().invoke(app, ["status", str(run), "--json"]).stdout)
    assert data == json.loads(as_json(status(run)))
    assert data["episodes"] == {
        "finished": 1,
        "running": 0,
        "owed": 1,
        "failed": 0,
        "not begun": 2,
    }
    assert data["steps"] == {"done": 3, "total": 8}
    assert data["each"][1]["state"] == "owed"


def test_the_command_refuses_in_one_sentence(tmp_path: Path) -> None:
    (tmp_path / "config.json").write_text('{"retailers": 3}')
    told = CliRunner().invoke(app, ["status", str(tmp_path)])
    assert told.exit_code == 2
    assert len(told.stderr.splitlines()) == 1
