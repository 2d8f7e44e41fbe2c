"""A market is rehearsed, and does not mind what is spoiled on the way."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from actors.correspondence import Correspondence
from actors.driver import Driver, Market, Played
from actors.language.backoff import Backoff
from actors.language.client import LanguageClient
from actors.language.rehearsal.server import Server
from actors.roster import roster
from actors.staging import Script, grouped, stage_inline
from market.calls import CallLog, Outcome, read_calls
from market.config import Config, load, recorded
from market.environment import Answer, NoAction
from market.journal import Header, JournalWriter, journal_digest, read
from tests.actors.language.rehearsal.provider import serving
from tests.actors.test_episode import Nobody, Quiet

#: The script sees to it that there is some of each, the shares that there is more.
SCRIPT = ("rate_limit", "errors", "drops", "breaks", "hangs")
TROUBLED: dict[str, Any] = {
    "seed": 3,
    "vary": 0.1,
    "script": SCRIPT,
    "rate_limit": 0.1,
    "errors": 0.1,
    "drops": 0.1,
    "breaks": 0.1,
    "trickles": 0.1,
    "trickle_pause": 0.005,
}


def market_of_models(api_base: str) -> Config:
    models = {"name": "mini", "policy": "llm", "count": 3}
    options = {"model": "openai/rehearsal", "api_base": api_base, "max_tokens": 300}
    scripted = {"name": "markup", "policy": "markup"}
    return load(
        "arena/default",
        [
            "rules.steps=2",
            "rules.attention.similarity=none",
            f"retailers={json.dumps([{**models, 'options': options}, scripted])}",
        ],
    )


def play(folder: Path, server: Server, tries: int, resume: bool = False) -> Played:
    """The market, asking real questions through the real client."""
    config = market_of_models(server.api_base)
    header = Header.of(recorded(config), config.kind.rules_version, "e1")
    castings = [seat.casting for seat in roster(config)]
    script = Script(header.config, grouped(castings, 1), header.digest, 10.0)
    folder.mkdir(exist_ok=True)

    async def market() -> Market:
        return stage_inline(script, Nobody())

    async def story() -> Played:
        client = LanguageClient(
            timeout_seconds=2.0, backoff=Backoff(tries=tries), sleep=lambda _: asyncio.sleep(0.001)
        )
        letters = Correspondence("e1", log, client, read_calls(folder / "calls.jsonl"))
        try:
            return await Driver(market, journal, letters, Quiet(), steps=2).play()
        finally:
            await client.close()

    begin = JournalWriter.reopen if resume else JournalWriter.create
    with (
        begin(folder / "journal.jsonl", header) as journal,
        CallLog(folder / "calls.jsonl") as log,
    ):
        return asyncio.run(story())


def given(folder: Path) -> list[Answer | NoAction]:
    return [
        answer
        for batch in read(folder / "journal.jsonl").batches
        for seat, answer in batch.answers.items()
        if seat.startswith("mini")
    ]


def replies(folder: Path) -> list[Any]:
    return [
        record.key
        for record in read_calls(folder / "calls.jsonl").records
        if record.outcome is Outcome.REPLIED
    ]


def test_a_market_is_rehearsed_with_valid_actions_throughout(tmp_path: Path) -> None:
    with serving(vary=0.1) as server:
        assert play(tmp_path, server, tries=1).owed is None
        assert server.counts.outcomes == {"answered": 18}
    assert all(isinstance(answer, Answer) for answer in given(tmp_path))
    assert len(given(tmp_path)) == 18


def test_trouble_on_the_way_changes_no_byte_and_nothing_answered_is_asked_again(
    tmp_path: Path,
) -> None:
    with serving(vary=0.1, seed=3) as server:
        play(tmp_path / "calm", server, tries=1)
    with serving(**TROUBLED) as server:
        assert play(tmp_path / "troubled", server, tries=12).owed is None
        counts = server.counts
    assert counts.outcomes.keys() >= {"answered", *SCRIPT}
    assert counts.answered_again == 0
    assert counts.outcomes["answered"] + counts.outcomes["trickles"] == 18 == counts.distinct
    assert len(replies(tmp_path / "troubled")) == 18
    assert journal_digest(tmp_path / "troubled" / "journal.jsonl") == journal_digest(
        tmp_path / "calm" / "journal.jsonl"
    )


def test_a_run_that_gives_up_at_every_trouble_is_resumed_to_the_same_end(tmp_path: Path) -> None:
    with serving(vary=0.1, seed=3) as server:
        play(tmp_path / "calm", server, tries=1)
    with serving(**TROUBLED) as server:
        folder = tmp_path / "troubled"
        runs, played = 1, play(folder, server, tries=1)
        while played.owed is not None:
            assert runs < 60
            runs, played = runs + 1, play(folder, server, tries=1, resume=True)
        counts = server.counts
    assert runs > 2
    assert counts.answered_again == 0
    assert len(replies(folder)) == len(set(replies(folder))) == 18
    assert journal_digest(folder / "journal.jsonl") == journal_digest(
        tmp_path / "calm" / "journal.jsonl"
    )


@pytest.mark.parametrize(
    ("slip", "cause"),
    [("refusals", "refused"), ("truncated", "truncated"), ("empty", "malformed")],
)
def test_what_models_do_wrong_ends_in_turns_without_action_that_say_why(
    tmp_path: Path, slip: str, cause: str
) -> None:
    with serving(**{slip: 1.0}) as server:
        assert play(tmp_path, server, tries=1).owed is None
    assert {str(getattr(each, "cause", None)) for each in given(tmp_path)} == {cause}
