from __future__ import annotations

import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml
from typer.testing import CliRunner, Result

from actors.cli import app
from actors.errors import UserError
from actors.run import RunOutcome
from market.config import Config, load
from market.config.documents import write
from tests.market.recorded import record

LEMONADE = "tests.lemonade:ENVIRONMENT"
ROOT = Path(__file__).parents[2]


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A working folder with one good configuration in it."""
    folder = tmp_path / "here"
    folder.mkdir()
    stands = [{"name": "stand", "policy": "idle", "count": 2}]
    (folder / "good.yaml").write_text(write({"environment": LEMONADE, "retailers": stands}))
    monkeypatch.chdir(folder)
    return folder


@pytest.fixture
def played(monkeypatch: pytest.MonkeyPatch) -> Callable[..., list[tuple[Config, Path]]]:
    """Replaces the run by something that only notes what it was asked."""

    def install(owed: str | None = None, error: BaseException | None = None) -> list[Any]:
        asked: list[tuple[Config, Path]] = []

        def play(
            config: Config, out: Path, watcher: object, resume: bool, storage: object
        ) -> RunOutcome:
            asked.append((config, out))
            if error is not None:
                raise error
            return RunOutcome(out, None, owed)

        monkeypatch.setattr("actors.run.run", play)
        return asked

    return install


def market(*arguments: str) -> Result:
    return CliRunner().invoke(app, arguments)


def sentence(result: Result) -> str:
    """The one line that a mistake is told in."""
    assert result.exit_code == 2, result.output
    assert result.stdout == ""
    (line,) = result.stderr.splitlines()
    assert line.endswith(".")
    return line


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("environment: [", "bad.yaml, line 1: "),
        ("environment: arena\nretailers: []\nsead: 1", "bad.yaml: `retailers`: should have"),
        ("environment: nowhere\nretailers: [{name: a, policy: idle}]", "bad.yaml: `environment`"),
        ("extends: good.yaml\nrules: {dais: 3}", "bad.yaml: `rules.dais`: is no key here; did"),
        ("extends: good.yaml\nrules: {days: '3'}", "bad.yaml: `rules.days`: should be a valid"),
        ("extends: good.yaml\nretailers: [{name: a, policy: x}]", "bad.yaml: `retailers.0.policy`"),
        ("extends: good.yaml\napi_key: sk-1", "bad.yaml: `api_key`: secrets do not belong"),
        ("extends: bad.yaml", "bad.yaml: `extends` leads back to this file"),
        ("", "bad.yaml is empty"),
    ],
)
def test_a_wrong_file_ends_in_one_sentence(here: Path, text: str, told: str) -> None:
    (here / "bad.yaml").write_text(text)
    assert told in sentence(market("run", "bad.yaml"))
    assert sorted(path.name for path in here.iterdir()) == ["bad.yaml", "good.yaml"]


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["nothere.yaml"], "There is no file and no preset `nothere.yaml`"),
        (["arena/papre"], "did you mean `arena/paper`"),
        (["good.yaml", "--set", "rules.dais=3"], "--set rules.dais: `rules.dais`: is no key here"),
        (["good.yaml", "--set", "rules.days"], "--set rules.days is malformed"),
        (["good.yaml", "--set", "seed=true"], "--set seed: `seed`: should be a valid integer"),
        (["good.yaml", "--out", "good.yaml"], "good.yaml is no folder; name another one"),
        (["good.yaml", "--out", "good.yaml/x"], "good.yaml is no folder; name another one"),
        (["good.yaml", "--out", "."], ". is not empty; name a new folder with --out"),
    ],
)
def test_a_wrong_argument_ends_in_one_sentence(here: Path, arguments: list[str], told: str) -> None:
    assert told in sentence(market("run", *arguments))
    assert [path.name for path in here.iterdir()] == ["good.yaml"]


def test_the_results_go_to_a_folder_named_by_configuration_and_seed(
    here: Path, played: Callable[..., list[tuple[Config, Path]]]
) -> None:
    asked = played()
    result = market(
        "run", "good.yaml", "--seed", "0", "--set", "rules.days=2", "--address", "there"
    )
    assert result.exit_code == 0, result.output
    ((config, out),) = asked
    assert out == Path("runs/good-0")
    assert (config.seed, config.rules["days"], config.address) == (0, 2, "there")


def test_an_empty_folder_is_a_good_folder(
    here: Path, played: Callable[..., list[tuple[Config, Path]]]
) -> None:
    asked = played()
    (here / "new").mkdir()
    assert market("run", "good.yaml", "--out", "new").exit_code == 0
    assert asked[0][1] == Path("new")


@pytest.mark.parametrize(
    ("trouble", "status", "told"),
    [
        ({"owed": "The provider is unreachable; run it again."}, 3, "The provider is unreachable"),
        ({"error": UserError("The cluster is away.")}, 2, "The cluster is away."),
        ({"error": KeyboardInterrupt()}, 130, "Interrupted."),
        ({"error": SystemExit(signal.SIGTERM)}, 143, "Terminated."),
    ],
)
def test_a_run_that_does_not_end_well_says_so(
    here: Path,
    played: Callable[..., Any],
    trouble: dict[str, Any],
    status: int,
    told: str,
) -> None:
    played(**trouble)
    result = market("run", "good.yaml")
    assert result.exit_code == status
    assert told in result.stderr
    assert "Traceback" not in result.output


def test_a_bug_keeps_its_traceback(here: Path, played: Callable[..., Any]) -> None:
    played(error=RuntimeError("a bug"))
    result = market("run", "good.yaml")
    assert isinstance(result.exception, RuntimeError)


def test_a_dry_run_shows_a_configuration_and_writes_nothing(here: Path) -> None:
    result = market("run", "good.yaml", "--set", "rules.days=2", "--dry-run")
    assert result.exit_code == 0
    assert [path.name for path in here.iterdir()] == ["good.yaml"]
    assert yaml.safe_load(result.stdout)["rules"]["days"] == 2
    (here / "again.yaml").write_text(result.stdout)
    assert load("again.yaml") == load("good.yaml", ["rules.days=2"])


def test_a_dry_run_counts_decisions_and_model_calls(here: Path) -> None:
    llm = "retailers.0={name: a, policy: llm, count: 2, options: {model: local, reasks: 1}}"
    result = market("run", "arena/paper", "--set", llm, "--dry-run")
    assert "# decisions: 342\n" in result.stdout  # 19 retailers, 6 steps of 2 + 1 turns
    assert "# model calls: 36, at most 72 with re-asks\n" in result.stdout


def test_a_cap_of_a_model_that_nobody_asks_is_told_beside_the_dry_run(here: Path) -> None:
    llm = "retailers.0={name: a, policy: llm, options: {model: local}}"
    caps = "caps={locall: {in_flight: 1}}"
    result = market("run", "good.yaml", "--set", llm, "--set", caps, "--dry-run")
    assert result.exit_code == 0
    assert result.stderr == "`caps`: no retailer asks a model `locall`; did you mean `local`.\n"
    assert yaml.safe_load(result.stdout)["caps"]["locall"]["in_flight"] == 1


def test_the_list_shows_presets_environments_and_options(here: Path) -> None:
    result = market("list")
    assert result.exit_code == 0, result.output
    assert "arena/paper" in result.stdout
    assert "markup: float = 0.25" in result.stdout
    assert "Asks a language model." in result.stdout
    assert "seat:" not in result.stdout


def test_a_replay_compares_every_journal(here: Path) -> None:
    for episode in ("e1", "e2"):
        (here / "run" / "episodes" / episode).mkdir(parents=True)
        record(here / "run" / "episodes" / episode / "journal.jsonl")
    result = market("replay", "run")
    assert result.exit_code == 0, result.output
    assert result.stdout.count("the result are the same") == 2


def test_a_damaged_journal_is_told(here: Path) -> None:
    folder = here / "run" / "episodes" / "e1"
    folder.mkdir(parents=True)
    journal = record(folder / "journal.jsonl")
    journal.write_bytes(journal.read_bytes().replace(b'"step":2', b'"step":3', 1))
    result = market("replay", "run")
    assert result.exit_code == 2
    assert "journal.jsonl" in result.stderr
    assert len(result.stderr.splitlines()) == 1


@pytest.mark.parametrize("command", ["replay", "report"])
def test_a_folder_without_episodes_is_told(here: Path, command: str) -> None:
    assert "holds no recorded episode" in sentence(market(command, "."))
    assert [path.name for path in here.iterdir()] == ["good.yaml"]


def test_help_imports_nothing_heavy() -> None:
    code = (
        "import sys; from actors.cli import main; sys.argv[1:] = ['--help']\n"
        "try: main()\n"
        "except SystemExit: pass\n"
        "heavy = {'pydantic', 'yaml', 'numpy', 'pandas', 'ray', 'litellm', 'torch', 'rich'}\n"
        "assert not heavy & sys.modules.keys(), heavy & sys.modules.keys()"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=ROOT)
    assert done.returncode == 0, done.stderr
    assert "Play an episode, or a tournament of many." in done.stdout


def test_the_command_tells_a_mistake_without_a_traceback(here: Path) -> None:
    command = [str(Path(sys.executable).with_name("market")), "run", "nothere"]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 2
    assert done.stdout == ""
    assert len(done.stderr.splitlines()) == 1


@pytest.mark.parametrize(
    ("sent", "status"), [("SIGINT", 130), ("SIGTERM", 143)], ids=["interrupt", "terminate"]
)
def test_a_signal_ends_a_run_with_its_status(here: Path, sent: str, status: int) -> None:
    code = (
        "import os, signal, sys, time, actors.run\n"
        "signal.signal(signal.SIGINT, signal.default_int_handler)\n"
        "def play(config, out, watcher, resume, storage):\n"
        f"    os.kill(os.getpid(), signal.{sent}); time.sleep(60)\n"
        "actors.run.run = play\n"
        "from actors.cli import main\n"
        "sys.argv[1:] = ['run', 'good.yaml']; main()"
    )
    environment = {"PYTHONPATH": str(ROOT), "PATH": ""}
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, env=environment
    )
    assert done.returncode == status, done.stderr
    assert "Traceback" not in done.stderr
