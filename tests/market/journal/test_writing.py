from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from market import answers as spelling
from market import canonical
from market.environment import Answer, ContractError, Result, SeatResult
from market.journal import (
    ConfigChangedError,
    Header,
    JournalError,
    JournalWriter,
    journal_digest,
    read,
)
from market.replay import build_environment, replay
from tests.market.recorded import answer, config, header, record


def whole_lines(path: Path) -> list[bytes]:
    return path.read_bytes().splitlines(keepends=True)


def test_every_line_is_canonical_json_that_ends_in_its_witness(tmp_path: Path) -> None:
    for line in whole_lines(record(tmp_path / "j")):
        text = line.decode().removesuffix("\n")
        data = canonical.loads(text)
        assert canonical.dumps(data) == text
        assert [*data][-1] == "witness"


def test_a_journal_reads_back_as_it_was_written(tmp_path: Path) -> None:
    environment = build_environment(header().config)
    asked = environment.start()
    result = Result({"a": SeatResult(1.5, {"m": None}, {"m": "why"})}, {"t": 3})
    given = {decision.seat: answer(decision) for decision in asked}
    with JournalWriter.create(tmp_path / "j", header()) as journal:
        digest = journal.append(asked, given)
        journal.finish(result)
    found = read(tmp_path / "j")
    assert found.header == header()
    assert found.batches[0].answers == given
    assert (found.batches[0].step, found.batches[0].turn, found.batches[0].digest) == (1, 0, digest)
    assert (found.result, found.torn) == (result, 0)


GAME = """
import sys
from pathlib import Path
from tests.market.recorded import record
record(Path(sys.argv[1]))
"""


def test_equal_games_have_equal_bytes_whatever_the_process_hashes(tmp_path: Path) -> None:
    digests = set()
    for salt in ("1", "2"):
        path = tmp_path / salt / "e" / "j"
        path.parent.mkdir(parents=True)
        environment = {**os.environ, "PYTHONHASHSEED": salt}
        subprocess.run([sys.executable, "-c", GAME, str(path)], env=environment, check=True)
        digests.add(journal_digest(path))
    assert len(digests) == 1


def test_another_seed_is_another_game(tmp_path: Path) -> None:
    one, two = (record(tmp_path / str(seed), config(seed)) for seed in (0, 1))
    assert journal_digest(one) != journal_digest(two)


def test_answers_that_come_as_text_make_the_same_line(tmp_path: Path) -> None:
    environment = build_environment(header().config)
    asked = environment.start()
    given = {decision.seat: answer(decision) for decision in asked}
    texts = {seat: spelling.dump(one) for seat, one in given.items()}
    with JournalWriter.create(tmp_path / "objects", header()) as journal:
        digest = journal.append(asked, given)
    with JournalWriter.create(tmp_path / "some", header()) as journal:
        journal.append(asked, given, {asked[0].seat: texts[asked[0].seat]})
    with JournalWriter.create(tmp_path / "remote", header()) as journal:
        journal.append_texts(1, 0, digest, dict(reversed(texts.items())))
    files = {(tmp_path / name).read_bytes() for name in ("objects", "some", "remote")}
    assert len(files) == 1


def test_a_journal_is_never_begun_over_another(tmp_path: Path) -> None:
    path = record(tmp_path / "j")
    before = path.read_bytes()
    with pytest.raises(JournalError, match="exists already"):
        JournalWriter.create(path, header())
    assert path.read_bytes() == before


@pytest.mark.parametrize("durable", [False, True])
@pytest.mark.parametrize("cut", [1, 40, 10_000])
def test_a_run_that_died_in_a_line_goes_on_to_the_same_bytes(
    tmp_path: Path, cut: int, durable: bool
) -> None:
    settings = config(days=2)
    for folder in ("whole", "again"):
        (tmp_path / folder).mkdir()
    whole = record(tmp_path / "whole" / "j", settings)
    path = record(tmp_path / "again" / "j", settings, batches=3)
    first = header(settings, episode="whole")
    path.write_bytes(whole.read_bytes()[: path.stat().st_size][:-cut])

    with JournalWriter.reopen(path, first, durable) as journal:
        played = replay(path)
        environment, asked = played.environment, played.asked
        while asked:
            given = {decision.seat: answer(decision) for decision in asked}
            journal.append(asked, given)
            asked = environment.apply(given)
        journal.finish(environment.result)
    assert path.read_bytes() == whole.read_bytes()


