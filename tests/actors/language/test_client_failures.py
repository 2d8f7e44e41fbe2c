"""How the client fails, and tries again, with real litellm against a provider of failures."""

from __future__ import annotations

import time
from typing import Any

import pytest

from tests.actors.language.asking import CANARY, Asker, either_way, question
from tests.provider import Drops, Fails, Hangs, Provider, Says


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
