"""Mistakes of whoever asks for results: a sentence that says what, where and what mends it.

Each ends with status 2, and never with a traceback.
"""

from __future__ import annotations

import errno
import shutil
import zlib
from collections.abc import Iterator
from pathlib import Path

import pytest
from typer.testing import CliRunner

from actors.cli import app
from actors.progress.audience import OneEpisode
from actors.progress.live import watcher
from actors.run import run
from actors.studies.sweep import conclude, sweep
from market.config import load
from tests.actors.studies.test_sweep import STUDY, Told, study

SETTINGS = ["--set", "inline=true"] + [word for each in STUDY for word in ("--set", each)]


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run of two steps in `run`, a study in `study`, and an empty folder in `empty`."""
    folder = tmp_path_factory.mktemp("home")
    entries = "retailers=[{name: a, policy: markup}, {name: b, policy: undercutter}]"
    small = ["rules.steps=2", "rules.attention.similarity=none", "inline=true", entries]
    with watcher() as watching:
        run(load("arena/default", small, seed=4), folder / "run", OneEpisode(watching))
    conclude(sweep(study("study.seeds=3"), folder / "study", Told()), folder / "study")
    (folder / "empty").mkdir()
    return folder


@pytest.fixture
def here(home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A copy of it, to work in; nothing new may be left in it."""
    folder = tmp_path / "here"
    shutil.copytree(home, folder)
    monkeypatch.chdir(folder)
    yield folder
    assert not (folder / "new").exists()


def said(*arguments: str) -> str:
    """The one sentence of a command that was refused."""
    result = CliRunner().invoke(app, arguments)
    assert isinstance(result.exception, SystemExit), result.exc_info
    assert result.exit_code == 2, result.output
    lines = result.stderr.strip().splitlines()
    assert len(lines) == 1, result.stderr
    return lines[0]


@pytest.mark.parametrize(
    "command",
    [
        ("replay",),
        ("report",),
        ("replay", "--swap", "a=idle"),
        ("fork", "--step", "2", "--out", "new"),
    ],
)
def test_a_folder_that_is_none_or_has_no_episodes_is_named(
    here: Path, command: tuple[str, ...]
) -> None:
    name, *more = command
    assert said(name, "nowhere", *more) == "There is no folder nowhere; name that of a run."
    assert said(name, "empty", *more).startswith("empty holds no recorded episode; name")
    if name != "report":
        assert "study is a study of scripts, whose episodes leave no journal; play one" in said(
            name, "study", *more
        )


def test_a_url_without_results_is_named_and_not_its_copy(here: Path) -> None:
    for command in ("report", "replay"):
        told = said(command, "memory://nothing-at-all")
        assert told.startswith("memory://nothing-at-all holds no recorded episode")
    assert said("status", "memory://nothing-at-all").startswith("memory://nothing-at-all holds no")


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (("replay", "run", "--swap", "c=idle"), "no seat `c` to swap; there are a, b"),
        (("replay", "run", "--swap", "a=nonsense"), "no policy `nonsense`; there are `adaptive`"),
        (("replay", "run", "--swap", "a"), "write `seat=policy`"),
        (
            ("replay", "run", "--swap", "a=markup", "--option", "cheek=1"),
            "`retailers.0.options.cheek`: is no key here; there are `appetite`",
        ),
        (("fork", "run", "--step", "9", "--out", "new"), "no step 9 to fork at; its last one is 2"),
        (("fork", "run", "--step", "1", "--out", "new", "--swap", "c=idle"), "no seat `c`"),
        (("fork", "run", "--step", "1", "--out", "empty/../run"), "is not empty; name a new"),
    ],
)
def test_wrong_seats_policies_and_steps_are_told_with_those_that_exist(
    here: Path, arguments: tuple[str, ...], told: str
) -> None:
    assert told in said(*arguments)


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ("study.wonder=1", "`study.wonder`: is no key here; there are `design`"),
        ("study.vary={rules.wonder: [1]}", "`rules.wonder`: is no key here; "),
        ("study.vary={rules.price_cap: [-1]}", "greater than or equal to 1, not -1"),
        ("study.primary=wonder", "`study.primary`: there is no metric `wonder`; there are bid_"),
        ("study.outcomes=[market.wonder]", "`study.outcomes`: there is no figure `wonder`; there"),
        ("study.outcomes=[nobody.profit]", "there is no retailer `nobody`; there are adaptive"),
        ("study.design=sample", "`study.samples`: is given exactly with `design: sample`"),
    ],
)
def test_a_wrong_key_or_outcome_of_a_study_is_told_with_those_that_exist(
    here: Path, change: str, told: str
) -> None:
    assert told in said("study", "arena/paper", "--out", "new", *SETTINGS, "--set", change)


