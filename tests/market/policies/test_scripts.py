"""Policies that serve every environment: idle, random and replay."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from market import canonical, forms
from market.environment import (
    Answer,
    Cause,
    Decision,
    Form,
    NoAction,
    Observation,
    Result,
    SeatResult,
    Tool,
)
from market.journal import Header, JournalError, JournalWriter
from market.policies.idle import Idle
from market.policies.random import Random
from market.policies.replay import Replay
from tests.market.arena.observations import BID, SELL

CALLS = Form(
    {"type": "array", "items": {"type": "object"}, "maxItems": 5},
    [],
    (
        Tool("wait", "Ends the day.", {"type": "object", "properties": {}}),
        Tool(
            "order",
            "Orders goods.",
            {
                "type": "object",
                "properties": {
                    "item": {"enum": ["tea", "soap"]},
                    "units": {"type": "integer", "minimum": 1, "maximum": 9},
                    "note": {"type": "string", "maxLength": 5},
                    "rush": {"type": "boolean"},
                    "share": {"type": "number", "minimum": 0, "maximum": 1},
                },
                "required": ["item", "units"],
                "additionalProperties": False,
            },
        ),
    ),
)


def decision(form: Form, step: int = 1, turn: int = 0, seat: str = "a") -> Decision:
    return Decision(step, turn, seat, "any", Observation({}, {}, {}), form)


def schemas() -> st.SearchStrategy[dict[str, Any]]:
    """Schemas of the subset that forms use."""
    bounds = st.tuples(st.integers(-50, 50), st.integers(0, 50)).map(
        lambda pair: {"minimum": pair[0], "maximum": pair[0] + pair[1]}
    )
    numbers = st.tuples(
        st.sampled_from(["integer", "number"]),
        st.one_of(st.just({}), bounds, bounds.map(lambda b: {"minimum": b["minimum"]})),
    ).map(lambda pair: {"type": pair[0], **pair[1]})
    leaves = st.one_of(
        numbers,
        st.just({"type": "boolean"}),
        st.just({"type": ["integer", "null"]}),
        st.just({"enum": ["x", "y"]}),
        st.integers(0, 9).map(lambda k: {"type": "string", "minLength": k, "maxLength": k + 3}),
        st.integers(0, 9).map(lambda k: {"type": "string", "maxLength": k}),
    )
    return st.recursive(
        leaves,
        lambda inner: st.one_of(
            st.tuples(inner, st.integers(0, 3)).map(
                lambda pair: {"type": "array", "items": pair[0], "maxItems": pair[1]}
            ),
            inner.map(lambda one: {"type": "array", "items": one, "minItems": 2}),
            inner.map(lambda one: {"anyOf": [one, {"type": "null"}]}),
            st.dictionaries(st.sampled_from("abc"), inner).map(
                lambda fields: {
                    "type": "object",
                    "properties": fields,
                    "required": sorted(fields)[:2],
                    "additionalProperties": False,
                }
            ),
            inner.map(lambda one: {"type": "object", "additionalProperties": one}),
            inner.map(
                lambda one: {
                    "type": "object",
                    "propertyNames": {"enum": ["p", "q"]},
                    "additionalProperties": one,
                }
            ),
        ),
        max_leaves=8,
    )


def test_idle_bids_nothing_prices_nothing_and_calls_nothing() -> None:
    idle = Idle("a", 1)
    assert idle.act(decision(BID)) == Answer({"bids": []})
    assert idle.act(decision(SELL)) == Answer({"prices": {}, "slogan": ""})
    assert idle.act(decision(CALLS)) == Answer([])


@given(schemas(), st.integers(0, 5))
def test_idle_and_random_answers_are_of_any_form(schema: dict[str, Any], seed: int) -> None:
    form = Form(schema, None)
    for policy in (Idle("a", seed), Random("a", seed)):
        action = policy.act(decision(form)).action
        assert forms.check(form, action) is None
        assert canonical.loads(canonical.dumps(action)) == action


def test_random_calls_have_the_form_of_their_tools() -> None:
    parameters = {tool.name: Form(tool.parameters, None) for tool in CALLS.tools}
    called = set()
    for seed in range(50):
        calls = Random("a", seed).act(decision(CALLS)).action
        assert len(calls) <= 5
        for call in calls:
            assert forms.check(parameters[call["tool"]], call["arguments"]) is None
            called.add(call["tool"])
    assert called == {"wait", "order"}


def test_random_differs_by_seed_seat_step_and_turn_and_by_nothing_else() -> None:
    schema = Form({"type": "integer", "minimum": 0, "maximum": 10**9}, 0)
    asked = decision(schema)
    said = Random("a", 1).act(asked).action
    assert Random("a", 1).act(asked).action == said
    assert Random("a", 2).act(asked).action != said
    assert Random("b", 1).act(asked).action != said
    assert Random("a", 1).act(decision(schema, step=2)).action != said
    assert Random("a", 1).act(decision(schema, turn=1)).action != said


@pytest.fixture
def recording(tmp_path: Path) -> str:
    path = tmp_path / "journal.jsonl"
    config = {"environment": "arena", "seed": 1}
    with JournalWriter.create(path, Header.of(config, 1, "e1")) as journal:
        for step, answer in enumerate(
            [Answer({"bids": [{"item": "item1", "quantity": 1, "price": 50}]}, "note"), None], 1
        ):
            given = answer or NoAction(Cause.LATE)
            asked = tuple(decision(BID, step=step, seat=seat) for seat in ("a", "b"))
            journal.append(asked, {"a": given, "b": Answer({"bids": []})})
        journal.finish(Result({"a": SeatResult(0, {}), "b": SeatResult(0, {})}))
    return str(path)


def test_replay_plays_a_recording(recording: str) -> None:
    replay = Replay("a", 1, journal=recording)
    first = replay.act(decision(BID))
    assert first.action == {"bids": [{"item": "item1", "quantity": 1, "price": 50}]}
    assert first.said == "note"


def test_replay_is_idle_where_the_recording_has_no_action(recording: str) -> None:
    replay = Replay("z", 1, journal=recording, of="a")
    assert replay.act(decision(BID, step=2)) == Answer({"bids": []})
    assert replay.act(decision(SELL, step=1, turn=2)) == Answer({"prices": {}, "slogan": ""})


def test_replay_of_a_seat_that_was_not_there_is_refused(recording: str) -> None:
    with pytest.raises(ValueError, match="seat `z`"):
        Replay("z", 1, journal=recording)


def test_replay_without_a_recording_is_refused(tmp_path: Path) -> None:
    with pytest.raises(JournalError):
        Replay("a", 1, journal=str(tmp_path / "none.jsonl"))
