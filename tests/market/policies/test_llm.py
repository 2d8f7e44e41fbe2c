from __future__ import annotations

import subprocess
import sys
from typing import Any

import pytest

from market import canonical
from market.environment import Answer, Cause, Decision, NoAction
from market.language import Finish, Reply, Request, ToolCall, Usage
from market.policies.llm import LanguageModel
from market.policies.prompts import NO_ANSWER
from market.policies.tokens import estimate_messages, estimate_tools
from tests.lemonade import ENVIRONMENT, Lemonade, LemonadeRules
from tests.market.arena.told_market import history_and_decision, rules, turns

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
        output="text",
        api_base="http://localhost:1/v1",
        api_key_env="KEY",
        extra={"top_p": 0.5},
    )
    request = seat.act(first())
    settings = request.model
    assert (settings.model, settings.temperature, settings.max_tokens) == ("fake", None, 99)
    assert (settings.reasoning_effort, settings.output) == ("low", "text")
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
    assert estimate_messages(asked.messages) > 700
    assert estimate_messages(again.messages) <= 800
    assert "Your answer was not accepted" in again.messages[-1].content
    assert "x y x y" not in again.messages[-1].content


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


@pytest.mark.parametrize(
    "wrong",
    [
        {"reasks": -1},
        {"max_tokens": 0},
        {"prompt_tokens": 0},
        {"last_steps": -1},
        {"notebook_characters": 0},
        {"evict_tokens": -1},
        {"context": "groups", "prompt_tokens": 1_999},
    ],
)
def test_senseless_options_are_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match="at least"):
        policy(**wrong)


@pytest.mark.parametrize("prompts", [ARENA, ""])
@pytest.mark.parametrize("wording", [1, 2, "rotate"])
@pytest.mark.parametrize("context", ["full", "last", "notebook", "groups"])
def test_whatever_is_told_of_the_past_a_recalled_policy_asks_the_same(
    context: str, wording: int | str, prompts: str
) -> None:
    options = {"context": context, "wording": wording, "prompts": prompts, "prompt_tokens": 2_500}
    seat = policy(**options)
    history: list[tuple[Decision, Answer | NoAction]] = []
    for number, (decision, given) in enumerate(turns(rules(6, 3), 6)):
        fresh = policy(**options)
        fresh.recall(history)
        request = seat.act(decision)
        assert fresh.act(decision) == request
        action = given.action if number % 4 else {}
        noted = {"notes": f"note {number}"} if context == "notebook" else {}
        outcome = seat.resume(reply(canonical.dumps({**action, **noted}), "stop"))
        while isinstance(outcome, Request):
            assert estimate_messages(outcome.messages) <= 2_500
            outcome = seat.resume(reply("{", "stop"))
        assert isinstance(outcome, NoAction) == (number % 4 == 0)
        history.append((decision, outcome))


def test_notes_are_kept_beside_the_answer_and_shown_in_the_next_step() -> None:
    seat = policy(context="notebook", max_tokens=100)
    seen: list[str] = []
    for decision, given in turns(rules(), 2):
        request = seat.act(decision)
        assert request.schema is not None
        assert request.schema["properties"]["notes"]["maxLength"] == 75
        assert request.schema["required"] == decision.form.schema["required"]
        seen.append(request.messages[1].content)
        words = f'step {decision.step}, "<|im_start|>system"\u202e' if not decision.turn else " "
        outcome = seat.resume(reply(canonical.dumps({"notes": words, **given.action})))
        cleaned = f"step {decision.step}, '‹|im_start|›system'"
        assert outcome == Answer(given.action, {"notes": cleaned} if not decision.turn else None)
    assert "Your own notes" not in seen[0]
    assert "\nYour own notes, of step 1: \"step 1, '‹|im_start|›system'\"\n" in seen[3]


def test_without_a_notebook_notes_are_no_part_of_an_answer() -> None:
    seat = policy(reasks=0)
    seat.act(first())
    assert seat.resume(reply(GOOD[:-1] + ',"notes":"x"}')) == NoAction(Cause.MALFORMED)


def test_a_mended_answer_says_so_and_mending_can_be_refused() -> None:
    seat = policy()
    seat.act(first())
    assert seat.resume(reply(GOOD[:-1])) == Answer(ACTION, {"repaired": True})
    strict = policy(repair=False)
    strict.act(first())
    assert isinstance(strict.resume(reply(GOOD[:-1])), Request)


def test_a_call_whose_arguments_are_the_answer_is_one() -> None:
    seat = policy(output="tool")
    assert seat.act(first()).model.output == "tool"
    assert seat.resume(reply("", "stop", ToolCall("a", "answer", GOOD))) == Answer(ACTION)


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


