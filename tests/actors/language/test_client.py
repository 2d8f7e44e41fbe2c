"""The client with real litellm, against a provider that plays a script."""

from __future__ import annotations

import logging
from dataclasses import replace
from typing import Any

import pytest

from actors.language.caps import Caps
from actors.language.client import LanguageClient
from actors.language.local import SLOTS, LocalModel
from market.language import Message, ModelSettings, Reply, ToolCall
from tests.actors.language.asking import BIDS, CANARY, ORDER, Asker, either_way, question
from tests.provider import Body, Fails, Provider, Says

PRICED = "openai/gpt-4o-mini"


@either_way
def test_an_answer_is_put_together_with_its_tokens(stream: bool) -> None:
    with Provider(Says('{"bids": []}', prompt_tokens=30, cached_tokens=20)) as provider:
        reply = Asker().reply(question(api_base=provider.api_base, stream=stream))
        assert bool(provider.asked[0].body.get("stream")) == stream
    assert (reply.text, reply.finish) == ('{"bids": []}', "stop")
    usage = reply.usage
    assert (usage.prompt_tokens, usage.completion_tokens, usage.cached_tokens) == (30, 7, 20)
    assert (usage.model, usage.tries) == ("stub-model-1", 1)
    assert usage.latency_seconds > 0


def test_the_conversation_and_settings_reach_the_provider() -> None:
    messages = (
        Message("system", "You sell."),
        Message("assistant", "", (ToolCall("c1", "order", '{"units": 1}'),)),
        Message("tool", "done", tool_call_id="c1"),
    )
    with Provider(Says("fine")) as provider:
        Asker().reply(
            question(
                api_base=provider.api_base,
                messages=messages,
                temperature=0.5,
                max_tokens=77,
                reasoning_effort="low",
                extra={"top_k": 3},
            )
        )
        body = provider.asked[0].body
    assert (body["model"], body["temperature"], body["max_tokens"]) == ("any", 0.5, 77)
    assert (body["reasoning_effort"], body["top_k"]) == ("low", 3)
    assert body["messages"][0] == {"role": "system", "content": "You sell."}
    assert body["messages"][1]["tool_calls"][0]["function"] == {
        "name": "order",
        "arguments": '{"units": 1}',
    }
    assert body["messages"][2] == {"role": "tool", "content": "done", "tool_call_id": "c1"}


def test_no_temperature_is_sent_for_none() -> None:
    with Provider(Says("fine")) as provider:
        Asker().reply(question(api_base=provider.api_base, temperature=None))
        assert "temperature" not in provider.asked[0].body


@pytest.mark.parametrize(
    ("model", "output", "sent"),
    [
        ("openai/any", "schema", True),
        ("openai/any", "auto", False),
        (PRICED, "auto", True),
        (PRICED, "text", False),
    ],
)
def test_a_schema_is_sent_when_wanted_or_when_the_provider_takes_it(
    model: str, output: str, sent: bool
) -> None:
    with Provider(Says("{}")) as provider:
        Asker().reply(question(model, api_base=provider.api_base, schema=BIDS, output=output))
        body = provider.asked[0].body
    assert ("response_format" in body) == sent
    if sent:
        wanted = {"name": "answer", "schema": BIDS, "strict": True}
        assert body["response_format"] == {"type": "json_schema", "json_schema": wanted}


@pytest.mark.parametrize(
    ("model", "output", "used"),
    [
        ("openai/any", "auto", "text"),
        ("openai/any", "tool", "tool"),
        ("openai/gpt-3.5-turbo", "auto", "tool"),
        (PRICED, "auto", "schema"),
        (PRICED, "tool", "tool"),
        (PRICED, "text", "text"),
    ],
)
def test_a_reply_says_how_it_was_asked_for(model: str, output: str, used: str) -> None:
    with Provider(Says("{}")) as provider:
        reply = Asker().reply(
            question(model, api_base=provider.api_base, schema=BIDS, output=output)
        )
        body = provider.asked[0].body
    assert reply.output == used
    assert ("response_format" in body, "tools" in body) == (used == "schema", used == "tool")
    if used == "tool":
        assert body["tools"][0]["function"]["parameters"] == BIDS
        assert body["tool_choice"] == {"type": "function", "function": {"name": "answer"}}


@either_way
def test_tool_calls_are_put_together_in_order(stream: bool) -> None:
    calls = (("order", '{"units": 12}'), ("order", '{"units": 3}'))
    with Provider(Says(calls=calls, finish="tool_calls")) as provider:
        reply = Asker().reply(question(api_base=provider.api_base, tools=(ORDER,), stream=stream))
        tools = provider.asked[0].body["tools"]
    assert tools[0]["function"]["name"] == "order"
    assert tools[0]["function"]["parameters"] == ORDER.parameters
    assert [(call.name, call.arguments) for call in reply.tool_calls] == list(calls)
    assert reply.finish == "stop"


