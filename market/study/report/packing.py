"""An episode packed for the page's browser of decisions.

Per decision there is what the seat saw, what it did and noted, the rows of the tables that came of
it (those with a `reason` or `error` are refusals), and for models the prompt, the raw reply and
what the call took. What happens is booked to the seat's last decision: a price is refused when
retail opens, after others were asked something else.

Of a table a decision keeps as many rows as the page shows, and all refusals. Lists of like objects
in what a seat saw go column by column, without their keys: a third of the bytes to make, to
compress and to read. A decision is spelled once the seat is asked again, so that memory holds no
more of it than its text.

An episode is JSON, compressed and in base64: nothing in it can end its element, and the page puts
nothing of it anywhere but into text nodes.
"""

from __future__ import annotations

import base64
import gzip
import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, fields
from functools import cached_property
from itertools import groupby
from operator import attrgetter
from typing import Any

import orjson

from market.calls import CallRecord, Calls, Outcome
from market.columns import describe, summary
from market.environment import OUTSIDE, Decision, Event, Json, NoAction
from market.replay import Moment
from market.study.estimands.validity import REASONS

#: Most rows of a table that are kept of a decision, refusals apart; `decisions.js` shows as many.
MOST_ROWS = 200
#: Of compression: one more takes twice as long and saves a fiftieth.
LEVEL = 5
#: Fewest objects of a list that goes column by column.
LEAST_LIST = 8

_KEYS = ("step", "turn", "seat")
_DEEP = (Mapping, list, tuple)
_booked = attrgetter("seat", "step", "__class__")


@dataclass(frozen=True, slots=True)
class Packed:
    """An episode, or the first part of one.

    Attributes:
        id: Its id.
        data: What the browser unpacks.
        shown: Decisions in it.
        decisions: Decisions that there are.
    """

    id: str
    data: str
    shown: int
    decisions: int


class _Open:
    """A decision whose seat was not asked again yet, so that rows may still be booked to it."""

    __slots__ = ("at", "facts", "more", "rows", "step")

    def __init__(self, at: int, step: int, facts: Mapping[str, Json]) -> None:
        self.at, self.step, self.facts = at, step, facts
        self.rows: dict[str, list[tuple[Any, ...]]] = {}
        self.more: dict[str, int] = {}

    def spelled(self) -> bytes:
        """The decision as JSON."""
        parts = {"rows": self.rows, "more": self.more}
        return _spelled({**self.facts, **{name: part for name, part in parts.items() if part}})


