from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from market.environment import Result
from market.journal import JournalError, JournalWriter, read
from tests.market.recorded import header

HOLDER = """
import sys
from market.journal import JournalWriter
from tests.market.recorded import header
journal = JournalWriter.reopen(sys.argv[1], header())
print("held", flush=True)
sys.stdin.read()
"""


def test_a_journal_that_another_process_writes_is_locked_until_that_process_ends(
    tmp_path: Path,
) -> None:
    path = tmp_path / "j"
    holder = subprocess.Popen(
        [sys.executable, "-c", HOLDER, str(path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    assert holder.stdout is not None
    try:
        assert holder.stdout.readline() == b"held\n"
        with pytest.raises(JournalError, match="is being written by another process"):
            JournalWriter.reopen(path, header())
        assert read(path).header == header()
    finally:
        holder.kill()
        holder.communicate()
    with JournalWriter.reopen(path, header()) as journal:
        assert journal.epoch == 2


def test_a_journal_is_locked_within_a_process_too(tmp_path: Path) -> None:
    with (
        JournalWriter.create(tmp_path / "j", header()),
        pytest.raises(JournalError, match="is being written"),
    ):
        JournalWriter.create(tmp_path / "j", header())


def test_each_opening_has_the_next_epoch(tmp_path: Path) -> None:
    epochs = []
    for _ in range(3):
        with JournalWriter.reopen(tmp_path / "j", header()) as journal:
            epochs.append(journal.epoch)
    assert epochs == [1, 2, 3]


def test_opening_in_vain_lets_the_lock_go(tmp_path: Path) -> None:
    JournalWriter.create(tmp_path / "j", header()).close()
    for _ in range(2):
        with pytest.raises(JournalError, match="exists already"):
            JournalWriter.create(tmp_path / "j", header())


@pytest.mark.parametrize("how", ["epoch", "removed", "replaced"])
def test_a_writer_that_lost_its_lock_writes_nothing_more(tmp_path: Path, how: str) -> None:
    journal = JournalWriter.create(tmp_path / "j", header())
    lock = tmp_path / "j.lock"
    before = journal.path.read_bytes()
    if how == "epoch":
        lock.write_text("2")
    else:
        lock.unlink()
    if how == "replaced":
        JournalWriter.reopen(tmp_path / "j", header()).close()
    with pytest.raises(JournalError, match="taken over"):
        journal.append_texts(1, 0, "0" * 64, {})
    assert journal.path.read_bytes() == before


def test_a_finished_journal_leaves_no_lock_behind(tmp_path: Path) -> None:
    JournalWriter.create(tmp_path / "j", header()).finish(Result({}))
    assert [path.name for path in tmp_path.iterdir()] == ["j"]
