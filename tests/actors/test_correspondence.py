"""What the seats of an episode ask, where neither budget nor log is the point."""

from __future__ import annotations

from dataclasses import replace

import pytest

from actors.correspondence import Spend, server_of
from market.language import ModelSettings, Reply
from tests.actors.correspondent import reply


def cached(answer: Reply) -> Reply:
    return replace(answer, usage=replace(answer.usage, cost_usd=0.0, tries=0, cached=True))


def test_what_a_cache_answers_spends_neither_tokens_nor_money() -> None:
    spend = Spend()
    answer = reply(30, 12, cost=0.5)
    spend.add(answer)
    spend.add(cached(answer))
    assert (spend.calls, spend.tokens, spend.cost_usd) == (2, 42, 0.5)


@pytest.mark.parametrize(
    ("api_base", "server"),
    [
        (None, ""),
        ("http://me:hunter2@host:81/v1?key=1", "http://host:81"),
        ("http://[bad", ""),
        ("localhost:18123/v1", ""),
    ],
)
def test_a_server_is_told_of_by_its_address_alone(api_base: str | None, server: str) -> None:
    assert server_of(ModelSettings("openai/any", api_base=api_base)) == server