def test_each_kind_of_configuration_names_the_command_that_plays_it(here: Path) -> None:
    ways = (("--out", "new"), ("--dry-run",), ("--power",))
    tournament = ("arena/paper", "--set", "tournament={seeds: 2}")
    for way in ways:
        assert "has no `study`; play it with `market run`" in said("study", *tournament, *way)
    assert "is a study; play it with `market study`" in said("run", "studies/paper", "--out", "new")


def test_a_study_is_not_begun_where_something_is_nor_resumed_where_nothing_is(here: Path) -> None:
    asked = ("study", "arena/paper", *SETTINGS, "--out")
    assert "study is not empty; name a new folder" in said(*asked, "study")
    for folder in ("empty", "new", "run"):
        assert f"{folder} holds no study to resume; leave out" in said(*asked, folder, "--resume")
    told = said(*asked, "study", "--resume", "--set", "study.seeds=5")
    assert "study.json was begun with other values of study.seeds; leave them as they were" in told
    assert "--extend adds seeds" in told
    told = said(*asked, "study", "--resume", "--set", "study.primary=score")
    assert "--extend" not in told
    told = said(*asked, "study", "--extend", "--set", "study.primary=score")
    assert "--extend adds seeds and repetitions only" in told
    assert "--extend keeps all of them" in said(
        *asked, "study", "--extend", "--set", "study.seeds=2"
    )


def test_a_part_of_a_study_that_cannot_be_read_is_named(here: Path) -> None:
    part = here / "study" / "parts" / "part-00001.parquet"
    part.write_bytes(b"nonsense")
    asked = ("study", "arena/paper", *SETTINGS, "--set", "study.seeds=3")
    for arguments in (
        ("report", "study"),
        (*asked, "--power", "--pilot", "study"),
        (*asked, "--set", "study.seeds=9", "--out", "study", "--extend"),
    ):
        assert "part-00001.parquet cannot be read as Parquet; remove it" in said(*arguments)
    part.unlink()
    again = CliRunner().invoke(app, [*asked, "--out", "study", "--resume"])
    assert again.exit_code == 0, again.output
    assert part.exists()


@pytest.mark.parametrize("text", ["{", "[]", '{"name": "x"}'])
def test_a_plan_that_cannot_be_read_is_named(here: Path, text: str) -> None:
    (here / "study" / "study.json").write_text(text)
    asked = ("study", "arena/paper", *SETTINGS, "--set", "study.seeds=3", "--out", "study")
    for arguments in (("status", "study"), (*asked, "--resume"), (*asked, "--extend")):
        assert "study/study.json" in said(*arguments)


def test_results_that_show_no_scatter_are_named(here: Path) -> None:
    asked = ("study", "arena/paper", *SETTINGS, "--power", "--pilot")
    assert "empty holds no results; name the folder" in said(*asked, "empty")
    assert "run has fewer than three seeds" in said(*asked, "run")
    assert "set `study.power.deviation`" in said(*asked, "run")


