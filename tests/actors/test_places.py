"""What a configuration says of models reaches whoever calls them."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from actors.errors import UserError
from actors.language.client import LanguageClient
from actors.places import caps_of
from actors.progress.audience import OneEpisode
from actors.run import run
from market.calls import read_calls
from market.config import configure, load
from tests.actors.language.asking import CANARY
from tests.actors.test_episode import Quiet
from tests.actors.test_ray import RULES
from tests.provider import Provider, Says


class Unmoved(Quiet):
    """A watcher of a whole run."""

    def started(self, plan: object) -> None: ...

    def finished(self, summary: object) -> None: ...


def settings(api_base: str, **more: Any) -> dict[str, Any]:
    options = {"model": "openai/any", "api_base": api_base, "reasks": 0}
    retailers = [{"name": "model", "policy": "llm", "count": 4, "options": options}]
    base = {"environment": "arena", "rules": {**RULES, "steps": 1}, "retailers": retailers}
    return {**base, "inline": True, **more}


def test_a_response_cache_asks_equal_requests_once(tmp_path: Path) -> None:
    with Provider(Says('{"bids":[]}')) as provider:
        cache = str(tmp_path / "answers.sqlite")
        told = configure(settings(provider.api_base, response_cache=cache))
        for name in ("first", "second"):
            run(told, tmp_path / name, OneEpisode(Unmoved()))
        asked = len(provider.asked)
    logs = [
        read_calls(next((tmp_path / name).glob("episodes/*/calls.jsonl")))
        for name in ("first", "second")
    ]
    replies = [[call.reply for call in log.records if call.reply is not None] for log in logs]
    assert len(replies[0]) == len(replies[1]) > 0
    assert 0 < asked <= len(replies[0])
    assert all(reply.usage.cached for reply in replies[1])
    assert all(reply.usage.cost_usd == 0 for reply in replies[1])


@pytest.mark.parametrize("alone", [True, False], ids=["inline", "on Ray"])
def test_a_response_cache_that_cannot_be_opened_is_refused_before_anything_starts(
    tmp_path: Path, alone: bool
) -> None:
    told = configure(settings("http://127.0.0.1:9/v1", response_cache=str(tmp_path), inline=alone))
    with pytest.raises(UserError, match=r"cannot be used as a response cache .*`response_cache`"):
        run(told, tmp_path / "run", OneEpisode(Unmoved()))
    assert not (tmp_path / "run").exists()


def test_a_key_is_in_nothing_that_is_kept_of_failures_whatever_its_variable_is_called(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MINE", CANARY)

    async def fails(*_: object) -> None:
        raise RuntimeError(f"a bug: {os.environ['MINE']}")

    monkeypatch.setattr(LanguageClient, "complete", fails)
    told = settings("http://127.0.0.1:9/v1")
    told["retailers"][0]["options"]["api_key_env"] = "MINE"
    outcome = run(configure(told), tmp_path / "run", OneEpisode(Unmoved()))
    assert "a bug: ***" in outcome.failed[0]
    (trace,) = (tmp_path / "run").glob("episodes/*/error.txt")
    assert "a bug: ***" in trace.read_text()
    files = [path for path in (tmp_path / "run").rglob("*") if path.is_file()]
    assert not any(CANARY.encode() in path.read_bytes() for path in files)


def test_a_model_is_asked_no_harder_than_its_caps_allow(tmp_path: Path) -> None:
    with Provider(Says('{"bids":[]}', after=0.05)) as provider:
        caps = {"openai/any": {"in_flight": 2}}
        told = configure(settings(provider.api_base, caps=caps))
        assert caps_of(told)["openai/any"].in_flight == 2
        run(told, tmp_path / "run", OneEpisode(Unmoved()))
        assert provider.most_at_once == 2


def test_only_an_environment_that_asks_for_facts_needs_an_encoder(tmp_path: Path) -> None:
    idle = "retailers=[{name: idle, policy: idle, count: 2}]"
    nowhere = [idle, "inline=true", "encoder.model=./no-such-folder"]
    told = load("vending/paper", ["rules.days=2", *nowhere])
    assert run(told, tmp_path / "vending", OneEpisode(Unmoved())).summary is not None
    asks = load("arena/default", ["rules.steps=1", *nowhere])
    with pytest.raises(UserError, match="no-such-folder"):
        run(asks, tmp_path / "arena", OneEpisode(Unmoved()))
