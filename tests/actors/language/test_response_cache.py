"""Equal requests share an answer where the model always answers the same."""

from __future__ import annotations

import asyncio
import sqlite3
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from actors.language.client import LanguageClient
from actors.language.response_cache import ResponseCache, ResponseCacheError, is_shared
from market.language import Message, ModelSettings, ProviderFailure, Reply, Request
from tests.actors.language.asking import BIDS, CANARY, ORDER, Asker, question
from tests.provider import Fails, Provider, Says


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "answers.sqlite"


def asking(path: Path, **client: Any) -> Asker:
    return Asker(cache=ResponseCache(path), **client)


def test_a_request_that_was_answered_is_not_sent_again_by_any_client(path: Path) -> None:
    with Provider(Says("fine", calls=(("order", '{"units": 1}'),), cached_tokens=4)) as provider:
        asked = question("openai/gpt-4o-mini", api_base=provider.api_base, tools=(ORDER,))
        first = asking(path).reply(asked)
        again = asking(path).reply(asked)
        assert len(provider.asked) == 1
    assert (again.text, again.finish, again.tool_calls, again.output) == (
        first.text,
        first.finish,
        first.tool_calls,
        first.output,
    )
    assert not first.usage.cached
    assert first.usage.cost_usd
    assert again.usage == replace(
        first.usage, cached=True, cost_usd=0.0, tries=0, latency_seconds=0.0
    )


def test_equal_requests_under_way_are_one(path: Path) -> None:
    with Provider(Says("fine", after=0.1)) as provider:
        replies = asking(path).ask(*[question(api_base=provider.api_base)] * 10)
        assert len(provider.asked) == 1
    assert [reply.usage.cached for reply in replies if isinstance(reply, Reply)] == [
        False,
        *[True] * 9,
    ]


def test_a_failure_is_shared_by_those_who_wait_and_by_no_one_later(path: Path) -> None:
    with Provider(Fails(400), Says("fine")) as provider:
        asked = question(api_base=provider.api_base)
        together = asking(path).ask(asked, asked)
        assert len(provider.asked) == 1
        later = asking(path).reply(asked)
    assert all(isinstance(failure, ProviderFailure) for failure in together)
    assert later.text == "fine"


@pytest.mark.parametrize(
    "other",
    [
        {"max_tokens": 9},
        {"reasoning_effort": "low"},
        {"extra": {"seed": 2}},
        {"schema": BIDS, "output": "schema"},
        {"schema": BIDS, "output": "tool"},
        {"tools": (ORDER,)},
        {"messages": (Message("user", "What do you bid?\n"),)},
        {"messages": (Message("system", "What do you bid?"),)},
        {"model": "openai/other"},
    ],
)
def test_whatever_may_change_the_answer_makes_another_request(
    path: Path, other: dict[str, Any]
) -> None:
    with Provider(Says("fine")) as provider:
        one = question(api_base=provider.api_base)
        asking(path).ask(one, question(**other, api_base=provider.api_base))
        assert len(provider.asked) == 2


def test_another_address_is_another_model(path: Path) -> None:
    with Provider(Says("here")) as here, Provider(Says("there")) as there:
        texts = [
            asking(path).reply(question(api_base=provider.api_base)).text
            for provider in (here, there)
        ]
    assert texts == ["here", "there"]


def test_how_an_answer_travels_and_which_ask_it_is_are_no_part_of_the_request(path: Path) -> None:
    with Provider(Says("fine")) as provider:
        one = question(api_base=provider.api_base)
        asking(path).reply(one)
        asking(path).reply(replace(one, attempt=1))
        asking(path).reply(question(api_base=provider.api_base, stream=True))
        assert len(provider.asked) == 1


@pytest.mark.parametrize(
    ("temperature", "cache", "shared"),
    [
        (0.0, "auto", True),
        (0.7, "auto", False),
        (None, "auto", False),
        (0.7, "on", True),
        (None, "on", True),
        (0.0, "off", False),
    ],
)
def test_answers_that_are_meant_to_vary_are_shared_only_when_asked(
    path: Path, temperature: float | None, cache: Any, shared: bool
) -> None:
    settings = ModelSettings("openai/any", temperature=temperature, cache=cache)
    assert is_shared(settings) == shared
    with Provider(Says("fine")) as provider:
        asked = question(api_base=provider.api_base, temperature=temperature, cache=cache)
        asking(path).ask(asked, asked)
        assert len(provider.asked) == (1 if shared else 2)


