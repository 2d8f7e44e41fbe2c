"""A run that was cut short goes on, and ends with the bytes of one that never was."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from actors.correspondence import Correspondence
from actors.driver import Driver, Market, Played
from actors.episode import News, State
from actors.hosts import ProcessDiedError
from actors.staging import Script, stage_inline
from market.calls import CallLog, Outcome, read_calls
from market.journal import ConfigChangedError, Header, JournalWriter, journal_digest, read
from market.language import ProviderFailure, Reply, Request
from tests.actors.test_episode import Nobody, Pretended, Quiet, roster, script


@dataclass
class Mortal:
    """A market that dies at a call, counted over all its lives."""

    market: Market
    left: Iterator[int]
    dies_at: frozenset[int]

    def _live(self) -> None:
        if next(self.left) in self.dies_at:
            raise ProcessDiedError("killed")

    async def start(self, recorded: list) -> State:  # type: ignore[type-arg]
        self._live()
        return await self.market.start(recorded)

    async def gather(self) -> News:
        self._live()
        return await self.market.gather()

    async def supply(self, replies: object) -> None:
        self._live()
        await self.market.supply(replies)  # type: ignore[arg-type]

    async def apply(self) -> State:
        self._live()
        return await self.market.apply()

    async def close(self) -> None:
        await self.market.close()


def play(
    folder: Path,
    told: Script,
    language: Pretended,
    dies_at: frozenset[int] = frozenset(),
    resume: bool = False,
) -> Played:
    header = Header.of(told.config, 1, "e1")
    folder.mkdir(exist_ok=True)
    lives = iter(range(10**9))

    async def market() -> Market:
        return Mortal(stage_inline(told, Nobody()), lives, dies_at)

    async def story() -> Played:
        letters = Correspondence("e1", log, language, read_calls(folder / "calls.jsonl"))
        return await Driver(market, journal, letters, Quiet(), steps=3).play()

    begin = JournalWriter.reopen if resume else JournalWriter.create
    with (
        begin(folder / "journal.jsonl", header) as journal,
        CallLog(folder / "calls.jsonl") as log,
    ):
        return asyncio.run(story())


@pytest.fixture
def told() -> Script:
    return script(roster(llm=2, random=2))


@pytest.fixture
def calm(tmp_path: Path, told: Script) -> tuple[str, int]:
    """Digest and calls of an undisturbed run."""
    language = Pretended()
    play(tmp_path / "calm", told, language)
    return journal_digest(tmp_path / "calm" / "journal.jsonl"), len(language.asked)


def test_a_market_that_dies_costs_no_call_and_changes_no_byte(
    tmp_path: Path, told: Script, calm: tuple[str, int]
) -> None:
    for dies_at in range(1, 40, 3):
        folder = tmp_path / str(dies_at)
        language = Pretended()
        played = play(folder, told, language, frozenset({dies_at, dies_at + 7}))
        assert played.owed is None
        assert (journal_digest(folder / "journal.jsonl"), len(language.asked)) == calm


def test_a_market_that_dies_again_and_again_is_owed(tmp_path: Path, told: Script) -> None:
    played = play(tmp_path / "run", told, Pretended(), frozenset(range(5, 100)))
    assert played.owed is not None
    assert "again and again" in played.owed


@pytest.mark.parametrize("fails_at", range(6))
def test_a_run_that_a_provider_stopped_resumes_without_asking_again(
    tmp_path: Path, told: Script, calm: tuple[str, int], fails_at: int
) -> None:
    folder = tmp_path / "run"
    first = Pretended(fails_at=fails_at)
    assert play(folder, told, first).owed is not None
    second = Pretended()
    assert play(folder, told, second, resume=True).owed is None
    assert journal_digest(folder / "journal.jsonl") == calm[0]
    # All but the call that failed was answered, logged and not asked again.
    assert len(first.asked) - 1 + len(second.asked) == calm[1]


def test_a_torn_journal_and_a_torn_log_resume(
    tmp_path: Path, told: Script, calm: tuple[str, int]
) -> None:
    folder = tmp_path / "run"
    play(folder, told, Pretended(fails_at=4))
    for name in ("journal.jsonl", "calls.jsonl"):
        with (folder / name).open("ab") as file:
            file.write(b'{"torn":')
    assert play(folder, told, Pretended(), resume=True).owed is None
    assert journal_digest(folder / "journal.jsonl") == calm[0]


def test_what_was_sent_and_never_answered_is_recorded_as_lost(tmp_path: Path, told: Script) -> None:
    @dataclass
    class Gone(Pretended):
        """Never answers one call: the run ends before."""

        async def complete(self, request: Request) -> Reply | ProviderFailure:
            if len(self.asked) == 3:
                raise KeyboardInterrupt
            return await super().complete(request)

    folder = tmp_path / "run"
    with pytest.raises(KeyboardInterrupt):
        play(folder, told, Gone())
    assert play(folder, told, Pretended(), resume=True).owed is None
    records = read_calls(folder / "calls.jsonl").records
    lost = [record for record in records if record.outcome is Outcome.LOST]
    assert len(lost) >= 1
    answered = {record.key for record in records if record.outcome is Outcome.REPLIED}
    assert {record.key for record in lost} <= answered


def test_a_caller_of_models_that_dies_is_asked_again(
    tmp_path: Path, told: Script, calm: tuple[str, int]
) -> None:
    @dataclass
    class Dying(Pretended):
        deaths: int = 0

        async def complete(self, request: Request) -> Reply | ProviderFailure:
            if len(self.asked) in (2, 5) and self.deaths < 4:
                self.deaths += 1
                raise ProcessDiedError("killed")
            return await super().complete(request)

    folder = tmp_path / "run"
    language = Dying()
    assert play(folder, told, language).owed is None
    assert language.deaths == 4
    assert (journal_digest(folder / "journal.jsonl"), len(language.asked)) == calm
    records = read_calls(folder / "calls.jsonl").records
    assert sum(record.outcome is Outcome.LOST for record in records) == 4


def test_a_changed_configuration_refuses_to_resume_and_names_the_keys(
    tmp_path: Path, told: Script
) -> None:
    folder = tmp_path / "run"
    play(folder, told, Pretended(fails_at=4))
    changed = {**told.config, "rules": {"days": 5}, "seed": 4}
    header = Header.of(changed, 1, "e1")
    with pytest.raises(ConfigChangedError) as refused:
        JournalWriter.reopen(folder / "journal.jsonl", header)
    assert "rules.days" in str(refused.value)
    assert "seed" in str(refused.value)
    assert len(read(folder / "journal.jsonl").batches) > 0
