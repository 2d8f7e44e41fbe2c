from __future__ import annotations

from dataclasses import dataclass, replace
from enum import StrEnum
from pathlib import Path
from typing import Any, ClassVar

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from market import registry, tables
from market.calls import CallLog, CallRecord, Outcome
from market.environment import OUTSIDE, Event
from market.journal import read
from market.language import Message, Reply, Usage
from market.tables import COMMON, Written, describe, schema, write_tables
from tests.lemonade import EVENTS, Called, Day
from tests.market.recorded import config, record

BEGIN = ["episode", "seed", "step", "turn", "seat"]


@pytest.fixture
def run(tmp_path: Path) -> Path:
    """Three episodes, the last of them unfinished."""
    for number, batches in enumerate((None, None, 2)):
        folder = tmp_path / "episodes" / f"e{number}"
        folder.mkdir(parents=True)
        record(folder / "journal.jsonl", config(seed=number), batches)
    return tmp_path


def rows(run: Path, table: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = pq.read_table(run / "tables" / f"{table}.parquet").to_pylist()
    return found


def test_every_event_class_is_a_table_and_so_are_decisions_results_and_calls(run: Path) -> None:
    counts = write_tables(run).rows
    assert counts.keys() == {"called", "days", "decisions", "results", "calls"}
    for name, count in counts.items():
        table = pq.read_table(run / "tables" / f"{name}.parquet")
        assert table.column_names[:5] == BEGIN
        assert table.num_rows == count
    assert counts["days"] == 2 * 3 * 2
    assert sorted(path.name for path in (run / "tables").iterdir()) == sorted(
        f"{name}.parquet" for name in counts
    )


def test_columns_have_the_types_of_the_fields() -> None:
    assert [(f.name, str(f.type), f.nullable) for f in schema(Day)] == [
        ("episode", "string", False),
        ("seed", "int64", False),
        ("step", "int64", False),
        ("turn", "int64", False),
        ("seat", "string", False),
        ("price", "int64", True),
        ("sold", "int64", False),
        ("revenue", "int64", False),
        ("sold_out", "bool", False),
        ("mean_price", "double", True),
    ]


def test_an_enumeration_of_texts_is_a_text_and_other_types_are_refused() -> None:
    class Mood(StrEnum):
        GOOD = "good"

    @dataclass(frozen=True, slots=True)
    class Felt(Event):
        table: ClassVar[str] = "felt"
        mood: Mood | None

    @dataclass(frozen=True, slots=True)
    class Listed(Event):
        table: ClassVar[str] = "listed"
        all: tuple[int, ...]

    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(globals(), "Mood", Mood)
        assert schema(Felt).field("mood").type == pa.string()
    with pytest.raises(TypeError, match=r"Listed\.all"):
        schema(Listed)


def test_columns_are_described_by_the_docstring(run: Path) -> None:
    assert describe(Called)["error"] == "What was wrong with the call; null when it was done."
    write_tables(run)
    stored = pq.read_schema(run / "tables" / "days.parquet")
    assert stored.metadata[b"description"] == b"A stand's day."
    assert (
        stored.field("price").metadata[b"description"]
        == b"Cents per glass; null where none was set."
    )


@pytest.mark.parametrize("event", [*COMMON, *EVENTS])
def test_no_column_is_without_description(event: type[Event]) -> None:
    assert [*describe(event)][:5] == BEGIN
    assert all(describe(event).values())


def test_a_description_of_several_lines_is_one_sentence() -> None:
    assert "The seat `outside` stands for the episode as a whole." in describe(COMMON[1])["metric"]


def test_decisions_are_those_of_the_journals(run: Path) -> None:
    write_tables(run)
    found = [r for r in rows(run, "decisions") if r["episode"] == "e1"]
    journal = read(run / "episodes" / "e1" / "journal.jsonl")
    expected = [
        ("e1", 1, batch.step, batch.turn, seat, "turn", not hasattr(answer, "cause"),
         getattr(answer, "cause", None))
        for batch in journal.batches
        for seat, answer in sorted(batch.answers.items())
    ]  # fmt: skip
    assert [tuple(row.values()) for row in found] == expected
    assert {row["answered"] for row in found} == {True, False}


def test_results_have_a_row_per_metric_and_only_of_finished_episodes(run: Path) -> None:
    write_tables(run)
    found = {(r["episode"], r["seat"], r["metric"]): r for r in rows(run, "results")}
    assert {episode for episode, _, _ in found} == {"e0", "e1"}
    result = read(run / "episodes" / "e0" / "journal.jsonl").result
    assert result is not None
    assert found["e0", "stand-1", "score"]["value"] == result.seats["stand-1"].score
    assert found["e0", "stand-1", "taste"]["value"] is None
    assert found["e0", "stand-1", "taste"]["undefined"] == "nobody asked"
    assert found["e0", OUTSIDE, "fees"]["value"] == result.totals["fees"]


def test_calls_carry_what_they_took_and_no_text(run: Path) -> None:
    usage = Usage("gpt-x-2024", 100, 7, None, None, 0.5)
    call = CallRecord(
        "e0", 1, 0, "stand-1", 0, Outcome.REPLIED, "gpt-x",
        (Message("user", "secret"),), Reply("secret", "stop", usage),
    )  # fmt: skip
    with CallLog(run / "episodes" / "e0" / "calls.jsonl", {}) as log:
        log.append(
            call, replace(call, turn=1, outcome=Outcome.SEAT_FAILED, reply=None, cause="late")
        )
    write_tables(run)
    first, second = rows(run, "calls")
    assert (first["seed"], first["prompt_tokens"], first["cost_usd"]) == (0, 100, None)
    assert (first["model"], first["answered_by"], first["finish"]) == (
        "gpt-x",
        "gpt-x-2024",
        "stop",
    )
    assert (second["cause"], second["tries"], second["latency_seconds"]) == ("late", None, None)
    assert "secret" not in str([first, second])


def test_rows_are_written_in_groups_so_that_memory_is_bounded(
    run: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    counts = write_tables(run).rows
    whole = {name: rows(run, name) for name in counts}
    monkeypatch.setattr(tables, "ROW_GROUP", 5)
    assert write_tables(run).rows == counts
    assert pq.ParquetFile(run / "tables" / "days.parquet").num_row_groups == 3
    assert {name: rows(run, name) for name in counts} == whole


def test_an_episode_whose_records_are_damaged_is_left_out_and_named(run: Path) -> None:
    whole = {name: rows(run, name) for name in write_tables(run).rows}
    journal = run / "episodes" / "e1" / "journal.jsonl"
    journal.write_bytes(journal.read_bytes().replace(b'"turn":1', b'"turn":2', 1))
    written = write_tables(run)
    assert list(written.left_out) == ["e1"]
    assert "line 3" in written.left_out["e1"]
    for name, before in whole.items():
        kept = [row for row in before if row["episode"] != "e1"]
        assert rows(run, name) == kept
        assert written.rows[name] == len(kept)
    (run / "episodes" / "e0" / "calls.jsonl").write_text("no record\n")
    assert list(write_tables(run).left_out) == ["e0", "e1"]


def test_a_run_without_episodes_has_no_tables(tmp_path: Path) -> None:
    assert write_tables(tmp_path) == Written({}, {})


def test_the_tables_of_every_environment_are_well_formed() -> None:
    for name in registry.ENVIRONMENTS:
        kind = registry.environment_kind(name)
        events = (*COMMON, *registry.load(kind.events))
        assert len({event.table for event in events}) == len(events)
        for event in events:
            assert len(schema(event)) == len(describe(event))
            assert all(describe(event).values()), event