@pytest.mark.parametrize("left", [b"", b'{"config":'])
def test_a_journal_without_a_whole_header_is_begun_anew(tmp_path: Path, left: bytes) -> None:
    path = tmp_path / "j"
    path.write_bytes(left)
    JournalWriter.reopen(path, header()).close()
    assert read(path).header == header()


def test_a_missing_journal_is_begun(tmp_path: Path) -> None:
    JournalWriter.reopen(tmp_path / "j", header()).close()
    assert read(tmp_path / "j").header == header()


def test_a_finished_journal_is_not_reopened(tmp_path: Path) -> None:
    path = record(tmp_path / "j")
    with pytest.raises(JournalError, match="is finished"):
        JournalWriter.reopen(path, read(path).header)


def test_a_changed_configuration_is_refused_with_the_keys_that_differ(tmp_path: Path) -> None:
    path = record(tmp_path / "j", config(seed=3, days=2), batches=1)
    other = config(seed=4, days=3, seats=3)
    with pytest.raises(
        ConfigChangedError, match=r"retailers\[0\]\.count, rules\.days, seed"
    ) as raised:
        JournalWriter.reopen(path, header(other, episode=tmp_path.name))
    assert raised.value.keys == ("retailers[0].count", "rules.days", "seed")


def test_other_rules_and_a_number_of_another_type_are_differences() -> None:
    assert header().differences(Header.of(config(), 2, "e1")) == ("rules_version",)
    assert header(config(days=1)).differences(header({**config(), "rules": {"days": 1.0}})) == (
        "rules.days",
    )
    assert header().differences(header({**config(), "rules": {"days": None}})) == ("rules.days",)
    assert header().differences(header()) == ()


def test_answers_that_were_not_asked_for_are_refused_and_leave_no_trace(tmp_path: Path) -> None:
    asked = build_environment(header().config).start()
    given = {decision.seat: answer(decision) for decision in asked}
    with JournalWriter.create(tmp_path / "j", header()) as journal:
        before = journal.path.read_bytes()
        with pytest.raises(ContractError, match="missing"):
            journal.append(asked, {asked[0].seat: given[asked[0].seat]})
        with pytest.raises(ValueError, match="JSON"):
            journal.append(asked, {**given, asked[0].seat: Answer(float("nan"))})
        with pytest.raises(ValueError, match="canonical"):
            journal.append_texts(1, 0, "0" * 64, {"a": '{"action":\n1}'})
        assert journal.path.read_bytes() == before
        journal.append(asked, given)
    assert len(read(tmp_path / "j").batches) == 1


def test_a_result_with_nan_is_refused(tmp_path: Path) -> None:
    with (
        JournalWriter.create(tmp_path / "j", header()) as journal,
        pytest.raises(ValueError, match="JSON"),
    ):
        journal.finish(Result({"a": SeatResult(float("nan"), {})}))


def test_after_a_write_that_failed_nothing_more_is_written_and_reopening_mends(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write = os.write
    journal = JournalWriter.create(tmp_path / "j", header())
    monkeypatch.setattr(os, "write", lambda descriptor, line: write(descriptor, line[:20]))
    with pytest.raises(JournalError, match="cannot be written: the line was written in part"):
        journal.append_texts(1, 0, "0" * 64, {})
    monkeypatch.undo()
    with pytest.raises(JournalError, match="is closed"):
        journal.append_texts(1, 0, "0" * 64, {})
    assert read(tmp_path / "j").torn == 20
    with JournalWriter.reopen(tmp_path / "j", header()) as journal:
        journal.append_texts(1, 0, "0" * 64, {})
    assert len(read(tmp_path / "j").batches) == 1
    assert read(tmp_path / "j").torn == 0
