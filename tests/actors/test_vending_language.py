"""The packaged model runs vending machines through tool calling: badly, but validly."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from actors.correspondence import Correspondence
from actors.driver import Driver, Played
from actors.episode import Episode
from actors.language.client import LanguageClient
from actors.language.litellm_transport import LitellmTransport
from actors.language.local import calling
from actors.language.transport import Completion
from actors.roster import roster
from actors.staging import Script, grouped, stage_inline
from market.calls import CallLog, CallRecord, Outcome, read_calls
from market.config import load, recorded
from market.environment import Answer, Json
from market.journal import Header, JournalWriter, read
from market.language import ProviderFailure, Reply, Request
from market.replay import verify
from tests.actors.test_episode import Nobody, Quiet

DAYS, CALLS, BUDGET = 4, 3, 2_600


@dataclass
class Watched(LitellmTransport):
    """litellm, and what it was told to send."""

    sent: list[Mapping[str, Json]] = field(default_factory=list)

    async def send(self, parameters: Mapping[str, Json], stream: bool = False) -> Completion:
        self.sent.append(parameters)
        return await super().send(parameters, stream)


class Mute:
    """Nobody may be asked."""

    async def complete(self, request: Request) -> Reply | ProviderFailure:
        raise AssertionError("a model was asked")


def played(folder: Path, context: str, client: LanguageClient | Mute) -> Played:
    """One seat of the preset for a few days."""
    model = f"{{model: local, context: {context}, max_tokens: 80, prompt_tokens: {BUDGET}}}"
    config = load(
        "vending/language",
        [
            f"rules.days={DAYS}",
            f"rules.calls_per_day={CALLS}",
            f"retailers=[{{name: model, policy: llm, options: {model}}}]",
        ],
    )
    header = Header.of(recorded(config), config.kind.rules_version, "seed-1")
    castings = grouped([seat.casting for seat in roster(config)], 20)
    script = Script(header.config, castings, header.digest, 30.0)
    paid = read_calls(folder / "calls.jsonl")

    async def market() -> Episode:
        return stage_inline(script, Nobody())

    async def story() -> Played:
        letters = Correspondence("seed-1", calls, client, paid)
        try:
            return await Driver(market, journal, letters, Quiet(), steps=DAYS).play()
        finally:
            if isinstance(client, LanguageClient):
                await client.close()

    with (
        JournalWriter.create(folder / "journal.jsonl", header) as journal,
        CallLog(folder / "calls.jsonl") as calls,
    ):
        return asyncio.run(story())


@pytest.mark.slow
@pytest.mark.timeout(900)
@pytest.mark.parametrize("context", ["last", "groups", "notebook"])
def test_the_local_model_plays_some_days_through_tool_calling(tmp_path: Path, context: str) -> None:
    transport = Watched()
    client = LanguageClient(transport=transport, timeout_seconds=600.0)
    outcome = played(tmp_path, context, client)
    assert outcome.result is not None
    metrics = outcome.result.seats["model"].metrics

    # Tools were really offered, and their results sent back as what they are.
    for parameters in transport.sent:
        assert {"order_stock", "load_machine", "end_day"} <= _names(parameters)
        assert parameters["tool_choice"] == "required"
    shown = [message for p in transport.sent for message in p["messages"]]
    assert any(message["role"] == "tool" and message["tool_call_id"] for message in shown)

    # They were really called, and no day had more calls than it may.
    records = read_calls(tmp_path / "calls.jsonl").records
    replies = [record.reply for record in records if record.outcome is Outcome.REPLIED]
    assert replies
    assert all(reply is not None and reply.output == "tool" for reply in replies)
    assert all(reply is not None and reply.tool_calls for reply in replies)
    made = _calls_by_day(tmp_path)
    assert made
    assert max(made.values()) <= CALLS
    assert sum(made.values()) == metrics["tool_calls"]
    assert _marks(context) <= _told(records)

    # Played again from its answer log it asks nobody, and has the same bytes.
    again = tmp_path / "again"
    again.mkdir()
    (again / "calls.jsonl").write_bytes((tmp_path / "calls.jsonl").read_bytes())
    assert played(again, context, Mute()).result == outcome.result
    journals = [folder / "journal.jsonl" for folder in (tmp_path, again)]
    assert journals[0].read_bytes() == journals[1].read_bytes()
    assert verify(journals[0]).finished


def test_a_call_is_demanded_of_the_local_model_and_begun_for_it() -> None:
    messages = [{"role": "user", "content": "Go on."}]
    asked = calling({"messages": messages, "tools": [], "max_tokens": 9})
    assert asked["tool_choice"] == "required"
    assert asked["parallel_tool_calls"] is False
    assert asked["messages"] == [*messages, {"role": "assistant", "content": "<tool_call>["}]
    assert calling({"messages": [], "parallel_tool_calls": True})["parallel_tool_calls"] is True


def _names(parameters: Mapping[str, Json]) -> set[str]:
    return {tool["function"]["name"] for tool in parameters["tools"]}


def _calls_by_day(folder: Path) -> Counter[int]:
    made: Counter[int] = Counter()
    for batch in read(folder / "journal.jsonl").batches:
        for given in batch.answers.values():
            made[batch.step] += len(given.action) if isinstance(given, Answer) else 0
    return made


def _told(records: tuple[CallRecord, ...]) -> set[str]:
    """Which of the marks of the contexts stand in prompts."""
    text = "\n".join(message.content for record in records for message in record.messages)
    marks = {mark for kind in ("last", "groups", "notebook") for mark in _marks(kind)}
    return {mark for mark in marks if mark in text}


def _marks(context: str) -> set[str]:
    """What the prompts of a context have and those of others need not have."""
    return {
        "last": {"Earlier, day 1, turn", "Earlier, day 3, turn"},
        "groups": {"(Left out: turns after the first of the episode"},
        "notebook": {"Your own notes, of step"},
    }[context]
