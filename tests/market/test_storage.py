from __future__ import annotations

import fcntl
import os
import time
from pathlib import Path

import pytest

from market.storage import LocalStorage, LockedError


def test_what_is_appended_is_read_back_and_cut(tmp_path: Path) -> None:
    storage = LocalStorage()
    file = storage.appender(tmp_path / "f")
    file.append(b"one\n", sync=True)
    file.append(b"two\n", sync=False)
    assert (file.size, storage.open(tmp_path / "f").read()) == (8, b"one\ntwo\n")
    file.truncate(4)
    file.append(b"three\n", sync=False)
    file.close()
    file.close()
    assert storage.open(tmp_path / "f").read() == b"one\nthree\n"


def test_a_whole_file_is_written_over_what_was_there(tmp_path: Path) -> None:
    storage = LocalStorage()
    for content in (b"long ago", b"now"):
        storage.write(tmp_path / "f", content)
        assert (tmp_path / "f").read_bytes() == content
    assert storage.names(tmp_path) == ["f"]
    storage.remove(tmp_path / "f")
    storage.remove(tmp_path / "f")
    assert not storage.exists(tmp_path / "f")


def test_names_are_sorted_and_those_of_no_folder_are_none(tmp_path: Path) -> None:
    storage = LocalStorage()
    storage.make_folder(tmp_path / "b" / "c")
    storage.make_folder(tmp_path / "b" / "c")
    storage.write(tmp_path / "a", b"")
    assert storage.names(tmp_path) == ["a", "b"]
    assert storage.names(tmp_path / "none") == []


def test_a_lock_keeps_others_out_and_counts(tmp_path: Path) -> None:
    storage = LocalStorage()
    lock = storage.lock(tmp_path / "f")
    with pytest.raises(LockedError, match="is being written"):
        storage.lock(tmp_path / "f")
    lock.release()
    assert storage.lock(tmp_path / "f").epoch == 2


def test_who_only_looks_at_a_lock_keeps_nobody_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    looking = os.open(tmp_path / "f.lock", os.O_RDONLY | os.O_CREAT)
    fcntl.flock(looking, fcntl.LOCK_SH)
    monkeypatch.setattr(time, "sleep", lambda _: os.close(looking))
    LocalStorage().lock(tmp_path / "f").release()


def test_the_first_sync_puts_the_names_of_new_folders_on_disk(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    synced: list[str] = []
    storage = LocalStorage()
    storage.make_folder(tmp_path / "run" / "episode")
    file = storage.appender(tmp_path / "run" / "episode" / "f")
    monkeypatch.setattr(os, "fsync", lambda d: synced.append(os.readlink(f"/proc/self/fd/{d}")))
    file.append(b"one\n", sync=True)
    folder = tmp_path / "run" / "episode"
    assert synced == [str(path) for path in (folder / "f", folder, tmp_path / "run", tmp_path)]
    synced.clear()
    file.append(b"two\n", sync=True)
    assert synced == [str(folder / "f")]
