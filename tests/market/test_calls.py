from __future__ import annotations

import json
import os
import threading
from dataclasses import replace
from pathlib import Path

import pytest

from market.calls import (
    MAX_ERROR,
    CallLog,
    CallLogError,
    CallRecord,
    Outcome,
    about_this_process,
    paid_replies,
    read_calls,
    unsettled,
)
from market.language import Message, Reply, ToolCall, Usage

SYSTEM = Message("system", "You sell lemonade. " * 50)
CALLED = Message("assistant", "", (ToolCall("c1", "set_price", '{"cents": 3}'),))
ANSWERED = Message("tool", "ok", tool_call_id="c1")
USAGE = Usage("gpt-x", 10, 5, None, 0.001, 0.25, 2)
RECORD = CallRecord(
    "e1", 1, 0, "llm", 0, Outcome.REPLIED, "openai/gpt-x",
    (SYSTEM, CALLED, ANSWERED),
    Reply("hm \ud800 \u2028 é", "stop", USAGE, CALLED.tool_calls),
    host="node-2",
)  # fmt: skip


def test_records_read_back_as_they_were_written(tmp_path: Path) -> None:
    failed = CallRecord("e1", 1, 0, "slow", 0, Outcome.SEAT_FAILED, cause="late", error="30 s")
    with CallLog(tmp_path / "calls.jsonl") as log:
        log.append(RECORD, failed)
        log.append(replace(RECORD, step=2))
    assert read_calls(log.path).records == (RECORD, failed, replace(RECORD, step=2))


def test_the_first_line_of_each_writer_says_where_and_with_what_it_ran(tmp_path: Path) -> None:
    for about in (None, {"host": "other"}):
        with CallLog(tmp_path / "c", about) as log:
            log.append(RECORD)
    about = about_this_process()
    assert read_calls(tmp_path / "c").writers == (about, {"host": "other"})
    assert about["host"]
    assert about["packages"]["numpy"]


def test_a_message_is_stored_once_by_whichever_writer(tmp_path: Path) -> None:
    for step in range(5):
        with CallLog(tmp_path / "c", {}) as log:
            log.append(replace(RECORD, step=step), replace(RECORD, step=step, attempt=1))
    assert log.path.read_text().count(SYSTEM.content) == 1
    assert all(call.messages == RECORD.messages for call in read_calls(log.path).records)


def conversation(turns: int, gone: int = 0) -> tuple[Message, ...]:
    return (SYSTEM, *(Message("user", f"turn {i}") for i in range(gone, turns)))


def test_long_conversations_read_back_whatever_came_between(tmp_path: Path) -> None:
    sent = [
        replace(RECORD, step=step, seat=seat, messages=conversation(step, max(0, step - 30)))
        for step in range(1, 60)
        for seat in ("a", "b")
    ]
    for first in range(0, len(sent), 7):
        with CallLog(tmp_path / "c", {}) as log:
            log.append(*sent[first : first + 7])
    assert read_calls(log.path).records == tuple(sent)


def test_a_log_grows_with_what_is_said_and_not_with_how_long_it_is_remembered(
    tmp_path: Path,
) -> None:
    sizes = []
    with CallLog(tmp_path / "c", {}) as log:
        for step in range(1, 401):
            log.append(replace(RECORD, step=step, messages=conversation(step)))
            sizes.append(log.path.stat().st_size)
    assert sizes[399] - sizes[299] < 1.1 * (sizes[199] - sizes[99])


def test_a_log_that_names_messages_nobody_sent_is_damaged(tmp_path: Path) -> None:
    with CallLog(tmp_path / "c", {}) as log:
        log.append(*(replace(RECORD, step=step, messages=conversation(9)) for step in (1, 2)))
    lines = log.path.read_text().splitlines(keepends=True)
    log.path.write_text("".join(lines[:1] + lines[2:]))
    with pytest.raises(CallLogError, match="line 2 is no record of a call"):
        read_calls(log.path)
    with pytest.raises(CallLogError, match="names messages that it lacks"):
        CallLog(tmp_path / "c", {}).append(RECORD)


def test_a_log_of_the_format_before_is_read(tmp_path: Path) -> None:
    with CallLog(tmp_path / "c", {}) as log:
        log.append(RECORD)
    whole, (named,) = log.path.read_text(), log.path.read_text().splitlines()[1:]
    fields = json.loads(named)
    del fields["texts"]
    again = json.dumps({**fields, "step": 2})
    log.path.write_text(whole.replace('"format":2', '"format":1') + again + "\n")
    assert read_calls(log.path).records == (RECORD, replace(RECORD, step=2))


@pytest.mark.parametrize("cut", [1, 30, 1500])
def test_a_torn_last_line_is_ignored_and_then_cut(tmp_path: Path, cut: int) -> None:
    path = tmp_path / "c"
    with CallLog(path, {}) as log:
        log.append(RECORD)
        log.append(replace(RECORD, step=2, messages=(Message("user", "news" * 500),)))
    path.write_bytes(path.read_bytes()[:-cut])
    assert read_calls(path).records == (RECORD,)
    third = replace(RECORD, step=3, messages=(Message("user", "news" * 500), SYSTEM))
    with CallLog(path, {}) as log:
        log.append(third)
    assert read_calls(path).records == (RECORD, third)


