from __future__ import annotations

from datetime import date, timedelta
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from actors.cli import app

DAYS = [(date(2025, 3, 3) + timedelta(days=i)).isoformat() for i in range(140)]


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    rows = [f"{day},K{k},tea{p},4.5,{1 + p}" for day in DAYS for k in (1, 2) for p in (0, 1, 2)]
    Path("sales.csv").write_text("\n".join(["Day,machine,product,price,quantity", *rows]))


def calibrate(*arguments: str) -> Result:
    return CliRunner().invoke(app, ["calibrate", "sales.csv", *arguments])


def test_a_world_is_fitted_told_and_run() -> None:
    told = calibrate("--column", "timestamp=Day", "--country", "CN")
    assert told.exit_code == 0, told.stderr
    assert "Fitted to 112 days: 2 machines, 3 products, 1,344 units" in told.stdout
    assert "WAPE" in told.stdout
    run = CliRunner().invoke(
        app, ["run", "sales.yaml", "--set", "rules.days=2", "--set", "inline=true", "--out", "out"]
    )
    assert run.exit_code == 0, run.stderr


def test_a_world_may_be_fitted_to_all_days_with_nothing_foretold() -> None:
    told = calibrate("--column", "timestamp=Day", "--share", "1")
    assert told.exit_code == 0, told.stderr
    assert "Fitted to 140 days: 2 machines, 3 products, 1,680 units" in told.stdout
    assert "Foretold" not in told.stdout
    assert f"start: {date(2025, 3, 3) + timedelta(days=140)}" in Path("sales.yaml").read_text()


def test_a_file_as_excel_writes_it_is_read() -> None:
    text = Path("sales.csv").read_text().replace("Day,", "timestamp,").replace(",", ";")
    Path("sales.csv").write_text(text.replace(".", ","), encoding="utf-8-sig", newline="\r\n")
    told = calibrate()
    assert told.exit_code == 0, told.stderr
    assert "Fitted to 112 days: 2 machines, 3 products, 1,344 units" in told.stdout
    assert '"reference": 4.5' in Path("sales.yaml").read_text()


def test_a_machine_that_is_new_in_the_rest_is_told_and_not_played() -> None:
    with Path("sales.csv").open("a") as file:
        file.write(f"\n{DAYS[-1]},K3,tea0,4.5,1\n")
    told = calibrate("--column", "timestamp=Day")
    assert told.exit_code == 0, told.stderr
    assert "Left out, as they sold nothing in these days: 1 machines (K3).\n" in told.stdout
    assert "K3" not in Path("sales.yaml").read_text()


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        ([], "no column `timestamp`"),
        (["--column", "timestamp"], "write NAME=COLUMN"),
        (["--column", "when=Day"], "no `when` to map"),
        (["--column", "timestamp=Day", "--share", "0.95"], "14 at least"),
        (["--column", "timestamp=Day", "--country", "XX"], "holidays of `XX`"),
        (["--column", "timestamp=Day", "--out", "sales.csv"], "sales.csv exists"),
        (["--column", "timestamp=Day", "--out", "no/where.yaml"], "no is no folder"),
    ],
)
def test_a_mistake_is_one_sentence_and_writes_nothing(arguments: list[str], told: str) -> None:
    found = calibrate(*arguments)
    assert found.exit_code == 2
    assert told in found.stderr
    assert found.stderr.count("\n") == 1
    assert [path.name for path in Path().iterdir()] == ["sales.csv"]