class Episode:
    """A recorded episode, gathered by decision while it is played again.

    Args:
        name: Its id.
        rules: The rules that all seats see.
        calls: Its answer log.
    """

    def __init__(self, name: str, rules: Mapping[str, Json], calls: Calls) -> None:
        self.id = name
        self._rules = rules
        self._decisions: list[bytes] = []
        self._batches: list[int] = []
        self._public: list[bytes] = []
        self._texts: dict[tuple[str, str], int] = {}
        self._tables: dict[type[Event], _Columns] = {}
        self._last: dict[str, _Open] = {}
        self._calls: dict[tuple[int, int, str], list[CallRecord]] = {}
        for record in calls.records:
            if record.outcome is not Outcome.SENT:
                key = record.step, record.turn, record.seat
                self._calls.setdefault(key, []).append(record)

    def add(self, moment: Moment) -> None:
        """Take in what was decided, and what came of it."""
        asked = [decision for decision in moment.asked if decision.seat != OUTSIDE]
        if asked:
            self._public.append(_spelled(asked[0].observation.public))
        for decision in asked:
            self._close(decision.seat)
            facts = self._facts(decision, moment)
            self._last[decision.seat] = _Open(len(self._decisions), decision.step, facts)
            self._decisions.append(b"")
            self._batches.append(len(self._public))
        self._book(moment.events)

    def end(self) -> None:
        """No more is added."""
        for seat in list(self._last):
            self._close(seat)

    @cached_property
    def whole(self) -> Packed:
        """The whole episode, packed; it must have ended."""
        return self.pack(len(self._decisions))

    def pack(self, first: int) -> Packed:
        """The first decisions, compressed; equal ones are equal bytes."""
        shown = self._decisions[:first]
        columns = {kind.table: own.names for kind, own in self._tables.items()}
        about = {kind.table: summary(kind) for kind in self._tables}
        meanings = {kind.table: own.meanings for kind, own in self._tables.items()}
        refused = {kind.table: own.reason for kind, own in self._tables.items() if own.reason}
        parts = {
            "rules": _spelled(self._rules),
            "public": _listed(self._public[: max(self._batches[:first], default=0)]),
            "texts": _spelled([list(text) for text in self._texts]),
            "columns": _spelled(columns),
            "about": _spelled(about),
            "meanings": _spelled(meanings),
            "refused": _spelled(refused),
            "decisions": _listed(shown),
        }
        spelled = b",".join(b'"%s":%s' % (name.encode(), part) for name, part in parts.items())
        data = base64.b64encode(gzip.compress(b"{%s}" % spelled, LEVEL, mtime=0)).decode()
        return Packed(self.id, data, len(shown), len(self._decisions))

    def _close(self, seat: str) -> None:
        one = self._last.pop(seat, None)
        if one is not None:
            self._decisions[one.at] = one.spelled()

    def _facts(self, decision: Decision, moment: Moment) -> dict[str, Json]:
        private, columns = columned(decision.observation.private)
        one: dict[str, Json] = {
            "step": decision.step,
            "turn": decision.turn,
            "seat": decision.seat,
            "kind": decision.kind,
            "public": len(self._public) - 1,
            "private": private,
        }
        if columns:
            one["columns"] = columns
        answer = moment.answers[decision.seat]
        if isinstance(answer, NoAction):
            one["none"] = str(answer.cause)
        else:
            one["action"] = answer.action
            if answer.said is not None:
                one["said"] = answer.said
        made = self._calls.get((decision.step, decision.turn, decision.seat), ())
        if made:
            one["calls"] = [self._call(record) for record in made]
        return one

    def _call(self, record: CallRecord) -> dict[str, Json]:
        told: dict[str, Json] = {
            "attempt": record.attempt,
            "outcome": str(record.outcome),
            "model": record.model,
            "cause": record.cause,
            "error": record.error,
            "prompt": [
                self._texts.setdefault((message.role, message.content), len(self._texts))
                for message in record.messages
            ],
        }
        if record.reply is not None:
            usage = record.reply.usage
            told |= {
                "text": record.reply.text,
                "tools": [[call.name, call.arguments] for call in record.reply.tool_calls],
                "finish": record.reply.finish,
                "tokens in": usage.prompt_tokens,
                "tokens out": usage.completion_tokens,
                "cost": usage.cost_usd,
                "seconds": round(usage.latency_seconds, 3),
                "tries": usage.tries,
                "cached": usage.cached,
            }
        return {name: value for name, value in told.items() if value not in (None, [])}

    def _book(self, events: Iterable[Event]) -> None:
        for (seat, step, kind), own in groupby(events, _booked):
            one = self._last.get(seat)
            if one is None or step != one.step:
                continue
            table = self._tables.get(kind)
            if table is None:
                table = self._tables[kind] = _Columns(kind)
            rows = one.rows.setdefault(kind.table, [])
            happened = list(own)
            room = max(0, MOST_ROWS - len(rows))
            shown = [*happened[:room], *filter(table.refused, happened[room:])]
            rows += map(table.row, shown)
            if left := len(happened) - len(shown):
                one.more[kind.table] = one.more.get(kind.table, 0) + left


class _Columns:
    """What is shown of the rows of a table."""

    def __init__(self, kind: type[Event]) -> None:
        self.names = [each.name for each in fields(kind) if each.name not in _KEYS]
        told = describe(kind)
        self.meanings = [told[name] for name in self.names]
        self.reason = next((name for name in REASONS if name in self.names), None)
        # With two more, it gives a tuple also of one column or none.
        self._values: Callable[[Event], tuple[Any, ...]] = attrgetter("step", "turn", *self.names)

    def row(self, event: Event) -> tuple[Any, ...]:
        """The values of a row."""
        return self._values(event)[2:]

    def refused(self, event: Event) -> bool:
        """Whether a row is a refusal."""
        return self.reason is not None and getattr(event, self.reason) is not None


def columned(value: Mapping[str, Json]) -> tuple[Json, list[Json]]:
    """A value without its long lists of like objects, and these column by column.

    Returns:
        The value with null for each such list; and for each its path, the keys of its objects and
        a list of values per key.
    """
    found: list[Json] = []
    return _without(value, (), found), found


def _without(value: Json, path: tuple[str | int, ...], found: list[Json]) -> Json:
    if isinstance(value, Mapping):
        return {
            key: _without(part, (*path, key), found) if isinstance(part, _DEEP) else part
            for key, part in value.items()
        }
    if len(value) >= LEAST_LIST and set(map(type, value)) == {dict}:
        keys = [*value[0]]
        flat = not any(isinstance(part, _DEEP) for part in value[0].values())
        if keys and flat and all(map(keys.__eq__, map(list, value))):
            found.append([path, keys, [*zip(*map(dict.values, value), strict=True)]])
            return None
    return [
        _without(part, (*path, i), found) if isinstance(part, _DEEP) else part
        for i, part in enumerate(value)
    ]


def _listed(parts: Iterable[bytes]) -> bytes:
    return b"[%s]" % b",".join(parts)


def _spelled(value: Json) -> bytes:
    """JSON of ASCII; orjson, which is fast, spells it where that comes to the same."""
    try:
        quick = orjson.dumps(value, default=dict)
    except (TypeError, RecursionError):  # half a surrogate pair, a number beyond 64 bits
        quick = b"\xff"
    if quick.isascii():
        return quick
    return json.dumps(value, ensure_ascii=True, separators=(",", ":"), default=dict).encode()
