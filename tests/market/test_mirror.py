"""Records at a URL: whatever was durable is there, whenever the machine that wrote them is lost."""

from __future__ import annotations

import uuid
from pathlib import Path
from typing import Any

import pytest

from market.storage.mirror import Mirror
from market.storage.port import LockedError


@pytest.fixture(params=["memory", "file"])
def url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    if request.param == "memory":
        return f"memory://{uuid.uuid4().hex}/run"
    return f"file://{tmp_path}/bucket/run"


def writer(url: str, folder: Path) -> Mirror:
    folder.mkdir()
    mirror = Mirror(url, folder)
    mirror.take()
    mirror.fetch()
    return mirror


def fetched(url: str, folder: Path) -> dict[str, bytes]:
    """What a machine that knows nothing finds."""
    folder.mkdir()
    Mirror(url, folder).fetch()
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file()
    }


def objects(url: str) -> list[str]:
    mirror = Mirror(url, Path())
    return sorted(mirror._found() - {"writer"})


def test_what_is_synced_is_there_before_the_call_returns(url: str, tmp_path: Path) -> None:
    mirror = writer(url, tmp_path / "one")
    file = mirror.appender(tmp_path / "one" / "log")
    file.append(b"one\n", sync=True)
    file.append(b"two\n", sync=True)
    file.append(b"three\n", sync=False)
    assert objects(url) == ["log.parts/000000000000000", "log.parts/000000000000004"]
    assert fetched(url, tmp_path / "two") == {"log": b"one\ntwo\n"}


def test_a_closed_file_is_there_whole_and_its_parts_are_gone(url: str, tmp_path: Path) -> None:
    mirror = writer(url, tmp_path / "one")
    file = mirror.appender(tmp_path / "one" / "log")
    file.append(b"one\n", sync=True)
    file.append(b"two\n", sync=False)
    file.close()
    file.close()
    assert objects(url) == ["log"]
    assert fetched(url, tmp_path / "two") == {"log": b"one\ntwo\n"}


def test_another_machine_goes_on(url: str, tmp_path: Path) -> None:
    first = writer(url, tmp_path / "one").appender(tmp_path / "one" / "log")
    first.append(b"one\n", sync=True)
    first.append(b"two\n", sync=True)
    second = writer(url, tmp_path / "two").appender(tmp_path / "two" / "log")
    assert second.size == 8
    second.append(b"three\n", sync=True)
    assert fetched(url, tmp_path / "three") == {"log": b"one\ntwo\nthree\n"}
    second.close()
    assert objects(url) == ["log"]
    third = writer(url, tmp_path / "four").appender(tmp_path / "four" / "log")
    third.append(b"four\n", sync=True)
    assert fetched(url, tmp_path / "five") == {"log": b"one\ntwo\nthree\nfour\n"}


@pytest.mark.parametrize("size", [0, 2, 4, 6, 8, 10])
@pytest.mark.parametrize("close", [False, True])
def test_a_cut_is_a_cut_there_too(url: str, tmp_path: Path, size: int, close: bool) -> None:
    whole = b"one\ntwo\nsix\n"
    mirror = writer(url, tmp_path / "one")
    file = mirror.appender(tmp_path / "one" / "log")
    for start in (0, 4, 8):
        file.append(whole[start : start + 4], sync=True)
    if close:
        file.close()
        file = mirror.appender(tmp_path / "one" / "log")
    file.truncate(size)
    assert fetched(url, tmp_path / "two").get("log", b"") == whole[:size]
    file.append(b"new\n", sync=True)
    assert fetched(url, tmp_path / "three") == {"log": whole[:size] + b"new\n"}


def test_parts_that_outlived_the_whole_file_change_nothing(url: str, tmp_path: Path) -> None:
    mirror = writer(url, tmp_path / "one")
    file = mirror.appender(tmp_path / "one" / "log")
    file.append(b"one\n", sync=True)
    file.append(b"two\n", sync=False)
    mirror.put("log", b"one\ntwo\n")  # and then the machine is lost
    assert fetched(url, tmp_path / "two") == {"log": b"one\ntwo\n"}


def test_a_missing_part_is_told_and_not_bridged(url: str, tmp_path: Path) -> None:
    mirror = writer(url, tmp_path / "one")
    mirror.put("log.parts/000000000000009", b"late\n")
    with pytest.raises(OSError, match=r"the part before log\.parts/000000000000009 is missing"):
        fetched(url, tmp_path / "two")


def test_the_latest_writer_takes_over_and_the_earlier_one_stops(url: str, tmp_path: Path) -> None:
    earlier = writer(url, tmp_path / "one").appender(tmp_path / "one" / "log")
    earlier.append(b"one\n", sync=True)
    later = writer(url, tmp_path / "two").appender(tmp_path / "two" / "log")
    with pytest.raises(LockedError, match="taken over"):
        earlier.append(b"two\n", sync=True)
    later.append(b"three\n", sync=True)
    assert fetched(url, tmp_path / "three") == {"log": b"one\nthree\n"}


def test_whole_files_are_written_and_removed_there(url: str, tmp_path: Path) -> None:
    mirror = writer(url, tmp_path / "one")
    mirror.make_folder(tmp_path / "one" / "episodes" / "a")
    path = tmp_path / "one" / "episodes" / "a" / "error.txt"
    mirror.write(path, b"what failed")
    (tmp_path / "one" / "report.html").write_bytes(b"page")
    mirror.publish()
    there = {"episodes/a/error.txt": b"what failed", "report.html": b"page"}
    assert fetched(url, tmp_path / "two") == there
    mirror.remove(path)
    mirror.remove(path)
    assert objects(url) == ["report.html"]


def test_an_object_in_a_file_is_there_whole_or_not_at_all(tmp_path: Path) -> None:
    url = f"file://{tmp_path}/bucket/run"
    mirror = writer(url, tmp_path / "one")
    mirror.put("alive", b"before")
    with (tmp_path / "bucket" / "run" / "alive").open("rb") as reading:
        mirror.put("alive", b"after")
        assert reading.read() == b"before"
    assert mirror._content("alive") == b"after"


def test_what_a_writer_left_half_written_in_a_file_is_no_object(tmp_path: Path) -> None:
    url = f"file://{tmp_path}/bucket/run"
    writer(url, tmp_path / "one")
    (tmp_path / "bucket" / "run" / "config.json.part").write_bytes(b"{")
    assert not Mirror(url, tmp_path).occupied()
    assert fetched(url, tmp_path / "two") == {}


def test_a_store_that_fails_is_told_in_its_words(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    mirror = writer(f"memory://{uuid.uuid4().hex}", tmp_path / "one")
    file = mirror.appender(tmp_path / "one" / "log")

    def refuse(*_: Any, **__: Any) -> None:
        raise RuntimeError("no such bucket")

    monkeypatch.setattr(mirror._store, "pipe_file", refuse)
    with pytest.raises(OSError, match="no such bucket"):
        file.append(b"one\n", sync=True)


def test_a_store_that_is_not_known_is_told(tmp_path: Path) -> None:
    with pytest.raises(OSError, match="nowhere://x cannot be used"):
        Mirror("nowhere://x", tmp_path)