@pytest.mark.parametrize("said", [Says("no", finish="content_filter"), Says("")])
def test_refusals_and_empty_answers_are_asked_for_again(path: Path, said: Says) -> None:
    with Provider(said, Says("fine")) as provider:
        asked = question(api_base=provider.api_base)
        asking(path).reply(asked)
        assert asking(path).reply(asked).text == "fine"


def test_a_call_ends_when_nobody_waits_for_it_and_not_before(path: Path) -> None:
    async def main(request: Request) -> Reply | ProviderFailure:
        client = LanguageClient(cache=ResponseCache(path))
        await client.warm_up()
        first, second = (asyncio.ensure_future(client.complete(request)) for _ in range(2))
        await asyncio.sleep(0.2)
        first.cancel()  # the one who asked; the other joined
        reply = await second
        alone = asyncio.ensure_future(client.complete(replace(request, messages=())))
        await asyncio.sleep(0.2)
        alone.cancel()
        await asyncio.gather(alone, return_exceptions=True)
        assert len(asyncio.all_tasks() - {asyncio.current_task()}) <= 1  # litellm keeps one
        await client.close()
        return reply

    with Provider(Says("fine", after=0.5)) as provider:
        reply = asyncio.run(main(question(api_base=provider.api_base)))
        assert len(provider.asked) == 2
    assert isinstance(reply, Reply)


def test_who_still_waits_is_told_the_price_when_the_one_who_asked_is_gone(path: Path) -> None:
    async def main(request: Request) -> list[Any]:
        client = LanguageClient(cache=ResponseCache(path))
        await client.warm_up()
        asking = [asyncio.ensure_future(client.complete(request)) for _ in range(3)]
        await asyncio.sleep(0.2)
        asking[0].cancel()
        replies = await asyncio.gather(*asking[1:])
        await client.close()
        return replies

    with Provider(Says("fine", after=0.5)) as provider:
        replies = asyncio.run(main(question(api_base=provider.api_base)))
        assert len(provider.asked) == 1
    assert [reply.usage.cached for reply in replies] == [False, True]


def test_neither_keys_nor_prompts_are_in_the_file(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SHOP_KEY", CANARY)
    with Provider(Says(f"It is {CANARY}.", model=CANARY)) as provider:
        asked = question(
            api_base=provider.api_base,
            api_key_env="SHOP_KEY",
            messages=(Message("user", "a secret plan"),),
        )
        assert asking(path).reply(asked).text == "It is ***."
    content = b"".join(file.read_bytes() for file in path.parent.iterdir())
    assert b"***" in content
    assert CANARY.encode() not in content
    assert b"secret plan" not in content


def test_what_is_no_cache_is_said_so_before_anything_is_asked(tmp_path: Path) -> None:
    wrong = tmp_path / "notes.txt"
    wrong.write_text("these are my notes, and no database at all" * 50)
    with pytest.raises(ResponseCacheError, match=r"notes\.txt cannot be used as a response cache"):
        ResponseCache(wrong)
    assert wrong.read_text().startswith("these are my notes")


def test_a_cache_that_breaks_costs_answers_and_nothing_else(path: Path) -> None:
    cache = ResponseCache(path)
    with sqlite3.connect(path) as other:
        other.execute("drop table answers")
    with Provider(Says("fine")) as provider:
        asked = question(api_base=provider.api_base)
        assert Asker(cache=cache).reply(asked).text == "fine"
        assert Asker(cache=cache).reply(asked).text == "fine"
        assert len(provider.asked) == 2


def test_what_another_version_wrote_is_not_found(path: Path) -> None:
    with Provider(Says("fine")) as provider:
        asked = question(api_base=provider.api_base)
        asking(path).reply(asked)
        with sqlite3.connect(path) as other:
            other.execute("""update answers set reply = '{"words": 1}'""")
        assert asking(path).reply(asked).text == "fine"
        assert len(provider.asked) == 2
