"""How long a market of models waits for anything but its models.

    python benchmarks/latency.py            about five minutes

Every retailer is a language model, the provider (a rehearsal, in a process of its own) answers
everything after the same time, and six batches follow each other: bids, bids and prices, twice.
What is told is the time from the first request to the last answer, as the answer logs have it, of
whole runs on Ray. It is held against the six latencies, below which no run can be, and, where the
latency is short, against the same calls gathered batch by batch on bare litellm, in turns with the
runs.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from actors.cluster import connected
from actors.progress.watch import Plan, Progress
from actors.run import run
from actors.tournament import Ended
from market.calls import Outcome, read_calls
from market.config import Config, load
from market.config.plans import EpisodePlan

BATCHES = 6
SHORT, LONG = 0.5, 5.0
REPEATS = 3

#: Retailers, retailers per actor, and the most that a run may take of the latencies alone.
LONG_BARS = ((20, 1, 1.03), (200, 20, 1.15))
#: Retailers, retailers per actor, and the most that a run may take of the calls on bare litellm.
SHORT_BARS = ((20, 1, 1.15), (200, 20, 1.15))


#: litellm by itself would keep no more than a batch's worth of connections, and fetch its prices.
PLENTY = {
    "AIOHTTP_CONNECTOR_LIMIT": "10000",
    "AIOHTTP_CONNECTOR_LIMIT_PER_HOST": "10000",
    "LITELLM_LOCAL_MODEL_COST_MAP": "True",
}


class Nobody:
    """Watches nothing."""

    def watch(self, plan: EpisodePlan) -> Nobody:  # noqa: ARG002
        return self

    def ended(self, ended: Ended) -> None: ...

    def started(self, plan: Plan) -> None: ...

    def progressed(self, progress: Progress) -> None: ...

    def finished(self, summary: Mapping[str, Any]) -> None: ...


def config(seats: int, per_actor: int, base: str) -> Config:
    options = {"model": "openai/any", "api_base": base, "max_tokens": 256}
    retailers = [{"name": "model", "policy": "llm", "count": seats, "options": options}]
    return load(
        "arena/default",
        [
            f"retailers={json.dumps(retailers)}",
            f"retailers_per_actor={per_actor}",
            "rules.steps=2",
            "rules.attention.similarity=none",
        ],
    )


def played(seats: int, per_actor: int, base: str, folder: Path) -> tuple[float, Path]:
    """Seconds from the first request of a run to its last answer, and its answer log."""
    outcome = run(config(seats, per_actor, base), folder, Nobody())
    assert outcome.owed is None, outcome.owed
    (path,) = folder.glob("episodes/*/calls.jsonl")
    calls = read_calls(path).records
    sent = [call.played or 0.0 for call in calls if call.outcome is Outcome.SENT]
    replied = [call.played or 0.0 for call in calls if call.outcome is Outcome.REPLIED]
    assert len(sent) == len(replied) == BATCHES * seats, (len(sent), len(replied))
    return max(replied) - min(sent), path


async def gathered(base: str, log: Path) -> float:
    """Seconds for the calls of a log, batch by batch, on litellm by itself."""
    import litellm

    litellm.suppress_debug_info = True

    batches: dict[tuple[int, int], list[Any]] = {}
    for call in read_calls(log).records:
        if call.outcome is Outcome.SENT:
            messages = [{"role": one.role, "content": one.content} for one in call.messages]
            batches.setdefault((call.step, call.turn), []).append(messages)

    async def ask(messages: Any) -> None:
        await litellm.acompletion(
            model="openai/any",
            messages=messages,
            api_base=base,
            api_key="no-key",
            max_tokens=256,
            temperature=0.0,
            num_retries=0,
            max_retries=0,
        )

    await ask([{"role": "user", "content": "Hello."}])
    began = time.perf_counter()
    for batch in batches.values():
        await asyncio.gather(*(ask(messages) for messages in batch))
    return time.perf_counter() - began


def bare(base: str, log: Path) -> float:
    """`gathered`, in a process of its own."""
    done = subprocess.run(
        [sys.executable, __file__, "bare", base, str(log)],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        env={**os.environ, **PLENTY},
        check=True,
    )
    return float(done.stdout.splitlines()[-1])


@contextlib.contextmanager
def provider(latency: float) -> Iterator[str]:
    process = subprocess.Popen(
        [sys.executable, __file__, "serve", str(latency)], stdout=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    try:
        yield process.stdout.readline().strip()
    finally:
        process.terminate()
        process.wait()


async def serve(latency: float) -> None:
    from actors.language.rehearsal.rehearsal import Rehearsal
    from actors.language.rehearsal.server import Server
    from actors.language.rehearsal.settings import Settings

    server = Server(Rehearsal(Settings(latency=latency)))
    await server.start()
    print(server.api_base, flush=True)
    await asyncio.Event().wait()


def main() -> int:
    from benchmarks._measure import table

    rows = []
    missed = 0
    with connected(None), tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        with provider(LONG) as base:
            for seats, per_actor, bar in LONG_BARS:
                took, _ = played(seats, per_actor, base, folder / f"long-{seats}")
                path = BATCHES * LONG
                ratio = took / path
                missed += ratio > bar
                times = f"{took:.2f} s", f"{path:g} s, {BATCHES} latencies"
                rows.append((seats, f"{LONG:g} s", *times, f"{ratio:.3f}", bar))
        with provider(SHORT) as base:
            for seats, per_actor, bar in SHORT_BARS:
                ours, theirs = [], []
                for number in range(REPEATS):
                    took, log = played(seats, per_actor, base, folder / f"short-{seats}-{number}")
                    ours.append(took)
                    theirs.append(bare(base, log))
                ratio = statistics.median(a / b for a, b in zip(ours, theirs, strict=True))
                missed += ratio > bar
                median, other = statistics.median(ours), statistics.median(theirs)
                times = f"{median:.2f} s", f"{other:.2f} s on bare litellm"
                rows.append((seats, f"{SHORT:g} s", *times, f"{ratio:.3f}", bar))
    head = (f"Retailers, {BATCHES} batches", "latency", "first request to last answer")
    table((*head, "against", "ratio", "bar"), rows)
    print(f"{os.cpu_count()} cores, load {os.getloadavg()[0]:.1f} at the end")
    return 1 if missed else 0


if __name__ == "__main__":
    if sys.argv[1:2] == ["serve"]:
        asyncio.run(serve(float(sys.argv[2])))
    elif sys.argv[1:2] == ["bare"]:
        print(asyncio.run(gathered(sys.argv[2], Path(sys.argv[3]))))
    else:
        sys.exit(main())
