from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from market.environment import Form
from market.language import Reply, ToolCall, Usage
from market.policies.replies import MAX_CHARACTERS, MAX_REPAIRED, Read, ReplyError, read
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
    assert read(said(text), BID) == Read(ACTION)


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


@given(st.text(alphabet='{}[]",:\\ab1 \n`', max_size=60), st.booleans())
def test_any_text_is_read_or_refused(text: str, repair: bool) -> None:
    anything = Form(schema={}, example={})
    try:
        action = read(said(text), anything, repair).action
    except ReplyError:
        return
    assert isinstance(action, dict)


def test_braces_and_quotes_inside_strings_do_not_count() -> None:
    text = 'So: {"prices":{"item1":60},"slogan":"a } b { \\" c"} Done.'
    assert read(said(text), SELL).action["slogan"] == 'a } b { " c'


def test_tool_calls_become_a_list_in_their_order() -> None:
    reply = said(
        "on it",
        ToolCall("a", "buy_lemons", '{"quantity": 3}'),
        ToolCall("b", "end_day", ""),
    )
    assert read(reply, TOOLS).action == [
        {"tool": "buy_lemons", "arguments": {"quantity": 3}},
        {"tool": "end_day", "arguments": {}},
    ]


@pytest.mark.parametrize(
    "text",
    ['[{"tool":"end_day","arguments":{}}]', '```json\n[{"tool":"end_day","arguments":{}}]\n```'],
)
def test_calls_written_as_json_are_calls(text: str) -> None:
    assert read(said(text), TOOLS).action == [{"tool": "end_day", "arguments": {}}]
    assert read(said("[]"), TOOLS).action == []


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


@pytest.mark.parametrize(
    "text",
    [
        BIDS[:-1],
        BIDS.replace(',"quantity"', ' "quantity"'),
        BIDS.replace('"', "'"),
        f"{BIDS[:-1]},}}",
        f"My bid:\n```json\n{BIDS[:-1]},}}\n```\nGood luck!",
        "{bids: [{item: 'item1', quantity: 2, price: 60}]}",
        "I like {items}. {'bids': [{'item': 'item1', 'quantity': 2, 'price': 60}]}",
    ],
)
def test_json_that_is_nearly_right_is_mended_and_that_is_told(text: str) -> None:
    with pytest.raises(ReplyError):
        read(said(text), BID)
    assert read(said(text), BID, repair=True) == Read(ACTION, repaired=True)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "I bid 60 for item1",
        BIDS + BIDS,
        f"{BIDS} or rather {BIDS[:-1]}",
        "{'bids': []} {'bids': [{'item': 'a', 'quantity': 1, 'price': 1}]}",
        "{'bid': []}",
        "{'bids': [{'item': 'item1', 'quantity': '2', 'price': 60}]}",
        '{"bids":[{"item":"item1","quantity":NaN,"price":60}]}',
        '{"bids":[{"item":"item1","quantity":1e999,"price":60}]}',
        '{"bids":[{"item":"item1","quantity":2,"price":1,200}]}',
        '{"bids":[{"item":"item1","quan',
    ],
)
def test_mending_decides_nothing(text: str) -> None:
    with pytest.raises(ReplyError):
        read(said(text), BID, repair=True)


def test_an_answer_cut_at_the_token_limit_is_not_completed() -> None:
    for text in (BIDS[:-1], BIDS[:-2]):
        with pytest.raises(ReplyError, match="not closed"):
            read(Reply(text, "length", USAGE), BID, repair=True)


@pytest.mark.parametrize(
    "text",
    ["{" * 5_000, '{"a":' + "[" * 5_000, "{" + '"' * 7_000, "{'a " * 2_000, "{" + "x" * 200_000],
)
def test_hostile_text_is_refused_in_good_time(text: str) -> None:
    started = time.process_time()
    with pytest.raises(ReplyError):
        read(said(text), BID, repair=True)
    assert time.process_time() - started < 5


def test_no_text_that_is_too_long_reaches_the_library() -> None:
    broken = BIDS[:-1]
    assert read(said(broken.ljust(MAX_REPAIRED)), BID, repair=True).repaired
    with pytest.raises(ReplyError):
        read(said(broken + " " * MAX_REPAIRED + "."), BID, repair=True)


def test_arguments_and_written_calls_are_mended_alike() -> None:
    wanted = [{"tool": "buy_lemons", "arguments": {"quantity": 3}}]
    called = said("", ToolCall("a", "buy_lemons", "{'quantity': 3"))
    assert read(called, TOOLS, repair=True) == Read(wanted, repaired=True)
    written = said("[{'tool': 'buy_lemons', 'arguments': {'quantity': 3}}]")
    assert read(written, TOOLS, repair=True) == Read(wanted, repaired=True)


def test_the_arguments_of_one_call_may_be_the_answer() -> None:
    assert read(said("", ToolCall("a", "answer", BIDS)), BID) == Read(ACTION)
    with pytest.raises(ReplyError, match="more than one answer"):
        read(said("", *[ToolCall("a", "answer", BIDS)] * 2), BID)


def test_notes_are_taken_from_beside_the_action_where_they_are_asked_for() -> None:
    noted = f'{{"notes":"buy low",{BIDS[1:]}'
    assert read(said(noted), BID, notes=True) == Read(ACTION, "buy low")
    assert read(said(BIDS), BID, notes=True) == Read(ACTION)
    assert read(said(noted.replace('"buy low"', "[1]")), BID, notes=True) == Read(ACTION)
    with pytest.raises(ReplyError, match="notes"):
        read(said(noted), BID)


def test_notes_stand_before_written_calls_and_are_a_call_beside_others() -> None:
    end = [{"tool": "end_day", "arguments": {}}]
    written = said('Lemons cost 20.\n[{"tool":"end_day","arguments":{}}]')
    assert read(written, TOOLS, notes=True) == Read(end, "Lemons cost 20.\n")
    noting = ToolCall("b", "keep_notes", '{"text": "Lemons cost 20."}')
    called = said("Let me end it.", ToolCall("a", "end_day", ""), noting)
    assert read(called, TOOLS, notes=True) == Read(end, "Lemons cost 20.")
    assert read(said("", noting), TOOLS, notes=True) == Read([], "Lemons cost 20.")


def test_what_is_said_beside_calls_is_no_note() -> None:
    called = said("Let me end it.", ToolCall("a", "end_day", ""))
    assert read(called, TOOLS, notes=True).notes == ""


@pytest.mark.parametrize("arguments", ["{}", '{"text": 3}', "[]"])
def test_notes_without_a_text_are_asked_for_again(arguments: str) -> None:
    with pytest.raises(ReplyError, match="keep_notes"):
        read(said("", ToolCall("a", "keep_notes", arguments)), TOOLS, notes=True)


def test_without_a_notebook_there_is_no_tool_for_notes() -> None:
    with pytest.raises(ReplyError, match="no tool 'keep_notes'"):
        read(said("", ToolCall("a", "keep_notes", '{"text": "x"}')), TOOLS)