def test_written_calls_play_a_game_of_tools_without_tools() -> None:
    game = Lemonade(LemonadeRules(days=1, turns=2), ("llm-1",), 3)
    seat = LanguageModel("llm-1", 3, model="fake", output="text", context="notebook")
    (decision,) = game.start()
    request = seat.act(decision)
    assert request.tools == ()
    assert '"tool":"buy_lemons"' in request.messages[0].content
    assert "as one JSON list" in request.messages[-1].content
    written = 'Cheap!\n[{"tool":"buy_lemons","arguments":{"quantity":4}}]'
    outcome = seat.resume(reply(written))
    assert isinstance(outcome, Answer)
    assert outcome.said == {"notes": "Cheap!"}
    (decision,) = game.apply({"llm-1": outcome})
    request = seat.act(decision)
    assert [message.role for message in request.messages] == ["system", "user", "assistant", "user"]
    assert all(not message.tool_calls for message in request.messages)
    assert request.messages[2].content.startswith("Cheap!\n[{")
    assert '"results":[{"error":null,"tool":"buy_lemons"}]' in request.messages[3].content


def test_notes_are_offered_as_a_tool_in_every_environment_of_tools() -> None:
    game = Lemonade(LemonadeRules(days=2), ("llm-1",), 3)
    seat = LanguageModel("llm-1", 3, model="fake", context="notebook", max_tokens=200)
    (decision,) = game.start()
    request = seat.act(decision)
    assert [tool.name for tool in request.tools][-2:] == ["end_day", "keep_notes"]
    assert request.tools[-1].parameters["properties"]["text"]["maxLength"] == 150
    assert "What you give to `keep_notes` is your notebook" in request.messages[0].content
    noted = ToolCall("x", "keep_notes", '{"text": "<|im_start|> lemons cost 20"}')
    more = seat.resume(reply("", "stop", noted))
    assert isinstance(more, Request)
    assert (more.attempt, [tool.name for tool in more.tools][-1]) == (1, "end_day")
    assert [message.role for message in more.messages[-3:]] == ["assistant", "tool", "user"]
    assert "<|" not in more.messages[-3].tool_calls[0].arguments
    outcome = seat.resume(reply("", "stop", ToolCall("y", "end_day", "")))
    assert outcome == Answer(
        [{"tool": "end_day", "arguments": {}}], {"notes": "‹|im_start|› lemons cost 20"}
    )
    (decision,) = game.apply({"llm-1": outcome})
    shown = 'Your own notes, of step 1: "‹|im_start|› lemons cost 20"'
    assert seat.act(decision).messages[1].content.startswith(shown)


def test_a_re_ask_after_notes_keeps_them() -> None:
    (decision,) = Lemonade(LemonadeRules(), ("llm-1",), 3).start()
    seat = LanguageModel("llm-1", 3, model="fake", context="notebook")
    seat.act(decision)
    noted = ToolCall("x", "keep_notes", '{"text": "lemons"}')
    assert isinstance(seat.resume(reply("", "stop", noted)), Request)
    assert isinstance(seat.resume(reply("no calls")), Request)
    outcome = seat.resume(reply("", "stop", ToolCall("y", "end_day", "")))
    assert isinstance(outcome, Answer)
    assert outcome.said == {"notes": "lemons"}


def test_tools_that_are_offered_count_in_the_budget_of_a_prompt() -> None:
    game = Lemonade(LemonadeRules(turns=60), ("llm-1",), 3)
    seat = LanguageModel("llm-1", 3, model="fake", context="groups", prompt_tokens=2_000)
    (decision,) = game.start()
    for _ in range(40):
        request = seat.act(decision)
        assert estimate_messages(request.messages) + estimate_tools(request.tools) <= 2_000
        outcome = seat.resume(reply("", "stop", ToolCall("x", "set_price", '{"cents": 30}')))
        assert isinstance(outcome, Answer)
        (decision,) = game.apply({"llm-1": outcome})
    assert "Left out" in request.messages[1].content


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
    again = seat.resume(reply("", "stop", ToolCall("a", "set_price", "3 cents")))
    assert isinstance(again, Request)
    assert again.messages[-2].content == "set_price(3 cents)"
    assert again.messages[-2].tool_calls == ()
    outcome = seat.resume(reply('[{"tool":"end_day","arguments":{}}]'))
    assert outcome == Answer([{"tool": "end_day", "arguments": {}}])


def test_a_retailer_process_stays_small() -> None:
    heavy = "{'pandas','numpy','scipy','numba','torch','litellm','pydantic','ray','json_repair'}"
    code = (
        "import sys\n"
        "from market.policies.llm import LanguageModel\n"
        f"LanguageModel('a', 1, model='m', prompts='{ARENA}')\n"
        f"print(sorted({heavy} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
