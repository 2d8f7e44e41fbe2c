"""A run at a URL is the run in a folder, and goes on from what is there."""

from __future__ import annotations

import json
import uuid
from pathlib import Path
from typing import Any

import fsspec
import pytest
from typer.testing import CliRunner, Result

from actors.cli import app
from actors.targets import written
from market.journal import journal_digest
from market.storage.mirror import Mirror

CONFIG = "arena/default"
SMALL = ["inline=true", "rules.steps=2", "rules.attention.similarity=none"]


@pytest.fixture(params=["memory", "file"])
def url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    if request.param == "memory":
        return f"memory://{uuid.uuid4().hex}/run"
    return f"file://{tmp_path}/bucket/run"


def market(*arguments: str) -> Result:
    return CliRunner().invoke(app, arguments)


def run(out: str, *more: str) -> Result:
    settings = [word for each in SMALL for word in ("--set", each)]
    return market("run", CONFIG, *settings, "--seed", "7", "--out", out, *more)


def objects(url: str) -> dict[str, bytes]:
    store, root = fsspec.core.url_to_fs(url)
    return {path[len(root) :].lstrip("/"): store.cat_file(path) for path in store.find(root)}


def test_a_run_leaves_there_what_it_leaves_in_a_folder(url: str, tmp_path: Path) -> None:
    there = run(url)
    assert there.exit_code == 0, there.output
    assert f"Results are in {url}." in there.output
    run(str(tmp_path / "here"))
    here = {
        path.relative_to(tmp_path / "here").as_posix(): path.read_bytes()
        for path in (tmp_path / "here").rglob("*")
        if path.is_file()
    }
    assert objects(url).keys() - {"writer"} == here.keys()
    for name in ("episodes/seed-7/journal.jsonl", "config.json"):
        assert objects(url)[name] == here[name]


def test_its_status_is_read_and_it_is_replayed_there(url: str) -> None:
    run(url)
    status = market("status", url, "--json")
    assert json.loads(status.output)["episodes"]
    replayed = market("replay", url)
    assert f"{url}/episodes/seed-7/journal.jsonl: played again" in replayed.output


def test_a_new_run_is_not_laid_over_another(url: str) -> None:
    run(url)
    again = run(url)
    assert again.exit_code == 2
    assert f"{url} is not empty" in again.output


def test_there_must_be_something_to_resume(url: str) -> None:
    found = run(url, "--resume")
    assert found.exit_code == 2
    assert f"{url} holds no run to resume" in found.output
    assert not objects(url)


def test_a_run_whose_machine_is_lost_is_resumed_from_parts(
    url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run(str(tmp_path / "calm"))
    calm = journal_digest(tmp_path / "calm" / "episodes" / "seed-7" / "journal.jsonl")

    put = Mirror.put
    sent = 0

    def lost(self: Mirror, name: str, data: bytes) -> None:
        """Nothing is heard of the machine any more once the journal has three parts."""
        nonlocal sent
        sent += "journal" in name
        if sent > 3:
            raise OSError(0, "the network is gone")
        put(self, name, data)

    monkeypatch.setattr("market.storage.mirror.PART_BYTES", 1)
    with monkeypatch.context() as while_it_lives:
        while_it_lives.setattr(Mirror, "put", lost)
        assert run(url).exit_code != 0
    parts = [name for name in objects(url) if ".parts/" in name]
    assert len(parts) == 3
    resumed = run(url, "--resume")
    assert resumed.exit_code == 0, resumed.output
    journal = "episodes/seed-7/journal.jsonl"
    (tmp_path / "journal.jsonl").write_bytes(objects(url)[journal])
    assert journal_digest(tmp_path / "journal.jsonl") == calm
    assert not [name for name in objects(url) if ".parts/" in name]


def test_its_report_is_made_anew_there(url: str) -> None:
    run(url)
    store, root = fsspec.core.url_to_fs(url)
    before = objects(url)
    for name in ("report.html", "tables/results.parquet"):
        store.rm_file(f"{root}/{name}")
    made = market("report", url)
    assert made.exit_code == 0, made.output
    assert made.output == f"Wrote {url}/report.html.\n"
    assert objects(url).keys() == before.keys()
    assert objects(url)["tables/results.parquet"] == before["tables/results.parquet"]
    assert objects(url)["writer"] == before["writer"]  # who plays there is not disturbed


def test_a_report_without_the_damaged_episode_names_it(tmp_path: Path) -> None:
    out = tmp_path / "run"
    retailers = '[{"name": "markup", "policy": "markup", "count": 2}]'
    assert (
        run(str(out), "--set", "tournament.seeds=2", "--set", f"retailers={retailers}").exit_code
        == 0
    )
    damaged = out / "episodes" / "all.seed-8.rep-1" / "journal.jsonl"
    assert damaged.exists(), sorted(out.glob("episodes/*"))
    damaged.write_bytes(damaged.read_bytes().replace(b'"turn":1', b'"turn":2', 1))
    made = market("report", str(out))
    assert made.exit_code == 1
    assert made.stdout == f"Wrote {out}/report.html.\n"
    assert made.stderr.startswith(f"Left out: {damaged}, line 3")
    resumed = run(
        str(out), "--resume", "--set", "tournament.seeds=2", "--set", f"retailers={retailers}"
    )
    assert resumed.exit_code == 1
    assert str(damaged) in resumed.stderr


def test_while_somebody_plays_there_what_is_unfinished_is_running(
    url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("actors.targets.BEAT_SECONDS", 0.01)
    run(url)
    store, root = fsspec.core.url_to_fs(url)
    journal = objects(url)["episodes/seed-7/journal.jsonl"]
    store.pipe_file(
        f"{root}/episodes/seed-7/journal.jsonl", b"".join(journal.splitlines(keepends=True)[:-1])
    )

    def state() -> str:
        told = json.loads(market("status", url, "--json").output)
        return str(told["each"][0]["state"])

    assert state() == "owed"
    with written(url, resume=True):
        assert state() == "running"
    assert state() == "owed"
    with written(url, resume=True):
        monkeypatch.setattr("actors.targets.SILENT_SECONDS", -1.0)  # it has been silent for long
        assert state() == "owed"


@pytest.mark.parametrize("target", ["nowhere://x/y", "ftp2:///x"])
def test_a_url_that_cannot_be_used_is_one_sentence(target: str) -> None:
    found: Any = run(target)
    assert found.exit_code == 2
    assert "cannot be used" in found.output
