"""The quickstart's four language models are real: their server counts the same tokens as we do."""

from __future__ import annotations

import asyncio
import re
import urllib.request
from pathlib import Path

import pytest

from actors.correspondence import Correspondence
from actors.driver import Driver, Played
from actors.episode import Episode
from actors.language.client import LanguageClient
from actors.language.local import LocalModel
from actors.outside import EncodedFacts
from actors.roster import roster
from actors.staging import Script, grouped, stage_inline
from market.calls import CallLog, Outcome, read_calls
from market.config import load, recorded
from market.journal import Header, JournalWriter
from market.replay import verify
from tests.actors.test_episode import Quiet


def counted(local: LocalModel, name: str) -> int:
    """A counter of the server itself."""
    address = local.start().removesuffix("/v1") + "/metrics"
    request = urllib.request.Request(address, headers={"Authorization": f"Bearer {local.api_key}"})
    with urllib.request.urlopen(request) as response:
        text = response.read().decode()
    found = re.search(rf"^llamacpp:{name}_total (\d+)", text, re.MULTILINE)
    assert found is not None, text
    return int(found.group(1))


@pytest.mark.slow
def test_four_local_models_play_and_their_server_agrees_on_the_tokens(tmp_path: Path) -> None:
    config = load("arena/quickstart", ["rules.steps=1"])
    header = Header.of(recorded(config), config.kind.rules_version, "seed-1")
    castings = grouped([seat.casting for seat in roster(config)], 20)
    script = Script(header.config, castings, header.digest, 30.0)
    local = LocalModel()
    client = LanguageClient(local=local)
    facts = EncodedFacts(config.encoder.model)

    async def market() -> Episode:
        return stage_inline(script, facts)

    async def story() -> Played:
        letters = Correspondence("seed-1", calls, client)
        return await Driver(market, journal, letters, Quiet(), steps=1).play()

    try:
        with (
            JournalWriter.create(tmp_path / "journal.jsonl", header) as journal,
            CallLog(tmp_path / "calls.jsonl") as calls,
        ):
            played = asyncio.run(story())
        written = counted(local, "tokens_predicted")
    finally:
        asyncio.run(client.close())
    assert played.result is not None
    records = read_calls(tmp_path / "calls.jsonl").records
    replies = [record.reply for record in records if record.outcome is Outcome.REPLIED]
    assert {record.seat for record in records} == {f"smollm-{i}" for i in (1, 2, 3, 4)}
    assert len(replies) >= 12
    assert all(reply and reply.usage.prompt_tokens for reply in replies)
    ours = sum(reply.usage.completion_tokens or 0 for reply in replies if reply)
    assert ours > 0
    assert ours == written
    assert verify(tmp_path / "journal.jsonl").finished
