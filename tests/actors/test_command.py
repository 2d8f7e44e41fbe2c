"""The command as a user meets it: a process of its own, its streams, its end."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import psutil
import pytest

from market.journal import read
from market.replay import replay

MARKET = Path(sys.executable).with_name("market")
ROOT = Path(__file__).parents[2]

SLOW_SHOP = """
environment: arena
extends: arena/default
rules: {steps: 40}
retailers:
  - {name: slow, policy: "slow_shop:Slow", count: 2}
  - {name: markup, policy: markup, count: 2}
"""

POLICY = """
import time
from dataclasses import dataclass
from market.environment import Answer, Decision
from market.policies.policy import Policy

@dataclass
class Slow(Policy):
    def act(self, decision: Decision) -> Answer:
        time.sleep(0.2)
        if decision.kind == "bid":
            return Answer({"bids": [{"item": "item1", "quantity": 1, "price": 50}]})
        return Answer({"prices": {"item1": 60}, "slogan": "slow and steady"})
"""


@pytest.fixture
def shop(tmp_path: Path) -> Path:
    (tmp_path / "slow_shop.py").write_text(POLICY)
    (tmp_path / "slow.yaml").write_text(SLOW_SHOP)
    return tmp_path


def market(
    folder: Path, *arguments: str, environ: dict[str, str] | None = None
) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [MARKET, *arguments],
        cwd=folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=environ,
        preexec_fn=_heed_interrupts,
    )


def _heed_interrupts() -> None:
    # Whatever a shell starts in the background ignores them, and its children do.
    signal.signal(signal.SIGINT, signal.SIG_DFL)


@pytest.mark.slow
def test_a_run_on_ray_prints_nothing_of_rays_and_leaves_nothing_running(shop: Path) -> None:
    arguments = ["--set", "rules.steps=1", "--out", "out"]
    running = market(shop, "run", "slow.yaml", *arguments)
    family = {process.pid for process in psutil.Process(running.pid).children(recursive=True)}
    output, errors = running.communicate(timeout=200)
    assert running.returncode == 0, errors
    assert errors == ""
    assert "ray" not in output.lower()
    assert "Results are in out." in output
    for name in ("config.json", "summary.json", "report.html", "tables/bids.parquet"):
        assert (shop / "out" / name).exists()
    assert not any(psutil.pid_exists(pid) for pid in family)
    again = market(shop, "replay", "out")
    output, errors = again.communicate(timeout=100)
    assert again.returncode == 0, errors
    assert "are the same" in output


@pytest.mark.slow
@pytest.mark.parametrize(
    ("sent", "status", "word"),
    [(signal.SIGINT, 130, "Interrupted"), (signal.SIGTERM, 143, "Terminated")],
)
def test_an_interrupted_run_leaves_a_whole_journal_and_no_process(
    shop: Path, sent: signal.Signals, status: int, word: str
) -> None:
    running = market(shop, "run", "slow.yaml", "--out", "out")
    journal = shop / "out" / "episodes" / "seed-1" / "journal.jsonl"
    _wait(lambda: journal.exists() and journal.read_text().count("\n") >= 4)
    family = psutil.Process(running.pid).children(recursive=True)
    assert len(family) > 4
    running.send_signal(sent)
    _, errors = running.communicate(timeout=60)
    assert running.returncode == status
    assert errors == f"{word}.\n"
    _, alive = psutil.wait_procs(family, timeout=10)
    assert not [process for process in alive if process.status() != psutil.STATUS_ZOMBIE]
    recorded = read(journal)
    assert recorded.torn == 0
    assert len(recorded.batches) >= 3
    assert replay(journal).batches == len(recorded.batches)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("sent", "told"), [(signal.SIGINT, "Interrupted.\n"), (signal.SIGTERM, "Terminated.\n")]
)
def test_an_interrupted_run_in_one_process_says_no_more(
    shop: Path, sent: signal.Signals, told: str
) -> None:
    running = market(shop, "run", "slow.yaml", "--set", "inline=true", "--out", "out")
    journal = shop / "out" / "episodes" / "seed-1" / "journal.jsonl"
    _wait(lambda: journal.exists() and journal.read_text().count("\n") >= 4)
    running.send_signal(sent)
    _, errors = running.communicate(timeout=60)
    assert (running.returncode, errors) == (128 + sent, told)
    assert replay(journal).batches >= 3


@pytest.mark.slow
def test_a_cluster_that_is_not_there_is_one_sentence(shop: Path) -> None:
    running = market(shop, "run", "slow.yaml", "--out", "out", "--address", "127.0.0.1:1")
    _, errors = running.communicate(timeout=200)
    assert running.returncode == 2
    assert errors.count("\n") == 1
    assert "127.0.0.1:1 cannot be joined" in errors
    assert not (shop / "out").exists()


@pytest.mark.slow
def test_a_cluster_is_joined_with_its_token_and_refuses_another_in_one_sentence(
    shop: Path,
) -> None:
    def environment(token: str) -> dict[str, str]:
        return {**os.environ, "RAY_AUTH_MODE": "token", "RAY_AUTH_TOKEN": token * 40}

    ray = [MARKET.with_name("ray"), "start", "--head", "--port=0", "--num-cpus=2"]
    with tempfile.TemporaryDirectory(prefix="ma-", dir="/tmp") as folder:
        more = ["--include-dashboard=false", f"--temp-dir={folder}", "--block"]
        head = subprocess.Popen(
            [*ray, *more], stdout=subprocess.PIPE, text=True, env=environment("a")
        )
        try:
            address = _address(head)
            arguments = ["run", "slow.yaml", "--set", "rules.steps=1", "--address", address]
            refused = market(shop, *arguments, "--out", "refused", environ=environment("b"))
            output, errors = refused.communicate(timeout=100)
            assert (refused.returncode, output) == (2, "")
            assert errors.count("\n") == 1
            assert "cannot be joined" in errors
            assert not (shop / "refused").exists()
            joined = market(shop, *arguments, "--out", "joined", environ=environment("a"))
            _, errors = joined.communicate(timeout=200)
            assert (joined.returncode, errors) == (0, "")
            assert (shop / "joined" / "summary.json").exists()
        finally:
            head.send_signal(signal.SIGTERM)
            head.wait(timeout=60)


def _address(head: subprocess.Popen[str]) -> str:
    """Where a head says that it listens."""
    assert head.stdout is not None
    for line in head.stdout:
        if found := re.search(r"--address='([^']+)'", line):
            return found.group(1)
    raise AssertionError("the head gave no address")


@pytest.mark.slow
def test_hash_seeds_do_not_reach_the_journal(tmp_path: Path) -> None:
    digests = set()
    for seed in ("0", "1", "2"):
        folder = tmp_path / seed
        subprocess.run(
            [MARKET, "run", "arena/paper", "--set", "inline=true", "--out", folder],
            check=True,
            capture_output=True,
            env={**os.environ, "PYTHONHASHSEED": seed},
        )
        digests.add((folder / "episodes" / "seed-1" / "journal.jsonl").read_bytes())
    assert len(digests) == 1


def _wait(ready: object, seconds: float = 120.0) -> None:
    until = time.monotonic() + seconds
    while not ready():  # type: ignore[operator]
        assert time.monotonic() < until, "nothing happened"
        time.sleep(0.1)