def test_results_without_their_configuration_are_not_packed(here: Path) -> None:
    (here / "run" / "config.json").unlink()
    sentence = said("package", "run", "--out", "new")
    assert "new is no file to write" in sentence
    sentence = said("package", "run", "--out", "new.zip")
    assert sentence.startswith("run holds no config.json")
    assert not (here / "new.zip").exists()


@pytest.mark.parametrize(
    ("source", "told"),
    [
        ("import no_such_thing\n", "ModuleNotFoundError: No module named 'no_such_thing' (mine"),
        ("x = 1\ny = 1 / 0\n", "ZeroDivisionError: division by zero (mine"),
        ("def (:\n", "SyntaxError: invalid syntax (mine"),
        ("import sys\nsys.exit(5)\n", "SystemExit: 5 (mine"),
    ],
)
def test_a_policy_whose_file_cannot_be_imported_is_named_with_the_line(
    here: Path, monkeypatch: pytest.MonkeyPatch, source: str, told: str
) -> None:
    name = f"mine_{abs(zlib.crc32(source.encode()))}"
    (here / f"{name}.py").write_text(source)
    monkeypatch.syspath_prepend(here)
    sentence = said("run", "arena/default", "--set", f"retailers=[{{name: a, policy: '{name}:P'}}]")
    assert f"`retailers.0.policy`: module `{name}` cannot be imported: {told}" in sentence
    assert f"{name}.py, line {source.count(chr(10))}" in sentence


MINE = """from dataclasses import dataclass
from market.environment import Answer
from market.policies.policy import Policy
class Acts(Policy):
    def act(self, decision): return Answer({})
"""


@pytest.mark.parametrize(
    ("source", "line", "told"),
    [
        ("@dataclass\nclass P(Policy): pass\n", 6, "TypeError: Can't instantiate abstract class P"),
        ("@dataclass\nclass P(Acts):\n    def __post_init__(self): {}[1]\n", 8, "KeyError: 1"),
        ("@dataclass\nclass P(Acts):\n    def __post_init__(self): [][1]\n", 8, "IndexError: list"),
        ("class P(Acts):\n    def __init__(self): pass\n", 6, "an unexpected keyword argument"),
        ("@dataclass\nclass P(Acts):\n    k: 'Nope' = 1\n", 6, "NameError: name 'Nope' is not"),
        ("@dataclass\nclass P(Acts):\n    k: print = 1\n", 6, "print> is no type of an option"),
    ],
)
def test_a_policy_that_cannot_be_made_is_named_with_the_line(
    here: Path, monkeypatch: pytest.MonkeyPatch, source: str, line: int, told: str
) -> None:
    name = f"mine_{abs(zlib.crc32(source.encode()))}"
    (here / f"{name}.py").write_text(MINE + source)
    monkeypatch.syspath_prepend(here)
    for command in (
        ("run", "arena/default", "--set", f"retailers=[{{name: a, policy: '{name}:P'}}]"),
        ("replay", "run", "--swap", f"a={name}:P"),
        ("fork", "run", "--step", "1", "--out", "new", "--swap", f"a={name}:P"),
    ):
        sentence = said(*command)
        assert f"`retailers.0.policy`: `{name}:P` cannot be made: " in sentence
        assert told in sentence
        assert f"({name}.py, line {line})" in sentence


def test_a_module_that_is_nowhere_is_told_with_where_it_was_looked_for(here: Path) -> None:
    sentence = said("run", "arena/default", "--set", "retailers=[{name: a, policy: 'shops:P'}]")
    assert f"no module `shops` in the folder in which the command runs ({here}), nor" in sentence


