"""The client with real litellm, against a provider that plays a script."""

from __future__ import annotations

import logging
import time
from dataclasses import replace
from typing import Any

import pytest

from actors.language.caps import Caps
from actors.language.client import LanguageClient
from actors.language.local import SLOTS, LocalModel
from market.language import Message, ModelSettings, Reply, ToolCall
from tests.actors.language.asking import BIDS, CANARY, ORDER, Asker, question
from tests.provider import Body, Drops, Fails, Hangs, Provider, Says

PRICED = "openai/gpt-4o-mini"

either_way = pytest.mark.parametrize("stream", [False, True], ids=["whole", "streamed"])


@pytest.fixture(autouse=True)
def _no_keys(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)


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


def test_a_rate_limit_is_waited_out_as_long_as_the_provider_asks() -> None:
    asker = Asker()
    with Provider(Fails(429, retry_after="7"), Fails(429), Says("now")) as provider:
        reply = asker.reply(question(api_base=provider.api_base))
        assert len(provider.asked) == 3
    assert (reply.text, reply.usage.tries) == ("now", 3)
    assert 7 <= asker.waits[0] <= 8
    assert 0 <= asker.waits[1] <= 2


@either_way
@pytest.mark.parametrize(
    ("entry", "cause"),
    [
        (Fails(429), "rate_limit"),
        (Fails(500), "server"),
        (Fails(503), "server"),
        (Drops(), "unreachable"),
        (Says("ha", ends=False), "unreachable"),
    ],
)
def test_retries_are_not_multiplied_by_another_layer(
    entry: Fails | Drops, cause: str, stream: bool
) -> None:
    asker = Asker(tries=3)
    with Provider(entry) as provider:
        failure = asker.failure(question(api_base=provider.api_base, stream=stream))
        assert len(provider.asked) == 3
    assert failure.cause == cause
    assert "3 tries" in failure.message
    assert len(asker.waits) == 2


@pytest.mark.parametrize(
    "entry",
    [
        Fails(400, "temperature is too high"),
        Fails(401, f"Incorrect key: {CANARY}."),
        Fails(402),
        Fails(403),
        Fails(404, "no such model"),
        Fails(422),
        Fails(429, code="insufficient_quota"),
    ],
)
def test_what_would_be_rejected_again_is_not_retried(
    entry: Fails, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SHOP_KEY", CANARY)
    with Provider(entry) as provider:
        failure = Asker().failure(question(api_base=provider.api_base, api_key_env="SHOP_KEY"))
        assert len(provider.asked) == 1
        assert provider.asked[0].authorization == f"Bearer {CANARY}"
    assert failure.cause == "rejected"
    assert failure.message.startswith("The model 'openai/any' rejected the request: ")
    assert failure.message.endswith(".")
    assert "\n" not in failure.message
    assert "litellm" not in failure.message.lower()
    assert CANARY not in failure.message


def test_a_wait_beyond_all_patience_is_a_failure_at_once() -> None:
    asker = Asker()
    with Provider(Fails(429, retry_after="86400")) as provider:
        failure = asker.failure(question(api_base=provider.api_base))
        assert len(provider.asked) == 1
    assert failure.cause == "rate_limit"
    assert asker.waits == []


@pytest.mark.parametrize(
    "header",
    [
        "Fri, 01 Jan 2100 00:00:00 +99999999999999",
        "Fri, 01 Jan 2100 00:00:00 GMT",
        "Fri, 99 Jan 99999999 00:00:00 GMT",
        "9" * 5000,
        "inf",
        "nan",
        "soon",
    ],
)
def test_whatever_a_provider_asks_to_wait_nobody_waits_for_ever(header: str) -> None:
    asker = Asker(tries=2)
    with Provider(Fails(429, retry_after=header)) as provider:
        failure = asker.failure(question(api_base=provider.api_base))
    assert failure.cause == "rate_limit"
    assert sum(asker.waits) < 60


def test_an_error_whose_code_is_no_text_is_a_failure_like_any_other() -> None:
    odd: Any = {"insufficient_quota": ["content_filter"]}
    with Provider(Fails(429, code=odd), Fails(400, code=odd)) as provider:
        failure = Asker().failure(question(api_base=provider.api_base))
        assert len(provider.asked) == 2
    assert failure.cause == "rejected"


@pytest.mark.parametrize(
    "api_base",
    ["http://[bad", "localhost:18123/v1", "ftp://host/v1", "http://", "http://host:x", ""],
)
def test_what_is_no_address_is_rejected_and_not_tried(api_base: str) -> None:
    asker = Asker()
    failure = asker.failure(question(api_base=api_base))
    assert (failure.cause, failure.unsure, asker.waits) == ("rejected", 0, [])
    assert "write one such as http://localhost:8000/v1." in failure.message


@either_way
def test_a_provider_that_hangs_is_given_up_at_the_timeout(stream: bool) -> None:
    started = time.monotonic()
    with Provider(Hangs(), Says("awake")) as provider:
        asker = Asker(timeout_seconds=0.5)
        reply = asker.reply(question(api_base=provider.api_base, stream=stream))
        assert len(provider.asked) == 2
    assert (reply.text, reply.usage.tries) == ("awake", 2)
    assert time.monotonic() - started < 10


@either_way
def test_tries_that_may_have_been_worked_on_are_counted(stream: bool) -> None:
    script = (Fails(500), Hangs(), Drops(), Says("broken", ends=False), Fails(429), Says("fine"))
    with Provider(*script) as provider:
        asker = Asker(tries=9, timeout_seconds=0.5)
        reply = asker.reply(question(api_base=provider.api_base, stream=stream))
    # Neither a 500 nor a 429 is billed; what hung, was lost or broke off may be.
    assert (reply.text, reply.usage.tries, reply.usage.unsure) == ("fine", 6, 3)


def test_where_no_connection_was_nothing_was_worked_on() -> None:
    with Provider(Drops()) as provider:
        lost = Asker().failure(question(api_base=provider.api_base))
        tries = len(provider.asked)
    nowhere = Asker().failure(question(api_base="http://127.0.0.1:9/v1"))
    nobody = Asker().failure(question(api_base="http://nobody.invalid/v1"))
    assert lost.unsure == tries > 1
    assert (nowhere.cause, nowhere.unsure) == ("unreachable", 0)
    assert (nobody.cause, nobody.unsure) == ("unreachable", 0)


def test_a_provider_that_never_answers_in_time_is_told_from_one_that_is_not_there() -> None:
    with Provider(Hangs()) as provider:
        asker = Asker(tries=2, timeout_seconds=0.3)
        failure = asker.failure(question(api_base=provider.api_base))
    assert failure.cause == "deadline"
    assert "did not answer in time (2 tries): no answer within 0.3 seconds." in failure.message


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