@either_way
@pytest.mark.parametrize(
    ("said", "finish"),
    [
        (Says("half", finish="length"), "length"),
        (Says("no", finish="content_filter"), "refusal"),
        (Says(refusal="I would rather not."), "refusal"),
        (Fails(400, code="content_filter"), "refusal"),
    ],
)
def test_an_end_other_than_the_answers_own_is_told_apart(
    said: Says | Fails, finish: str, stream: bool
) -> None:
    with Provider(said) as provider:
        reply = Asker().reply(question(api_base=provider.api_base, stream=stream))
        assert reply.finish == finish
        assert len(provider.asked) == 1


def test_the_price_is_the_tables_and_unknown_is_not_zero() -> None:
    with Provider(Says("fine", prompt_tokens=1000, completion_tokens=100)) as provider:
        priced = Asker().reply(question(PRICED, api_base=provider.api_base))
        unpriced = Asker().reply(question("openai/any", api_base=provider.api_base))
    assert priced.usage.cost_usd == pytest.approx(1000 * 0.15e-6 + 100 * 0.60e-6)
    assert unpriced.usage.cost_usd is None


@either_way
def test_tokens_that_the_provider_does_not_count_are_unknown(stream: bool) -> None:
    with Provider(Says("fine", usage=False)) as provider:
        asked = question(PRICED, api_base=provider.api_base, stream=stream)
        usage = Asker().reply(asked).usage
    assert (usage.prompt_tokens, usage.completion_tokens, usage.cost_usd) == (None, None, None)


def test_no_key_is_in_any_text_or_log(
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
    capfd: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setenv("SHOP_KEY", CANARY)
    caplog.set_level(logging.DEBUG)
    echo = (Says(f"It is {CANARY}.", model=CANARY, calls=(("order", f'"{CANARY}"'),)),)
    with Provider(*echo, Fails(500, f"bad {CANARY}")) as provider:
        asked = question(api_base=provider.api_base, api_key_env="SHOP_KEY", tools=(ORDER,))
        reply = Asker().reply(asked)
        failure = Asker(tries=2).failure(asked)
    assert reply.text == "It is ***."
    captured = capfd.readouterr()
    for text in (repr(reply), repr(failure), caplog.text, captured.out, captured.err):
        assert CANARY not in text


@pytest.mark.filterwarnings("ignore:Pydantic serializer warnings")
@either_way
def test_names_in_an_answer_that_are_no_text_become_text(
    stream: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SHOP_KEY", CANARY)
    number: Any = 5
    with Provider(Says("fine", model=number)) as provider:
        asked = question(api_base=provider.api_base, api_key_env="SHOP_KEY", stream=stream)
        reply = Asker().reply(asked)
    assert (reply.text, reply.usage.model) == ("fine", "5")


def test_many_requests_at_once_are_each_answered() -> None:
    def echo(body: Body) -> Says:
        return Says(body["messages"][0]["content"], after=0.05)

    with Provider(echo) as provider:
        requests = [
            question(api_base=provider.api_base, messages=(Message("user", f"seat {seat}"),))
            for seat in range(20)
        ]
        replies = Asker().ask(*requests)
        assert len(provider.asked) == 20
    texts = [reply.text for reply in replies if isinstance(reply, Reply)]
    assert texts == [f"seat {seat}" for seat in range(20)]


@pytest.mark.parametrize("caps", [{}, {"local": Caps(requests_per_minute=60)}])
def test_no_more_requests_are_sent_to_the_local_model_than_it_works_on(
    caps: dict[str, Caps],
) -> None:
    with Provider(Says("fine", after=0.05)) as provider:

        class Elsewhere(LocalModel):
            def start(self) -> str:
                return provider.api_base

        replies = Asker(local=Elsewhere(), caps=caps).ask(*[question("local")] * 10)
        assert len(provider.asked) == 10
        assert 1 < provider.most_at_once <= SLOTS
    assert all(isinstance(reply, Reply) and reply.usage.cost_usd == 0.0 for reply in replies)


@pytest.mark.parametrize(
    ("settings", "part"),
    [
        (ModelSettings("openai/any", api_key_env="SHOP_KEY"), "SHOP_KEY"),
        (ModelSettings("openai/gpt-4o-mini"), "OPENAI_API_KEY"),
        (ModelSettings("nobody/any"), "'nobody/any'"),
        (ModelSettings("openai/any", extra={"num_retries": 3}), "'num_retries'"),
        (ModelSettings("openai/any", extra={"additional_drop_params": ["max_tokens"]}), "drop_"),
        (ModelSettings("openai/any", extra={"extra_body": {"max_tokens": 9}}), "body.max_tokens'"),
        (ModelSettings("openai/any", extra={"extra_body": {"n": 9}}), "'extra_body.n'"),
        (ModelSettings("openai/any", extra={"n": "9"}), "must be a whole number"),
    ],
)
def test_what_cannot_work_is_known_before_anything_is_sent(
    settings: ModelSettings, part: str
) -> None:
    problem = LanguageClient().check(settings)
    assert problem is not None
    assert part in problem
    failure = Asker().failure(replace(question(), model=settings))
    assert (failure.cause, failure.message) == ("rejected", problem)


def test_nothing_speaks_against_a_model_whose_key_is_there(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", CANARY)
    client = LanguageClient()
    assert client.check(ModelSettings("openai/gpt-4o-mini")) is None
    assert client.check(ModelSettings("openai/any", api_base="http://127.0.0.1:9/v1")) is None