def test_a_file_is_not_taken_for_the_folder_of_a_run(here: Path) -> None:
    (here / "mine.yaml").touch()
    for command in ("report", "replay", "package"):
        assert said(command, "mine.yaml") == "mine.yaml is a file; name the folder of a run."


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (("run", "arena/default", "--out", ""), "--out is empty; name a folder."),
        (("study", "studies/rules", "--out", " "), "--out is empty; name a folder."),
        (("fork", "run", "--step", "2", "--out", ""), "--out is empty; name a folder."),
        (("fork", "run", "--step", "2", "--out", "s3://x/z"), "s3://x/z is a URL; a fork needs"),
        (("fork", "run", "--step", "2", "--out", "new", "--resume"), "new holds no fork to resume"),
        (("fork", "run", "--step", "2", "--out", "new", "--option", "a=1"), "belongs to --swap"),
        (("report", "study", "--counterfactuals", "1"), "study is a study, for which --counterf"),
        (("package", "run", "--out", "new/x.zip"), "There is no folder new; make it, or name an"),
    ],
)
def test_what_would_be_done_nowhere_or_for_nothing_is_refused(
    here: Path, arguments: tuple[str, ...], told: str
) -> None:
    before = sorted(here.rglob("*"))
    assert told in said(*arguments)
    assert sorted(here.rglob("*")) == before


def test_resuming_is_offered_only_where_something_was_begun(here: Path) -> None:
    (here / "empty" / "notes.txt").touch()
    play = ("run", "arena/default", "--out")
    assert said(*play, "empty") == "empty is not empty; name a new folder with --out."
    assert said(*play, "run").endswith("a new folder with --out, or go on with it by --resume.")
    (here / "empty" / "config.json.lock").touch()  # of one that was killed at once
    assert said(*play, "empty").endswith("a new folder with --out, or go on with it by --resume.")
    asked = ("study", "arena/paper", *SETTINGS, "--out")
    assert said(*asked, "run") == "run is not empty; name a new folder with --out."
    assert said(*asked, "study").endswith("with --out, or go on with it by --resume.")
    assert said(*asked, "new", "--extend") == "new holds no study to extend; leave out --extend."


def test_what_is_no_file_where_one_must_be_is_named(here: Path) -> None:
    (journal,) = (here / "run").glob("episodes/*/journal.jsonl")
    journal.unlink()
    journal.mkdir()
    for command in ("status", "replay", "report"):
        told = said(command, "run")
        assert f"{journal.relative_to(here)}" in told
        assert "Is a directory" in told


def test_a_full_disk_is_one_sentence(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object, **__: object) -> None:
        raise OSError(errno.ENOSPC, "Error writing bytes to file")

    monkeypatch.setattr("pyarrow.parquet.write_table", full)
    told = said("study", "arena/paper", *SETTINGS, "--out", "full")
    assert told == (
        "No space left on device; make room and say it again, with --resume where results were "
        "begun."
    )


def test_an_error_of_the_system_that_is_about_no_file_keeps_its_traceback(
    here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def strange(*_: object) -> None:
        raise OSError(errno.EBADF, "a bug")

    monkeypatch.setattr("actors.targets.read", strange)
    assert isinstance(CliRunner().invoke(app, ["status", "run"]).exception, OSError)


def test_a_run_that_goes_on_with_other_values_is_told_what_mends_it(here: Path) -> None:
    told = said("run", "run/config.json", "--out", "run", "--resume", "--set", "rules.steps=3")
    assert told.endswith(
        "was begun with other values of rules.steps; leave them as they were, or name another "
        "folder with --out"
    )


def test_a_study_that_is_refused_before_it_played_leaves_nothing(here: Path) -> None:
    nowhere = ("--set", "inline=false", "--address", "127.0.0.1:9", "--out", "new")
    assert "cannot be joined" in said("study", "arena/paper", *SETTINGS, *nowhere)
    assert not (here / "new").exists()
    model = "retailers=[{name: a, policy: llm, options: {model: openai/x, api_key_env: NO_KEY}}]"
    kept = ("study", "arena/paper", *SETTINGS, "--set", model, "--out", "new")
    assert "NO_KEY" in said(*kept)
    assert not (here / "new").exists()
