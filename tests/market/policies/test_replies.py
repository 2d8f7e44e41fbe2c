from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from market.environment import Form
from market.language import Reply, ToolCall, Usage
from market.policies.replies import MAX_CHARACTERS, ReplyError, read
from tests.lemonade import FORM as TOOLS
from tests.market.arena.told_market import BID, SELL

USAGE = Usage("fake", 1, 1, None, None, 0.0)
BIDS = '{"bids":[{"item":"item1","quantity":2,"price":60}]}'
ACTION = {"bids": [{"item": "item1", "quantity": 2, "price": 60}]}


def said(text: str, *calls: ToolCall) -> Reply:
    return Reply(text, "stop", USAGE, calls)


@pytest.mark.parametrize(
    "text",
    [
        BIDS,
        f"  {BIDS}\n",
        f"```json\n{BIDS}\n```",
        f"```\n{BIDS}\n```",
        f"I think it's best to bid: {BIDS} That should win.",
        f'<think>maybe {{"bids":[]}} or not</think>\n{BIDS}',
        f"Considering {{items}} I bid {BIDS}",
    ],
)
def test_one_object_is_found_bare_fenced_or_in_prose(text: str) -> None:
    assert read(said(text), BID) == ACTION


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("", "no JSON object"),
        ("I bid 60 for item1", "no JSON object"),
        (BIDS + BIDS, "more than one"),
        (f"{BIDS} or rather {BIDS}", "more than one"),
        (BIDS[:-1], "not closed"),
        ('{"bids":[{"item":"item1","quantity":2,"price":60}', "not closed"),
        ("{'bids': []}", "not JSON"),
        ('{"bids":[],}', "not JSON"),
        ('{"bids":[{"item":"item1","quantity":NaN,"price":60}]}', "not JSON"),
        ('{"bids":[{"item":"item1","quantity":1e999,"price":60}]}', "not JSON"),
        ('{"bids":[{"item":"\\ud800","quantity":1,"price":60}]}', "not JSON"),
        ('{"bids":[{"item":"item1","quantity":' + "9" * 5000 + ',"price":60}]}', "not JSON"),
        ('{"bids":[{"item":"item1","quantity":"2","price":60}]}', "must be integer"),
        ('{"bids":[{"item":"item1","price":60}]}', "quantity"),
        ('{"bid":[]}', "bids"),
        ('{"bids":[],"more":' + "[" * 100_000 + "]" * 100_000 + "}", "not JSON"),
        ('{"bids":[],"x":"' + "y" * 70_000 + '"}', "too long"),
        ("{" * (MAX_CHARACTERS + 1), "too long"),
        ("__import__('os').system('true')", "no JSON object"),
    ],
)
def test_what_is_no_answer_is_refused_in_one_line(text: str, problem: str) -> None:
    with pytest.raises(ReplyError, match=problem) as caught:
        read(said(text), BID)
    assert len(str(caught.value)) <= 200
    assert str(caught.value).isprintable()


@given(st.text(alphabet='{}[]",:\\ab1 \n`', max_size=60))
def test_any_text_is_read_or_refused(text: str) -> None:
    anything = Form(schema={}, example={})
    try:
        action = read(said(text), anything)
    except ReplyError:
        return
    assert isinstance(action, dict)


def test_braces_and_quotes_inside_strings_do_not_count() -> None:
    text = 'So: {"prices":{"item1":60},"slogan":"a } b { \\" c"} Done.'
    assert read(said(text), SELL)["slogan"] == 'a } b { " c'


def test_tool_calls_become_a_list_in_their_order() -> None:
    reply = said(
        "on it",
        ToolCall("a", "buy_lemons", '{"quantity": 3}'),
        ToolCall("b", "end_day", ""),
    )
    assert read(reply, TOOLS) == [
        {"tool": "buy_lemons", "arguments": {"quantity": 3}},
        {"tool": "end_day", "arguments": {}},
    ]


@pytest.mark.parametrize(
    "text",
    ['[{"tool":"end_day","arguments":{}}]', '```json\n[{"tool":"end_day","arguments":{}}]\n```'],
)
def test_calls_written_as_json_are_calls(text: str) -> None:
    assert read(said(text), TOOLS) == [{"tool": "end_day", "arguments": {}}]
    assert read(said("[]"), TOOLS) == []


@pytest.mark.parametrize(
    ("reply", "problem"),
    [
        (said("I shall wait."), "no tool was called"),
        (said('{"tool":"end_day","arguments":{}}'), "no tool was called"),
        (said("", ToolCall("a", "rob_bank", "{}")), "no tool 'rob_bank'"),
        (said("", ToolCall("a", "buy_lemons", '{"quantity": 3')), "arguments of buy_lemons"),
        (said("", ToolCall("a", "buy_lemons", "[3]")), "not a JSON object"),
        (said("", ToolCall("a", "buy_lemons", '{"quantity": 0}')), "answer"),
        (said('["end_day"]'), "no tool 'end_day'"),
    ],
)
def test_calls_that_cannot_be_made_are_refused(reply: Reply, problem: str) -> None:
    with pytest.raises(ReplyError, match=problem):
        read(reply, TOOLS)
