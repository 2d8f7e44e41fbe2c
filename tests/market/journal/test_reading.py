from __future__ import annotations

import hashlib
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from market import canonical
from market.journal import Journal, JournalError, journal_digest, read
from tests.market.recorded import config, record


@pytest.fixture(scope="module")
def recording(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return record(tmp_path_factory.mktemp("recording") / "j", config(days=2))


@given(st.data())
def test_a_changed_byte_is_found_in_its_line(recording: Path, data: st.DataObject) -> None:
    content = recording.read_bytes()
    lines = content.splitlines(keepends=True)
    number = data.draw(st.integers(0, len(lines) - 1), label="line")
    place = data.draw(st.integers(0, len(lines[number]) - 1), label="byte")
    changed = bytearray(content)
    offset = sum(map(len, lines[:number])) + place
    changed[offset] ^= data.draw(st.integers(1, 255), label="flip")
    copy = recording.with_name("changed")
    copy.write_bytes(changed)
    if offset == len(content) - 1:
        assert read(copy).torn == len(lines[-1])
        assert read(copy).result is None
    else:
        with pytest.raises(JournalError, match=rf"changed, line {number + 1} "):
            read(copy)


@given(st.data())
def test_lines_that_are_missing_doubled_or_swapped_are_found(
    recording: Path, data: st.DataObject
) -> None:
    lines = recording.read_bytes().splitlines(keepends=True)
    one = data.draw(st.integers(0, len(lines) - 2))
    two = data.draw(st.integers(one + 1, len(lines) - 1))
    missing = lines[:one] + lines[one + 1 :]
    doubled = [*lines[: one + 1], *lines[one:]]
    swapped = [*lines]
    swapped[one], swapped[two] = lines[two], lines[one]
    for changed in (missing, doubled, swapped):
        copy = recording.with_name("changed")
        copy.write_bytes(b"".join(changed))
        with pytest.raises(JournalError, match=r"changed, line \d+ "):
            read(copy)


@given(st.data())
def test_a_journal_cut_anywhere_reads_as_its_whole_lines(
    recording: Path, data: st.DataObject
) -> None:
    content = recording.read_bytes()
    header = content.index(b"\n") + 1
    size = data.draw(st.integers(0, len(content)))
    copy = recording.with_name("cut")
    copy.write_bytes(content[:size])
    if size < header:
        with pytest.raises(JournalError, match="has no header"):
            read(copy)
        return
    whole: Journal = read(recording)
    found = read(copy)
    lines = content[:size].count(b"\n")
    assert found.batches == whole.batches[: lines - 1]
    assert found.torn == size - (content[:size].rindex(b"\n") + 1)
    assert found.result == (whole.result if size == len(content) else None)


def forged(lines: list[bytes], change: Callable[[list[dict[str, object]]], object]) -> bytes:
    """The lines after a change by somebody who knows how witnesses are made."""
    data = [canonical.loads(line.decode()) for line in lines]
    for line in data:
        del line["witness"]
    change(data)
    witness, content = "", b""
    for line in data:
        body = canonical.dumps(line)
        witness = hashlib.sha256((witness + body).encode()).hexdigest()
        content += f'{body[:-1]},"witness":"{witness}"}}\n'.encode()
    return content


@pytest.mark.parametrize(
    ("change", "complaint"),
    [
        (lambda d: d[0].update(format=2), "line 1 is no header of a journal of format 1"),
        (lambda d: d[0].update(seed=99), "line 1 is a header that contradicts itself"),
        (lambda d: d[0]["config"].update(seed=99), "line 1 is a header that contradicts itself"),
        (lambda d: d[0].update(more=1), "line 1 is no header"),
        (lambda d: d[0].update(config=1), "line 1 is no header"),
        (lambda d: d[1].pop("step"), "line 2 is no batch of answers"),
        (lambda d: d[1].update(answers=[1]), "line 2 is no batch of answers"),
        (lambda d: d[1].update(answers={"a": {"none": "bored"}}), "line 2 is no batch of answers"),
        (lambda d: d[-1].update(result={"seats": 1}), r"line \d+ is no result"),
        (lambda d: d[-1].update(result={"seats": {"a": {"points": 1}}}), r"line \d+ is no result"),
        (lambda d: d.append(d[1]), r"line \d+ comes after the result"),
    ],
)
def test_a_line_that_makes_no_sense_is_named_even_if_its_witness_is_right(
    recording: Path, change: Callable[[list[dict[str, object]]], object], complaint: str
) -> None:
    lines = recording.read_bytes().splitlines(keepends=True)
    copy = recording.with_name("forged")
    copy.write_bytes(forged(lines, change))
    with pytest.raises(JournalError, match=complaint):
        read(copy)


def test_forging_nothing_changes_nothing(recording: Path) -> None:
    lines = recording.read_bytes().splitlines(keepends=True)
    assert forged(lines, lambda data: None) == recording.read_bytes()


def test_a_missing_journal_is_named(tmp_path: Path) -> None:
    with pytest.raises(JournalError, match="nowhere cannot be read: No such file"):
        read(tmp_path / "nowhere")


def test_the_digest_is_the_sha_256_of_the_file(recording: Path) -> None:
    assert journal_digest(recording) == hashlib.sha256(recording.read_bytes()).hexdigest()