@pytest.mark.parametrize("line", ["{", "[]", '{"step":1}', '{"format":1,"x":2}x', "\ufffd"])
def test_a_damaged_line_is_named(tmp_path: Path, line: str) -> None:
    path = tmp_path / "c"
    with CallLog(path, {}) as log:
        log.append(RECORD)
    with path.open("a") as file:
        file.write(line + "\n")
    with pytest.raises(CallLogError, match="c, line 3 is "):
        read_calls(path)


@pytest.mark.parametrize(
    ("whole", "damaged"),
    [
        ('"step":1', '"step":"1"'),
        ('"step":1', '"step":true'),
        ('"seat":"llm"', '"seat":["llm"]'),
        ('"model":"openai/gpt-x"', '"model":7'),
        ('"played":1.5', '"played":"x"'),
        ('"played":1.5', '"played":NaN'),
        ('"played":1.5', '"played":1e999'),
        ('"played":1.5', '"other":1.5'),
        ('"prompt_tokens":10', '"prompt_tokens":"10"'),
        ('"cost_usd":0.001', '"cost_usd":{}'),
        ('"cached":false', '"cached":0'),
        ('"arguments":', '"argument":'),
        ('"content":"ok"', '"content":null'),
        ('"texts":{', '"texts":7,"reply":{'),
        ('"ceiling":[9,9]', '"ceiling":[1e99999]'),
        ('"error":"late"', '"error":' + "[" * 100_000 + "]" * 100_000),
    ],
)
def test_whatever_is_wrong_in_a_line_it_is_named(tmp_path: Path, whole: str, damaged: str) -> None:
    path = tmp_path / "c"
    with CallLog(path, {}) as log:
        log.append(replace(RECORD, played=1.5, ceiling=(9, 9), error="late"))
    text = path.read_text()
    assert whole in text
    path.write_text(text.replace(whole, damaged, 1))
    with pytest.raises(CallLogError, match="c, line 2 is n"):
        read_calls(path)


def test_whatever_is_wrong_in_a_line_nothing_is_appended_to_it(tmp_path: Path) -> None:
    (tmp_path / "c").write_text('{"texts":7}\n')
    with pytest.raises(CallLogError, match="c names messages"):
        CallLog(tmp_path / "c", {}).append(RECORD)


def test_a_writer_whose_packages_are_none_is_named(tmp_path: Path) -> None:
    (tmp_path / "c").write_text('{"format":2,"packages":7}\n')
    with pytest.raises(CallLogError, match="c, line 1 is no record"):
        read_calls(tmp_path / "c")


def test_a_log_without_records_is_no_file(tmp_path: Path) -> None:
    CallLog(tmp_path / "c").close()
    assert not (tmp_path / "c").exists()


def test_a_missing_log_is_empty(tmp_path: Path) -> None:
    assert read_calls(tmp_path / "none").records == ()


def test_records_are_synced_before_the_call_returns(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    synced: list[int] = []
    fsync = os.fsync
    with CallLog(tmp_path / "c", {}) as log:
        monkeypatch.setattr(
            os, "fsync", lambda d: synced.append(log.path.stat().st_size) or fsync(d)
        )
        log.append(RECORD)
    assert synced[-1] == log.path.stat().st_size


def test_a_write_that_failed_leaves_the_log_whole(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write = os.write
    with CallLog(tmp_path / "c", {}) as log:
        monkeypatch.setattr(os, "write", lambda descriptor, text: write(descriptor, text[:20]))
        with pytest.raises(CallLogError, match="cannot be written: the line was written in part"):
            log.append(RECORD)
        monkeypatch.undo()
        log.append(RECORD)
    assert read_calls(log.path).records == (RECORD,)
    assert len(read_calls(log.path).writers) == 1


def test_a_torn_line_that_could_not_be_cut_is_cut_when_the_log_goes_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write = os.write

    def fail(*_: object) -> None:
        raise OSError(5, "Input/output error")

    with CallLog(tmp_path / "c", {}) as log:
        log.append(RECORD)
        monkeypatch.setattr(os, "write", lambda descriptor, text: write(descriptor, text[:20]))
        monkeypatch.setattr(os, "ftruncate", fail)
        with pytest.raises(CallLogError, match="in part"):
            log.append(replace(RECORD, step=2))
        monkeypatch.undo()
        log.append(replace(RECORD, step=3))
    assert [call.step for call in read_calls(log.path).records] == [1, 3]


def test_errors_are_bounded(tmp_path: Path) -> None:
    with CallLog(tmp_path / "c", {}) as log:
        log.append(replace(RECORD, error="x" * 10 * MAX_ERROR))
    assert read_calls(log.path).records[0].error == "x" * MAX_ERROR


def test_threads_do_not_mix_their_lines(tmp_path: Path) -> None:
    with CallLog(tmp_path / "c", {}) as log:
        threads = [
            threading.Thread(target=log.append, args=(replace(RECORD, step=step),))
            for step in range(20)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert {call.step for call in read_calls(log.path).records} == set(range(20))


def test_paid_replies_are_found_by_key_and_open_requests_are_not_forgotten(tmp_path: Path) -> None:
    sent = replace(RECORD, outcome=Outcome.SENT, reply=None)
    lost = replace(sent, step=2)
    failed = replace(sent, step=3, outcome=Outcome.PROVIDER_FAILED, cause="rate_limit")
    with CallLog(tmp_path / "c", {}) as log:
        log.append(sent, RECORD, lost, replace(sent, step=3), failed)
    calls = read_calls(log.path)
    assert paid_replies(calls) == {(1, 0, "llm", 0): RECORD}
    assert unsettled(calls) == {(2, 0, "llm", 0): lost}
