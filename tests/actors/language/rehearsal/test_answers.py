"""What a rehearsal provider answers."""

from __future__ import annotations

import json
from typing import Any

import pytest

from actors.language.rehearsal.answers import FINE, answer, least
from actors.language.rehearsal.reactions import Body
from actors.language.rehearsal.settings import Settings
from market.rng import draws
from tests import lemonade
from tests.actors.language.asking import ORDER
from tests.actors.language.rehearsal.provider import BID, asked, body, said

TOOL = {"name": "order", "parameters": ORDER.parameters}


def calls(content: Body) -> list[tuple[str, Any]]:
    given = answer(content, 0.0, draws(1, "test"))
    return [(name, json.loads(arguments)) for name, arguments in given.calls]


def test_the_example_that_ends_the_last_message_of_the_user_is_said_back() -> None:
    messages = [
        {"role": "user", "content": "Earlier.\n[1]"},
        {"role": "assistant", "content": "[2]"},
        {"role": "user", "content": f'Not {{"this": 1}}.\n{{"nor": this}}\n{BID}\n'},
        {"role": "tool", "content": "[3]"},
    ]
    given = answer({"messages": messages}, 0.0, draws(1, "test"))
    assert json.loads(given.text) == json.loads(BID)


def test_without_an_example_the_schema_is_answered_and_without_both_a_word_is() -> None:
    schema = {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}
    wanted = {"type": "json_schema", "json_schema": {"schema": schema}}
    assert said(Settings(), asked("Go.", response_format=wanted)).text == '{"n": 0}'
    assert said(Settings(), asked("Go.")).text == FINE
    assert said(Settings(text="My words."), asked()).text == "My words."


def test_tools_are_called_as_the_example_shows() -> None:
    tools = [{"function": {"name": tool.name}} for tool in lemonade.TOOLS]
    example = lemonade.FORM.example
    content = body(f"Calls look like this:\n{json.dumps(example)}", tools=tools)
    assert calls(content) == [(call["tool"], call["arguments"]) for call in example]


def test_an_example_that_a_tool_takes_becomes_its_arguments() -> None:
    assert calls(body('Like:\n{"units": 7}', tools=[{"function": TOOL}])) == [
        ("order", {"units": 7})
    ]


@pytest.mark.parametrize("text", ["No example.", 'Like:\n[{"tool": "sing", "arguments": {}}]', BID])
def test_else_the_first_tool_is_called_with_the_least_it_takes(text: str) -> None:
    assert calls(body(text, tools=[{"function": TOOL}])) == [("order", {"units": 0})]


@pytest.mark.parametrize(
    ("schema", "value"),
    [
        ({"type": "integer", "minimum": 3}, 3),
        ({"type": "integer", "exclusiveMinimum": 0}, 1),
        ({"type": "integer", "maximum": -5}, -5),
        ({"type": "array", "minItems": 2, "items": {"enum": ["a", "b"]}}, ["a", "a"]),
        ({"type": "string", "minLength": 2}, "xx"),
        ({"anyOf": [{"const": 9}, {"type": "null"}]}, 9),
        ({"type": ["boolean", "null"]}, False),
        ({"$ref": "#/$defs/n", "$defs": {"n": {"type": "integer", "minimum": 1}}}, 1),
        ({}, None),
    ],
)
def test_the_least_value_of_a_schema(schema: Any, value: Any) -> None:
    assert least(schema) == value


def test_a_schema_without_end_comes_to_one() -> None:
    endless = {"type": "object", "properties": {"a": {"$ref": "#"}}, "required": ["a"]}
    assert "None" in str(least(endless))


def test_a_varied_example_asks_for_less_at_a_higher_price_and_differs_by_content() -> None:
    texts = set()
    for number in range(50):
        text = said(Settings(vary=0.3), asked(f"Seat {number}.\n{BID}")).text
        (line,) = json.loads(text)["bids"]
        assert line["item"] == "item1"
        assert 52 <= line["price"] <= 68
        assert 7 <= line["quantity"] <= 10
        texts.add(text)
    assert len(texts) > 10


def test_an_answer_ends_with_the_tokens_that_were_asked_for() -> None:
    short = said(Settings(), asked(max_tokens=3))
    assert (short.text, short.finish, short.completion_tokens) == (BID[:12], "length", 3)
    assert said(Settings(), asked(max_tokens=300)).finish == "stop"
