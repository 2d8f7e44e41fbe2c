"""`market report` and `market package`."""

from __future__ import annotations

import shutil
import zipfile
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from actors.cli import app
from tests.market.study.purse import pool, tournament


@pytest.fixture(scope="module")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tournament(tmp_path_factory.mktemp("runs") / "purse", ["all"], pool(a=1, b=2))


@pytest.fixture
def run(recorded: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    shutil.copytree(recorded, tmp_path / "purse")
    monkeypatch.chdir(tmp_path)
    return "purse"


def market(*words: str) -> Result:
    return CliRunner().invoke(app, list(words))


def test_a_report_is_made_anew(run: str) -> None:
    told = market("report", run)
    assert told.output == "Wrote purse/report.html.\n"
    assert "not told by these games" in Path(run, "report.html").read_text()


@pytest.mark.parametrize(
    ("kind", "file"),
    [
        ("csv", "findings/standings.csv"),
        ("parquet", "findings/standings.parquet"),
        ("latex", "findings.tex"),
        ("markdown", "findings.md"),
    ],
)
def test_findings_are_written_as_asked(run: str, kind: str, file: str) -> None:
    told = market("report", run, "--format", kind)
    assert told.exit_code == 0
    assert f"Wrote purse/{file}.\n" in told.output
    assert Path(run, file).stat().st_size


def test_another_format_is_a_mistake(run: str) -> None:
    told = market("report", run, "--format", "pdf")
    assert told.exit_code == 2
    assert "latex" in told.output


def test_a_package_has_a_name_of_its_own_or_the_one_given(run: str) -> None:
    told = market("package", run)
    assert told.exit_code == 0
    assert told.output.startswith("Wrote purse-replication.zip with ")
    with zipfile.ZipFile("purse-replication.zip") as archive:
        names = archive.namelist()
    assert "purse-replication/README.md" in names
    assert "purse-replication/findings/standings.csv" in names
    assert market("package", run, "--out", "mine.zip", "--without-replies").exit_code == 0


@pytest.mark.parametrize(
    ("words", "what"),
    [
        (("purse", "--out", "mine.tar"), "ends in .zip"),
        (("purse", "--out", "nowhere/mine.zip"), "There is no folder nowhere; make it"),
        (("nothing",), "no folder nothing"),
    ],
)
def test_what_cannot_be_packed_is_said_in_a_sentence(
    run: str, words: tuple[str, ...], what: str
) -> None:
    told = market("package", *words)
    assert told.exit_code == 2
    assert what in told.output
    assert told.output.count("\n") == 1


def test_counterfactuals_of_another_environment_are_refused(run: str) -> None:
    told = market("report", run, "--counterfactuals", "1")
    assert told.exit_code == 2
    assert told.stderr.startswith("purse is no run of `arena` in which buyers choose, and only")
    assert not Path(run, "report.html").exists()


@pytest.mark.parametrize("name", ["summary.json", "config.json", "episodes/*/journal.jsonl"])
def test_damaged_records_are_named_and_nothing_is_packed(run: str, name: str) -> None:
    (Path(run) / "summary.json").write_text("{}")
    path = next(Path(run).glob(name))
    path.write_bytes(path.read_bytes().replace(b"}", b"", 1))
    told = market("package", run)
    assert told.exit_code == 1
    assert told.stdout == ""
    assert told.stderr.startswith(f"Not packed: {path}, line ")
    assert told.stderr.count("\n") == 1
    assert not Path("purse-replication.zip").exists()
    assert not Path(run, "findings").exists()
