"""Language actors that die at a bad moment, without Ray."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from actors import ray_language
from actors.hosts import ProcessDiedError
from actors.ray_language import CHECKS, LanguageActor, RemoteLanguage
from market.language import ModelSettings


class Actor:
    """A language actor that dies when it is checked, or finds nothing wrong."""

    def __init__(self, dies: bool) -> None:
        self.dies = dies
        self.check = self

    def remote(self, _: object) -> Actor:
        return self


async def answer(actor: Actor) -> Any:
    if actor.dies:
        raise ProcessDiedError("killed")
    return "no key"


def checked(monkeypatch: pytest.MonkeyPatch, deaths: int) -> tuple[str | None, int]:
    """What a check finds, and how many actors it took."""
    started: list[Actor] = []

    def start(*_: object, **__: object) -> Actor:
        started.append(Actor(len(started) < deaths))
        return started[-1]

    monkeypatch.setattr(ray_language, "start", start)
    monkeypatch.setattr(ray_language, "answer", answer)
    monkeypatch.setattr(ray_language, "here", lambda: "node")
    found = asyncio.run(RemoteLanguage("any").check(ModelSettings("openai/any")))
    return found, len(started)


def test_an_actor_that_dies_while_it_is_checked_is_replaced(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert checked(monkeypatch, deaths=2) == ("no key", 3)


def test_an_actor_whose_response_cache_cannot_be_opened_says_so_and_lives(tmp_path: Path) -> None:
    told = asyncio.run(LanguageActor({}, None, str(tmp_path)).check(ModelSettings("openai/any")))
    assert told is not None
    assert f"{tmp_path} cannot be used as a response cache" in told


def test_one_that_dies_again_and_again_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(ProcessDiedError):
        checked(monkeypatch, deaths=CHECKS)
