"""Processes that are really killed: whoever dies, the journal is that of an undisturbed run."""

from __future__ import annotations

import os
import signal
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import psutil
import pytest

from actors.progress.watch import Plan, Progress
from actors.run import RunOutcome, run
from actors.tournament import Ended
from market.calls import Outcome, read_calls
from market.config import Config, configure
from market.config.plans import EpisodePlan
from market.journal import journal_digest
from tests.actors.test_ray import RULES
from tests.provider import Provider, Says

pytestmark = [pytest.mark.usefixtures("ray_cluster"), pytest.mark.slow]


@dataclass
class Killer:
    """An audience that kills all processes of a kind when a step begins.

    Attributes:
        kind: Part of the names of the processes, such as `ray::MarketActor`; empty kills nobody.
        step: The step.
        killed: Process ids.
    """

    kind: str = ""
    step: int = 2
    killed: list[int] = field(default_factory=list)

    def watch(self, plan: EpisodePlan) -> Killer:
        return self

    def ended(self, ended: Ended) -> None: ...

    def started(self, plan: Plan) -> None: ...

    def finished(self, summary: Mapping[str, Any]) -> None: ...

    def progressed(self, progress: Progress) -> None:
        if self.kind and progress.step == self.step and progress.turn == 1 and not self.killed:
            for process in psutil.Process().children(recursive=True):
                if " ".join(process.cmdline()).startswith(self.kind):
                    self.killed.append(process.pid)
                    os.kill(process.pid, signal.SIGKILL)


def config(api_base: str = "", **settings: Any) -> Config:
    retailers = [
        {"name": "adaptive", "policy": "adaptive", "count": 2},
        {"name": "advertiser", "policy": "advertiser"},
        {"name": "zi", "policy": "zi-constrained"},
    ]
    if api_base:
        options = {"model": "openai/any", "api_base": api_base}
        retailers.append({"name": "model", "policy": "llm", "count": 2, "options": options})
    base = {"environment": "arena", "seed": 5, "rules": RULES, "retailers": retailers}
    return configure({**base, **settings})


def digest(outcome: RunOutcome) -> str:
    assert outcome.owed is None
    assert not outcome.failed
    (path,) = outcome.folder.glob("episodes/*/journal.jsonl")
    return journal_digest(path)


@pytest.mark.parametrize("kind", ["ray::MarketActor", "ray::EncoderActor", "ray::RetailerActor"])
def test_a_killed_process_changes_no_byte(tmp_path: Path, kind: str) -> None:
    calm = run(config(inline=True), tmp_path / "calm", Killer())
    killer = Killer(kind)
    disturbed = run(config(), tmp_path / "disturbed", killer)
    assert killer.killed
    assert digest(disturbed) == digest(calm)


@pytest.mark.parametrize("kind", ["ray::MarketActor", "ray::LanguageActor"])
def test_a_killed_process_costs_no_answered_call(tmp_path: Path, kind: str) -> None:
    def answer(body: dict[str, Any]) -> Says:
        last = body["messages"][-1]["content"]
        return Says('{"bids":[]}' if "bids" in last else '{"prices":{},"slogan":"x"}')

    with Provider(answer) as provider:
        calm = run(config(provider.api_base), tmp_path / "calm", Killer())
        asked = len(provider.asked)
        killer = Killer(kind)
        disturbed = run(config(provider.api_base), tmp_path / "disturbed", killer)
        again = len(provider.asked) - asked
    assert killer.killed
    assert digest(disturbed) == digest(calm)
    records = read_calls(next(disturbed.folder.glob("episodes/*/calls.jsonl"))).records
    lost = sum(record.outcome is Outcome.LOST for record in records)
    assert asked <= again <= asked + lost
    keys = [record.key for record in records if record.outcome is Outcome.REPLIED]
    assert len(keys) == len(set(keys)) == asked
