"""Whole episodes under a budget: they stop, say why, and go on to the same end."""

from __future__ import annotations

import asyncio
import gc
from pathlib import Path

import pytest

from actors.budget import Budget
from actors.correspondence import Correspondence
from actors.driver import Driver, Market, Played
from actors.staging import Script, stage_inline
from actors.summary import summarise
from market.calls import CallLog, read_calls
from market.config import configure
from market.config.spending import Limits
from market.journal import Header, JournalWriter, journal_digest
from tests.actors.language.asking import CANARY
from tests.actors.test_episode import USAGE, Nobody, Pretended, Quiet, roster, script

SEATS = {"model-1": "model", "model-2": "model"}


def play(folder: Path, told: Script, language: Pretended, limits: Limits) -> Played:
    """Begin a run under limits, or go on with it."""
    header = Header.of(told.config, 1, "e1")
    home = folder / "episodes" / "e1"
    home.mkdir(parents=True, exist_ok=True)
    budget = Budget(limits)
    earlier = read_calls(home / "calls.jsonl")
    budget.count(earlier, SEATS)

    async def market() -> Market:
        return stage_inline(told, Nobody())

    async def story() -> Played:
        letters = Correspondence("e1", log, language, earlier, budget, SEATS)
        return await Driver(market, journal, letters, Quiet(), steps=3).play()

    with (
        JournalWriter.reopen(home / "journal.jsonl", header) as journal,
        CallLog(home / "calls.jsonl") as log,
    ):
        return asyncio.run(story())


@pytest.fixture
def told() -> Script:
    return script(roster(llm=2, random=2))


def test_a_run_resumes_under_a_higher_limit_and_asks_nothing_twice(
    tmp_path: Path, told: Script, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", CANARY)
    gc.collect()
    caplog.clear()  # what earlier tests left is not ours
    calm = Pretended()
    assert play(tmp_path / "calm", told, calm, Limits()).owed is None
    folder, asked, tokens, stops = tmp_path / "run", 0, 1_500, 0
    for _ in range(40):
        language = Pretended()
        played = play(folder, told, language, Limits(tokens=tokens))
        asked += len(language.asked)
        assert asked * (USAGE.prompt_tokens + USAGE.completion_tokens) <= tokens  # type: ignore[operator]
        if played.owed is None:
            break
        assert "Raise `budget.tokens` to go on" in played.owed
        assert CANARY not in played.owed
        stops, tokens = stops + 1, tokens + 100
    assert played.result is not None
    assert asked == len(calm.asked)
    assert stops > 0
    journals = [path / "episodes/e1/journal.jsonl" for path in (folder, tmp_path / "calm")]
    assert journal_digest(journals[0]) == journal_digest(journals[1])
    gc.collect()
    assert "never retrieved" not in caplog.text
    for path in folder.rglob("*"):
        assert path.is_dir() or CANARY not in path.read_text(encoding="utf-8")


def test_the_summary_tells_what_each_retailer_took(tmp_path: Path, told: Script) -> None:
    language = Pretended()
    assert play(tmp_path, told, language, Limits()).owed is None
    (tmp_path / "episodes" / "e1").rename(tmp_path / "episodes" / "seed-0")
    entries = [
        {"name": "model", "policy": "llm", "count": 2, "options": {"model": "pretended"}},
        {"name": "stand", "policy": "random", "count": 2},
    ]
    config = configure({"environment": told.config["environment"], "retailers": entries})
    seats = [
        {"seat": f"{name}-{number}", "policy": "any", "model": None}
        for name in ("model", "stand")
        for number in (1, 2)
    ]
    summary = summarise(tmp_path, config, seats, 1.0)
    spent = {entry["name"]: entry["spend"] for entry in summary["retailers"]}
    calls = spent["model-1"]["calls"]
    assert calls + spent["model-2"]["calls"] == summary["calls"] == len(language.asked)
    assert spent["model-1"] == {
        "calls": calls,
        "calls_cached": 0,
        "calls_lost": 0,
        "tokens": {"prompt": 10 * calls, "completion": 5 * calls},
        "cost_usd": None,  # nobody prices it
    }
    assert spent["stand-1"]["calls"] == 0
    assert spent["stand-1"]["cost_usd"] == 0
