from __future__ import annotations

import subprocess
import sys

import pytest

from market import canonical
from market.environment import Answer, Cause, Decision, NoAction
from market.language import Finish, Reply, Request, ToolCall, Usage
from market.policies.llm import LanguageModel
from market.policies.prompts import NO_ANSWER
from tests.lemonade import ENVIRONMENT, Lemonade, LemonadeRules
from tests.market.arena.told_market import rules, turns

USAGE = Usage("fake", 1, 1, None, None, 0.0)
ARENA = "market.arena.prompts:ArenaPrompts"
GOOD = '{"bids":[{"item":"item1","quantity":2,"price":60}]}'
ACTION = {"bids": [{"item": "item1", "quantity": 2, "price": 60}]}


def reply(text: str, finish: Finish = "stop", *calls: ToolCall) -> Reply:
    return Reply(text, finish, USAGE, calls)


def policy(**options: object) -> LanguageModel:
    return LanguageModel("llm-1", 7, **{"model": "fake", "prompts": ARENA, **options})  # type: ignore[arg-type]


def first() -> Decision:
    return next(turns(rules(), 1))[0]


def test_a_decision_becomes_a_request_with_the_settings_of_the_seat() -> None:
    seat = policy(
        temperature=None,
        max_tokens=99,
        reasoning_effort="low",
        structured="text",
        api_base="http://localhost:1/v1",
        api_key_env="KEY",
        extra={"top_p": 0.5},
    )
    request = seat.act(first())
    settings = request.model
    assert (settings.model, settings.temperature, settings.max_tokens) == ("fake", None, 99)
    assert (settings.reasoning_effort, settings.structured) == ("low", "text")
    assert (settings.api_base, settings.api_key_env) == ("http://localhost:1/v1", "KEY")
    assert settings.extra == {"top_p": 0.5}
    assert request.schema is not None
    assert request.schema["properties"]["bids"]["maxItems"] == 3  # what 99 tokens can hold
    assert (request.tools, request.attempt) == ((), 0)
    assert [message.role for message in request.messages] == ["system", "user"]


def test_a_good_reply_is_the_answer() -> None:
    seat = policy()
    seat.act(first())
    assert seat.resume(reply(f"Here: {GOOD}")) == Answer(ACTION)


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
    assert len(again.messages) == len(asked.messages)
    assert again.messages[-1].content.startswith(asked.messages[-1].content)


def test_the_schema_is_spelled_in_the_order_of_the_example() -> None:
    request = policy().act(first())
    assert request.schema is not None
    line = request.schema["properties"]["bids"]["items"]["properties"]
    assert list(line) == ["item", "price", "quantity"]


def test_failed_attempts_leave_no_trace_in_later_prompts() -> None:
    def second_prompt(*replies: str) -> Request:
        seat = policy()
        (one, _), (two, _), *_ = turns(rules(), 1)
        seat.act(one)
        for text in replies:
            seat.resume(reply(text))
        return seat.act(two)

    assert second_prompt(GOOD) == second_prompt("nonsense", GOOD)


def test_a_recalled_policy_asks_what_the_old_one_would_have_asked() -> None:
    seat = policy()
    history: list[tuple[Decision, Answer | NoAction]] = []
    for decision, _ in turns(rules(), 3):
        fresh = policy()
        fresh.recall(history)
        assert fresh.act(decision) == seat.act(decision)
        outcome = seat.resume(reply(GOOD if decision.kind == "bid" else "no", "refusal"))
        assert isinstance(outcome, NoAction)
        history.append((decision, outcome))


def test_a_turn_nobody_came_back_for_passed() -> None:
    seat, recalled = policy(), policy()
    (one, _), (two, _), *_ = turns(rules(), 1)
    seat.act(one)
    recalled.recall([(one, NoAction(Cause.CRASHED))])
    asked = seat.act(two)
    assert asked == recalled.act(two)
    assert [message.role for message in asked.messages] == ["system", "user"]
    assert f"\n\n{NO_ANSWER}\nRound 1:" in asked.messages[-1].content


def test_a_reply_that_nobody_asked_for_is_a_bug() -> None:
    with pytest.raises(RuntimeError, match="asked nothing"):
        policy().resume(reply(GOOD))


@pytest.mark.parametrize("wrong", [{"reasks": -1}, {"max_tokens": 0}, {"prompt_tokens": 0}])
def test_senseless_options_are_refused(wrong: dict[str, int]) -> None:
    with pytest.raises(ValueError, match="must be at least"):
        policy(**wrong)


def test_a_whole_game_of_tool_calls_is_played_without_a_model() -> None:
    seats = ("llm-1", "llm-2")
    game = Lemonade(LemonadeRules(days=2), seats, 3)
    players = {
        seat: LanguageModel(seat, 3, model="fake", prompts=ENVIRONMENT.prompts) for seat in seats
    }
    decisions, calls = game.start(), 0
    while decisions:
        answers = {}
        for decision in decisions:
            request = players[decision.seat].act(decision)
            assert request.schema is None
            assert [tool.name for tool in request.tools] == ["buy_lemons", "set_price", "end_day"]
            made = (
                ToolCall("x", "buy_lemons", '{"quantity": 4}'),
                ToolCall("y", "set_price", '{"cents": 30}'),
            )
            if decision.turn:
                made = (ToolCall("z", "end_day", ""),)
            outcome = players[decision.seat].resume(reply("", "stop", *made))
            assert isinstance(outcome, Answer)
            answers[decision.seat] = outcome
            calls += len(made)
        decisions = game.apply(answers)
    assert calls == 12
    assert set(game.result.seats) == set(seats)


def test_a_text_without_calls_is_asked_again_in_a_tool_environment() -> None:
    (decision,) = Lemonade(LemonadeRules(), ("llm-1",), 3).start()
    seat = LanguageModel("llm-1", 3, model="fake")
    seat.act(decision)
    again = seat.resume(reply("I will sell a lot."))
    assert isinstance(again, Request)
    assert "buy_lemons, set_price, end_day" in again.messages[-1].content
    again = seat.resume(reply("", "stop", ToolCall("a", "set_price", "{cents: 3}")))
    assert isinstance(again, Request)
    assert again.messages[-2].content == "set_price({cents: 3})"
    assert again.messages[-2].tool_calls == ()
    outcome = seat.resume(reply('[{"tool":"end_day","arguments":{}}]'))
    assert outcome == Answer([{"tool": "end_day", "arguments": {}}])


def test_a_retailer_process_stays_small() -> None:
    heavy = "{'pandas','numpy','scipy','numba','torch','litellm','pydantic','ray'}"
    code = (
        "import sys\n"
        "from market.policies.llm import LanguageModel\n"
        f"LanguageModel('a', 1, model='m', prompts='{ARENA}')\n"
        f"print(sorted({heavy} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
