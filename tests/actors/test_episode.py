"""An episode gathers what seats answer, models and outside included, and applies it as recorded."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from actors.correspondence import Correspondence
from actors.driver import Driver, Played
from actors.episode import Episode
from actors.progress.watch import Plan, Progress
from actors.retailer import Casting
from actors.staging import Script, grouped, stage_inline
from market.calls import CallLog, Outcome, read_calls
from market.environment import Answer, Decision
from market.journal import Header, JournalWriter, journal_digest, read
from market.language import ProviderFailure, Reply, Request, ToolCall, Usage
from market.replay import verify
from tests.market.recorded import LEMONADE

USAGE = Usage("pretended", 10, 5, None, None, 0.1)


@dataclass
class Quiet:
    """A watcher that remembers."""

    progress: list[Progress] = field(default_factory=list)

    def started(self, plan: Plan) -> None:
        raise AssertionError("the driver starts nothing")

    def progressed(self, progress: Progress) -> None:
        self.progress.append(progress)

    def finished(self, summary: Mapping[str, Any]) -> None:
        raise AssertionError("the driver concludes nothing")


@dataclass
class Pretended:
    """A language model that calls tools by the book, or fails.

    Attributes:
        fails_at: The request, counted from 0, that its provider fails.
        asked: Requests so far.
    """

    fails_at: int | None = None
    asked: list[Request] = field(default_factory=list)

    async def complete(self, request: Request) -> Reply | ProviderFailure:
        self.asked.append(request)
        if len(self.asked) - 1 == self.fails_at:
            return ProviderFailure("server", "the provider is on holiday")
        await asyncio.sleep(0)
        calls = (
            ToolCall("1", "buy_lemons", '{"quantity": 3}'),
            ToolCall("2", "set_price", '{"cents": 40}'),
            ToolCall("3", "end_day", "{}"),
        )
        return Reply("", "stop", USAGE, calls)


class Nobody:
    """Knows nothing of the outside, and is not asked."""

    async def answer(self, decision: Decision) -> Answer:
        raise AssertionError(decision)


def roster(llm: int = 1, random: int = 2) -> list[dict[str, Any]]:
    entries = []
    if llm:
        entries.append({"name": "model", "policy": "llm", "count": llm, "options": {}})
    if random:
        entries.append({"name": "stand", "policy": "random", "count": random, "options": {}})
    return entries


def script(retailers: list[dict[str, Any]], size: int = 1) -> Script:
    config = {"environment": LEMONADE, "seed": 3, "rules": {}, "retailers": retailers}
    header = Header.of(config, 1, "e1")
    castings = []
    for entry in retailers:
        count = entry["count"]
        for number in range(1, count + 1):
            seat = entry["name"] if count == 1 else f"{entry['name']}-{number}"
            if entry["policy"] == "llm":
                castings.append(
                    Casting(seat, "market.policies.llm:LanguageModel", {"model": "pretended"}, 3)
                )
            else:
                castings.append(Casting(seat, "market.policies.random:Random", {}, 3))
    return Script(header.config, grouped(castings, size), header.digest, 10.0)


def play(
    folder: Path,
    told: Script,
    language: Pretended,
    watcher: Quiet | None = None,
    suspend: bool = True,
) -> Played:
    header = Header.of(told.config, 1, "e1")
    folder.mkdir()

    async def market() -> Episode:
        return stage_inline(told, Nobody())

    async def story() -> Played:
        letters = Correspondence("e1", calls, language)
        driver = Driver(market, journal, letters, watcher or Quiet(), steps=3, suspend=suspend)
        return await driver.play()

    with (
        JournalWriter.create(folder / "journal.jsonl", header) as journal,
        CallLog(folder / "calls.jsonl") as calls,
    ):
        return asyncio.run(story())


def test_models_and_scripts_play_one_market_that_replays(tmp_path: Path) -> None:
    language = Pretended()
    played = play(tmp_path / "run", script(roster()), language)
    assert played.owed is None
    assert played.result is not None
    assert set(played.result.seats) == {"model", "stand-1", "stand-2"}
    assert language.asked[0].tools
    verify(tmp_path / "run" / "journal.jsonl")


def test_every_call_of_a_model_is_logged_with_its_prompt(tmp_path: Path) -> None:
    language = Pretended()
    play(tmp_path / "run", script(roster(llm=2)), language)
    records = read_calls(tmp_path / "run" / "calls.jsonl").records
    replied = [record for record in records if record.outcome is Outcome.REPLIED]
    assert len(replied) == len(language.asked)
    assert {record.seat for record in replied} == {"model-1", "model-2"}
    assert all(record.reply for record in replied)
    sent = [record for record in records if record.outcome is Outcome.SENT]
    assert [record.key for record in sent] == [record.key for record in replied]
    assert all(record.messages for record in sent)


def test_grouped_retailers_write_the_same_bytes(tmp_path: Path) -> None:
    digests = set()
    for size in (1, 2, 20):
        folder = tmp_path / str(size)
        play(folder, script(roster(llm=2, random=3), size), Pretended())
        digests.add(journal_digest(folder / "journal.jsonl"))
    assert len(digests) == 1


def test_a_provider_that_fails_leaves_the_batch_open(tmp_path: Path) -> None:
    played = play(tmp_path / "run", script(roster()), Pretended(fails_at=1))
    assert played.result is None
    assert played.owed == "the provider is on holiday"
    journal = read(tmp_path / "run" / "journal.jsonl")
    assert len(journal.batches) > 0
    assert journal.result is None
    assert all(batch.step == 1 for batch in journal.batches)


def test_a_user_may_choose_to_go_on_without_a_provider(tmp_path: Path) -> None:
    language = Pretended(fails_at=1)
    played = play(tmp_path / "run", script(roster()), language, suspend=False)
    assert played.result is not None
    text = (tmp_path / "run" / "journal.jsonl").read_text()
    assert '{"none":"unanswered"}' in text


def test_whoever_watches_sees_the_last_step_and_what_models_took(tmp_path: Path) -> None:
    watcher = Quiet()
    language = Pretended()
    play(tmp_path / "run", script(roster()), language, watcher)
    last = watcher.progress[-1]
    assert (last.step, last.steps) == (3, 3)
    assert last.calls == len(language.asked)
    assert last.tokens == 15 * len(language.asked)
    assert last.cost_usd is None, "an unknown price makes the sum unknown"
    assert set(last.standings) == {"model", "stand-1", "stand-2"}


@pytest.mark.parametrize("seat", ["raises", "hostile"])
def test_a_failing_seat_is_data(tmp_path: Path, seat: str) -> None:
    policy = {"raises": "Raises", "hostile": "Hostile"}[seat]
    told = script(roster(llm=0, random=2))
    castings = (*told.castings, (Casting("bad", f"tests.actors.own_policies:{policy}", {}, 3),))
    retailers = [*told.config["retailers"], {"name": "bad", "policy": "x", "count": 1}]
    config = {**told.config, "retailers": retailers}
    header = Header.of(config, 1, "e1")
    played = play(
        tmp_path / "run", Script(header.config, castings, header.digest, 10.0), Pretended()
    )
    assert played.result is not None
    failed = [
        record
        for record in read_calls(tmp_path / "run" / "calls.jsonl").records
        if record.outcome is Outcome.SEAT_FAILED
    ]
    assert {record.seat for record in failed} == {"bad"}
    assert all(record.error for record in failed)
