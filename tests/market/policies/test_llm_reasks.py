"""What is no answer is asked for again: so often, within the prompt, and without a trace."""

from __future__ import annotations

import pytest

from market import canonical
from market.environment import Answer, Cause, NoAction
from market.language import Request
from market.policies.tokens import estimate_messages
from tests.market.arena.told_market import history_and_decision, rules, turns
from tests.market.policies.bidder import ACTION, GOOD, first, policy, reply


def test_a_malformed_reply_is_asked_again_with_the_error_and_the_example() -> None:
    seat = policy()
    asked = seat.act(first())
    again = seat.resume(reply('{"bids":[{"item":"item1","quantity":"2","price":60}]}'))
    assert isinstance(again, Request)
    assert again.attempt == 1
    assert again.messages[:2] == asked.messages
    wrong, complaint = again.messages[2:]
    assert (wrong.role, complaint.role) == ("assistant", "user")
    first_line, *_, last_line = complaint.content.splitlines()
    assert first_line.startswith("Your answer was not accepted: ")
    assert "must be integer" in first_line
    assert last_line == asked.messages[-1].content.splitlines()[-1]
    assert seat.resume(reply(GOOD)) == Answer(ACTION)


@pytest.mark.parametrize("reasks", [0, 1, 2, 5])
def test_after_the_re_asks_a_malformed_turn_passes(reasks: int) -> None:
    seat = policy(reasks=reasks)
    seat.act(first())
    for attempt in range(1, reasks + 1):
        again = seat.resume(reply("no idea {"))
        assert isinstance(again, Request)
        assert again.attempt == attempt
        assert len(again.messages) == 4
    assert seat.resume(reply("no idea")) == NoAction(Cause.MALFORMED)


def test_a_refusal_is_final_at_once() -> None:
    seat = policy()
    seat.act(first())
    assert seat.resume(reply("I cannot help with that", "refusal")) == NoAction(Cause.REFUSED)


def test_a_truncated_reply_is_asked_again_once() -> None:
    seat = policy(reasks=5, max_tokens=33)
    seat.act(first())
    again = seat.resume(reply(GOOD[:20], "length"))
    assert isinstance(again, Request)
    assert again.attempt == 1
    assert "cut off after 33 tokens" in again.messages[-1].content
    assert seat.resume(reply(GOOD[:20], "length")) == NoAction(Cause.TRUNCATED)


def test_a_whole_answer_counts_although_the_reply_was_cut_behind_it() -> None:
    seat = policy()
    seat.act(first())
    assert seat.resume(reply(f"{GOOD} This will win because", "length")) == Answer(ACTION)


def test_without_re_asks_a_truncated_turn_passes() -> None:
    seat = policy(reasks=0)
    seat.act(first())
    assert seat.resume(reply("{", "length")) == NoAction(Cause.TRUNCATED)


def test_a_failed_attempt_comes_back_bounded_and_clean() -> None:
    seat = policy()
    seat.act(first())
    again = seat.resume(reply("{<|im_start|>system\n" + "\ud800x" * 10_000))
    assert isinstance(again, Request)
    shown = again.messages[-2].content
    shown.encode()
    assert len(shown) <= 300
    assert "<|" not in shown


@pytest.mark.parametrize("text", ["", "I am a bidder. I am a bidder."])
def test_a_reply_that_was_no_attempt_does_not_come_back(text: str) -> None:
    seat = policy()
    asked = seat.act(first())
    again = seat.resume(reply(text))
    assert isinstance(again, Request)
    assert len(again.messages) == 2
    assert again.messages[0] == asked.messages[0]
    complaint = again.messages[1].content.removeprefix(asked.messages[1].content)
    assert complaint.startswith("\n\nYour answer was not accepted: there is no JSON object")


def test_a_failed_attempt_does_not_come_back_where_the_prompt_is_full() -> None:
    seat = policy(prompt_tokens=800)
    for decision, given in turns(rules(), 1):
        asked = seat.act(decision)
        if decision.kind == "bid":
            seat.resume(reply(canonical.dumps(given.action)))
    again = seat.resume(reply("{" + "x y " * 300))
    assert isinstance(again, Request)
    assert estimate_messages(asked.messages) > 700
    assert estimate_messages(again.messages) <= 800
    assert "Your answer was not accepted" in again.messages[-1].content
    assert "x y x y" not in again.messages[-1].content


def test_failed_attempts_leave_no_trace_in_later_prompts() -> None:
    def second_prompt(*replies: str) -> Request:
        seat = policy()
        (one, _), (two, _), *_ = turns(rules(), 1)
        seat.act(one)
        for text in replies:
            seat.resume(reply(text))
        return seat.act(two)

    assert second_prompt(GOOD) == second_prompt("nonsense", GOOD)


@pytest.mark.parametrize("tokens", [800, 1_000, 2_500])
@pytest.mark.parametrize("text", ["", "no idea", "{" + "x y " * 300, '{"bids":' + "9" * 900])
def test_a_re_ask_keeps_to_the_budget(tokens: int, text: str) -> None:
    for turn in range(3):
        seat = policy(prompt_tokens=tokens)
        past, decision = history_and_decision(rules(), 3, turn)
        seat.recall(past)
        seat.act(decision)
        again = seat.resume(reply(text))
        assert isinstance(again, Request)
        assert estimate_messages(again.messages) <= tokens
        assert "Your answer was not accepted" in again.messages[-1].content
