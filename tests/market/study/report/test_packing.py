from __future__ import annotations

import base64
import gzip
import json
from dataclasses import dataclass
from typing import Any, ClassVar

from market.calls import Calls
from market.columns import describe
from market.environment import Answer, Decision, Event, Form, Json, Observation
from market.replay import Moment
from market.study.report.packing import LEAST_LIST, MOST_ROWS, Episode, columned


@dataclass(frozen=True, slots=True)
class Asked(Event):
    """Something asked. Money is in fen.

    Attributes:
        cost: What it costs, fen.
        reason: Why not.
    """

    table: ClassVar[str] = "asked"

    cost: int
    reason: str | None


@dataclass(frozen=True, slots=True)
class Counted(Event):
    """A table of one column."""

    table: ClassVar[str] = "counted"

    units: int


@dataclass(frozen=True)
class Happened:
    """An environment of which only the events are read."""

    events: tuple[Event, ...]


def packed(private: Json, *events: Event) -> dict[str, Any]:
    """A game of one decision, as the browser unpacks it."""
    decision = Decision(1, 0, "a", "turn", Observation({}, {}, private), Form({}, None))
    episode = Episode("e", {}, Calls())
    episode.add(Moment(1, 0, (decision,), {"a": Answer([])}, Happened(events)))  # type: ignore[arg-type]
    episode.end()
    found: dict[str, Any] = json.loads(gzip.decompress(base64.b64decode(episode.whole.data)))
    return found


def restored(one: dict[str, Any]) -> Json:
    """What a seat saw, put together again."""
    for path, keys, values in one.get("columns", ()):
        at = one["private"]
        for step in path[:-1]:
            at = at[step]
        assert at[path[-1]] is None
        at[path[-1]] = [dict(zip(keys, row, strict=True)) for row in zip(*values, strict=True)]
    return one["private"]


def test_long_lists_of_like_objects_go_by_columns_and_come_back_as_they_were() -> None:
    like = [{"product": f"P{i}", "units": i, "price": None} for i in range(LEAST_LIST)]
    unlike = [*like[1:], {"product": "P", "units": 3}]
    nested = [{"rows": like, "page": i} for i in range(LEAST_LIST)]
    private = {"a": like, "b": [unlike, like[:2], []], "c": nested, "d": [{}] * 9, "e": [1] * 9}
    (one,) = packed(private)["decisions"]
    assert len(one["columns"]) == 1 + len(nested)
    assert one["columns"][0][:2] == [["a"], ["product", "units", "price"]]
    assert restored(one) == private


def test_what_is_packed_is_not_changed() -> None:
    private = {"rows": [{"units": i} for i in range(LEAST_LIST)]}
    assert columned(private)[0] == {"rows": None}
    assert private["rows"][3] == {"units": 3}


def test_of_many_rows_as_many_are_kept_as_are_shown_and_every_refusal() -> None:
    rows = [Asked(1, 0, "a", i, "no" if i == MOST_ROWS + 5 else None) for i in range(MOST_ROWS + 9)]
    (one,) = packed({}, *rows)["decisions"]
    assert [cost for cost, _ in one["rows"]["asked"]] == [*range(MOST_ROWS), MOST_ROWS + 5]
    assert one["more"] == {"asked": 8}


def test_a_table_says_what_it_is_and_its_columns_what_they_mean() -> None:
    whole = packed({}, Asked(1, 0, "a", 3, None), Counted(1, 0, "a", 4))
    assert whole["about"]["asked"] == "Something asked. Money is in fen."
    assert whole["columns"]["asked"] == ["cost", "reason"]
    assert whole["meanings"]["asked"] == [describe(Asked)["cost"], describe(Asked)["reason"]]
    assert whole["refused"] == {"asked": "reason"}
    assert whole["decisions"][0]["rows"]["counted"] == [[4]]


def test_half_a_surrogate_pair_and_a_huge_number_are_packed_too() -> None:
    private = {"text": "\ud800 \u2028 é", "number": 2**70}
    assert packed(private)["decisions"][0]["private"] == private
