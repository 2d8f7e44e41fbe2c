"""A decision becomes a request, a reply an answer, and a recalled policy asks the same."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import pytest

from market import canonical
from market.environment import Answer, Cause, Decision, NoAction
from market.language import Request, ToolCall
from market.policies.prompts import NO_ANSWER
from market.policies.tokens import estimate_messages
from tests.market.arena.told_market import rules, turns
from tests.market.policies.bidder import ACTION, ARENA, GOOD, first, policy, reply


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


def test_the_schema_is_spelled_in_the_order_of_the_example() -> None:
    request = policy().act(first())
    assert request.schema is not None
    line = request.schema["properties"]["bids"]["items"]["properties"]
    assert list(line) == ["item", "price", "quantity"]


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
