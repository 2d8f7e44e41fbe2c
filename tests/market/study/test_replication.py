from __future__ import annotations

import hashlib
import json
import zipfile
from pathlib import Path

import pytest

from market.calls import read_calls
from market.replay import verify
from market.study.replication import pack, without_paths
from tests.market.study.report import hostile


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return hostile.tournament(tmp_path_factory.mktemp("run") / "hostile", seeds=1)


def unpacked(file: Path, into: Path) -> Path:
    with zipfile.ZipFile(file) as archive:
        archive.extractall(into)
    (folder,) = into.iterdir()
    return folder


def test_whoever_unpacks_it_can_verify_every_game(run: Path, tmp_path: Path) -> None:
    digests = pack(run, tmp_path / "mine.zip")
    folder = unpacked(tmp_path / "mine.zip", tmp_path / "there")
    assert folder.name == "mine"
    listed = dict(
        reversed(row.split("  ")) for row in (folder / "SHA256SUMS").read_text().splitlines()
    )
    assert listed == digests
    for name, digest in listed.items():
        assert hashlib.sha256((folder / name).read_bytes()).hexdigest() == digest
    journals = sorted(folder.glob("episodes/*/journal.jsonl"))
    assert len(journals) == len(list(run.glob("episodes/*/journal.jsonl")))
    for journal in journals:
        assert verify(journal).finished
    readme = (folder / "README.md").read_text()
    for command in ("sha256sum --check SHA256SUMS", "market replay .", "market run config.json"):
        assert command in readme
    assert "numpy" in json.loads((folder / "versions.json").read_text())["packages"]


def test_equal_records_make_equal_bytes(run: Path, tmp_path: Path) -> None:
    summary = run / "summary.json"
    before = summary.read_text() if summary.exists() else "{}"
    packed = set()
    for seconds in (1.5, 20):
        summary.write_text(json.dumps(json.loads(before) | {"wall_seconds": seconds}))
        pack(run, tmp_path / "a.zip")
        packed.add((tmp_path / "a.zip").read_bytes())
    assert len(packed) == 1


def test_nothing_tells_whose_machine_it_was(run: Path, tmp_path: Path) -> None:
    pack(run, tmp_path / "mine.zip")
    with zipfile.ZipFile(tmp_path / "mine.zip") as archive:
        names = archive.namelist()
        whole = b"".join(archive.read(name) for name in names)
    assert all(name.startswith("mine/") for name in names)
    for secret in (b"secret-host", b"/home/somebody", str(run).encode(), str(tmp_path).encode()):
        assert secret not in whole
    assert b"File x.py" in whole


def test_prompts_and_replies_stay_at_home_if_so_asked(run: Path, tmp_path: Path) -> None:
    pack(run, tmp_path / "whole.zip")
    pack(run, tmp_path / "short.zip", replies=False)
    for name, there in (("whole", True), ("short", False)):
        folder = unpacked(tmp_path / f"{name}.zip", tmp_path / name)
        log = next(path for path in folder.glob("episodes/all*/calls.jsonl"))
        assert (hostile.PROMPT in log.read_text()) == there
        (first, *_) = [each for each in read_calls(log).records if each.reply is not None]
        assert first.reply is not None
        assert bool(first.reply.text) == there
        assert first.reply.usage.cost_usd == 0.002
        assert ("were left out" in (folder / "README.md").read_text()) != there


def test_only_absolute_paths_are_cut() -> None:
    assert without_paths("see /home/me/a b/x.py:3") == "see x.py:3"
    for text in ("a/b/c", "http://host/a/b", "50/50 and 3 / 4", "/x", "openai/gpt-4"):
        assert without_paths(text) == text
    assert without_paths({"a": ["/opt/x/y.gguf", 1, None]}) == {"a": ["y.gguf", 1, None]}
