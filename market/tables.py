"""Parquet tables, derived from journals by playing them again.

Every event class of an environment is one table: its fields are the columns, its docstring
describes them. Every table begins episode, seed, step, turn, seat. Three more are the same for
every environment: `decisions` (who was asked what, and whether they answered), `results` (one row
per seat and metric) and `calls` (what each model call took, without the texts).

Tables are never read back by the project's own record: delete them and they can be made again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import chain, groupby
from operator import attrgetter
from pathlib import Path
from typing import Any, ClassVar

from market import registry
from market.calls import CallLogError, CallRecord, read_calls
from market.columns import columns, describe, schema
from market.environment import OUTSIDE, Answer, Event, NoAction, Result
from market.journal import JournalError
from market.replay import Moment, Replay, ReplayError

__all__ = [
    "COMMON",
    "CallRow",
    "DecisionRow",
    "ResultRow",
    "Written",
    "describe",
    "schema",
    "write_tables",
]

#: Rows held in memory per table, and the size of its row groups.
ROW_GROUP = 65_536
#: Rows of a table that are held as events, which are large and many to collect.
MOST_EVENTS = 1_024


@dataclass(frozen=True, slots=True)
class DecisionRow(Event):
    """A decision that was asked.

    Attributes:
        kind: What was asked.
        answered: Whether the seat acted.
        cause: Why it did not; null where it did.
    """

    table: ClassVar[str] = "decisions"

    kind: str
    answered: bool
    cause: str | None


@dataclass(frozen=True, slots=True)
class ResultRow(Event):
    """One figure of a finished episode; step and turn are those of its last decisions.

    Attributes:
        metric: Its name; `score` is what the seat was to maximise. The seat `outside` stands for
            the episode as a whole.
        value: Its value; null where undefined.
        undefined: Why it is; null where it is defined.
    """

    table: ClassVar[str] = "results"

    metric: str
    value: float | None
    undefined: str | None


@dataclass(frozen=True, slots=True)
class CallRow(Event):
    """What one model call took, or one failure of a seat. Null is unknown, never 0.

    Attributes:
        attempt: 0 for the first ask of the decision, counting its re-asks.
        outcome: `sent`, `replied`, `provider_failed` or `seat_failed`.
        model: The model asked, as configured.
        answered_by: The model that answered, as the provider names it.
        finish: How the reply ended: `stop`, `length` or `refusal`.
        prompt_tokens: Tokens read.
        completion_tokens: Tokens written.
        cached_tokens: Of the tokens read, those from the provider's cache.
        cost_usd: Price in US dollars.
        latency_seconds: Seconds from sending the request that succeeded to its last token.
        tries: Requests sent until one was answered.
        unsure: Of those, and of a call that failed, the ones of which nobody knows what they cost.
        cause: Cause of a failure.
        host: Where the call was made.
    """

    table: ClassVar[str] = "calls"

    attempt: int
    outcome: str
    model: str | None
    answered_by: str | None
    finish: str | None
    prompt_tokens: int | None
    completion_tokens: int | None
    cached_tokens: int | None
    cost_usd: float | None
    latency_seconds: float | None
    tries: int | None
    unsure: int | None
    cause: str | None
    host: str | None


#: The tables that every environment has.
COMMON: tuple[type[Event], ...] = (DecisionRow, ResultRow, CallRow)


@dataclass(frozen=True, slots=True)
class Written:
    """Tables that were made.

    Attributes:
        rows: Rows by table.
        left_out: For each episode that is in none of them, in one sentence why: its journal or
            answer log is damaged, or not the recording of this version's game.
    """

    rows: dict[str, int]
    left_out: dict[str, str]


def write_tables(run_dir: Path | str, play: Callable[[Path], Replay] = Replay) -> Written:
    """Make the tables of a run from its journals: `tables/<name>.parquet`.

    Episodes come in the order of their folders' names; of an unfinished one, what there is; of a
    damaged one, nothing. At most one episode and a row group per table are held in memory. Earlier
    tables are replaced once all are made.

    Args:
        run_dir: The folder that holds `episodes/<id>/journal.jsonl`.
        play: Begins to play a journal again; somebody who looks on has a replay of its own here.
    """
    run_dir = Path(run_dir)
    tables = _Tables(run_dir / "tables")
    left_out = {}
    try:
        for path in sorted(run_dir.glob("episodes/*/journal.jsonl")):
            try:
                _add_episode(tables, path, play(path))
            except (JournalError, ReplayError, CallLogError) as error:
                tables.forget()
                left_out[path.parent.name] = str(error)
            else:
                tables.keep()
        return Written(tables.publish(), left_out)
    finally:
        tables.discard()


def _add_episode(tables: _Tables, path: Path, replay: Replay) -> None:
    header = replay.header
    kind = registry.environment_kind(header.environment)
    of_game: tuple[type[Event], ...] = registry.load(kind.events) if kind.events else ()
    tables.begin((header.episode, header.seed), (*COMMON, *of_game))
    last = (0, 0)
    for moment in replay:
        last = moment.step, moment.turn
        tables.add(moment.events)
        tables.add(_decisions(moment))
    if replay.finished:
        tables.add(_results(replay.environment.result, *last))
    tables.add(map(_call, read_calls(path.with_name("calls.jsonl")).records))


def _decisions(moment: Moment) -> Iterator[DecisionRow]:
    for asked in moment.asked:
        answer: Answer | NoAction = moment.answers[asked.seat]
        cause = str(answer.cause) if isinstance(answer, NoAction) else None
        yield DecisionRow(
            asked.step, asked.turn, asked.seat, asked.kind, answered=cause is None, cause=cause
        )


def _results(result: Result, step: int, turn: int) -> Iterator[ResultRow]:
    for seat, ended in result.seats.items():
        yield ResultRow(step, turn, seat, "score", ended.score, None)
        for name, value in ended.metrics.items():
            yield ResultRow(step, turn, seat, name, value, ended.undefined.get(name))
    for name, value in result.totals.items():
        yield ResultRow(step, turn, OUTSIDE, name, value, None)


def _call(record: CallRecord) -> CallRow:
    reply = record.reply
    usage = reply.usage if reply else None
    return CallRow(
        step=record.step,
        turn=record.turn,
        seat=record.seat,
        attempt=record.attempt,
        outcome=str(record.outcome),
        model=record.model,
        answered_by=usage.model if usage else None,
        finish=reply.finish if reply else None,
        prompt_tokens=usage.prompt_tokens if usage else None,
        completion_tokens=usage.completion_tokens if usage else None,
        cached_tokens=usage.cached_tokens if usage else None,
        cost_usd=usage.cost_usd if usage else None,
        latency_seconds=usage.latency_seconds if usage else None,
        tries=usage.tries if usage else None,
        unsure=usage.unsure if usage else record.unsure,
        cause=record.cause,
        host=record.host,
    )


class _Tables:
    """The tables being written, each to a file of its own until all are whole."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._tables: dict[type[Event], _Table] = {}
        self._key = ("", 0)

    def begin(self, key: tuple[str, int], events: Iterable[type[Event]]) -> None:
        """Begin an episode, and make the tables that there are not yet, be they without rows."""
        self._key = key
        names = {event.table: event for event in self._tables}
        for event in events:
            if names.setdefault(event.table, event) is not event:
                raise TypeError(f"two event classes write the table `{event.table}`")
            if event not in self._tables:
                self._folder.mkdir(parents=True, exist_ok=True)
                self._tables[event] = _Table(event, self._folder / f"{event.table}.parquet.part")

    def add(self, rows: Iterable[Event]) -> None:
        """Add rows of the episode to the tables of their classes."""
        for event, own in groupby(rows, type):
            if event not in self._tables:
                raise TypeError(f"{event.__name__} is not among the environment's events")
            self._tables[event].add(self._key, own)

    def keep(self) -> None:
        """Keep the rows of the episode."""
        for table in self._tables.values():
            table.keep(self._key)

    def forget(self) -> None:
        """Forget the rows of the episode."""
        for table in self._tables.values():
            table.forget()

    def publish(self) -> dict[str, int]:
        """Close all tables, give them their names and return their numbers of rows."""
        for table in self._tables.values():
            table.close()
        for table in self._tables.values():
            table.path.replace(table.path.with_suffix(""))
        return {event.table: table.rows for event, table in self._tables.items()}

    def discard(self) -> None:
        """Remove what was not published."""
        for table in self._tables.values():
            table.discard()


class _Table:
    """One table being written."""

    def __init__(self, event: type[Event], path: Path) -> None:
        import pyarrow.parquet as pq

        self.path = path
        self.rows = 0
        self._schema = schema(event)
        self._fields = [attrgetter(name) for name in columns(event)]
        #: Rows that are no columns yet, the columns of the episode, and those that are kept.
        self._events: list[Event] = []
        self._new: list[list[Any]] = [[] for _ in self._schema]
        self._pending: list[list[Any]] = [[] for _ in self._schema]
        self._writer = pq.ParquetWriter(path, self._schema, compression="zstd")

    def add(self, key: tuple[str, int], rows: Iterable[Event]) -> None:
        self._events += rows
        if len(self._events) >= MOST_EVENTS:
            self._spread(key)

    def keep(self, key: tuple[str, int]) -> None:
        self._spread(key)
        for column, new in zip(self._pending, self._new, strict=True):
            column += new
            new.clear()
        while len(self._pending[0]) >= ROW_GROUP:
            self._write()

    def forget(self) -> None:
        self._events.clear()
        for column in self._new:
            column.clear()

    def close(self) -> None:
        if self._writer.is_open:
            if self._pending[0]:
                self._write()
            self._writer.close()

    def discard(self) -> None:
        self._writer.close()
        self.path.unlink(missing_ok=True)

    def _spread(self, key: tuple[str, int]) -> None:
        """Spread rows over the columns of the episode."""
        keys = ([part] * len(self._events) for part in key)
        values = (map(field, self._events) for field in self._fields)
        for column, own in zip(self._new, chain(keys, values), strict=True):
            column += own
        self._events.clear()

    def _write(self) -> None:
        """Write what is pending, a row group at most."""
        import pyarrow as pa

        arrays = []
        for column, field in zip(self._pending, self._schema, strict=True):
            arrays.append(pa.array(column[:ROW_GROUP], field.type))
            del column[:ROW_GROUP]
        self.rows += len(arrays[0])
        self._writer.write_table(pa.Table.from_arrays(arrays, schema=self._schema))
