"""How fast episodes run: in this process with the full record, and on Ray against a bare Ray."""

from __future__ import annotations

import asyncio
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from actors import collecting
from actors.cluster import connected
from actors.correspondence import Correspondence
from actors.driver import Driver
from actors.episode import Episode
from actors.outside import EncodedFacts
from actors.roster import roster
from actors.staging import Script, grouped, stage_inline
from market.calls import CallLog
from market.config import Config, load, recorded
from market.environment import Answer, Decision
from market.journal import Header, JournalWriter, read
from market.language import ProviderFailure, Request
from market.play import play

PRESET = "arena/paper"
EPISODES = 20
REPEATS = 5


class NoModel:
    """No retailer of the preset asks a model."""

    async def complete(self, request: Request) -> ProviderFailure:
        raise AssertionError(request)


class Nobody:
    """Watches nothing."""

    def progressed(self, progress: object) -> None: ...


def script(config: Config, size: int = 1) -> tuple[Script, Header]:
    header = Header.of(recorded(config), config.kind.rules_version, f"seed-{config.seed}")
    castings = [seat.casting for seat in roster(config)]
    return Script(header.config, grouped(castings, size), header.digest, 30.0), header


def episode(config: Config, facts: EncodedFacts, folder: Path) -> Path:
    told, header = script(config, 20)
    path = folder / f"{config.seed}-{time.perf_counter_ns()}.jsonl"

    async def market() -> Episode:
        return stage_inline(told, facts)

    async def play() -> None:
        letters = Correspondence(header.episode, log, NoModel())
        await Driver(market, journal, letters, Nobody(), 6).play()  # type: ignore[arg-type]

    with JournalWriter.create(path, header) as journal, CallLog(path.with_suffix(".calls")) as log:
        asyncio.run(play())
    return path


def inline() -> None:
    config = load(PRESET)
    facts = EncodedFacts(config.encoder.model)
    seeds = [config.model_copy(update={"seed": seed}) for seed in range(EPISODES)]
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for one in seeds:  # compiles, and fills the cache of similarities
            path = episode(one, facts, folder)
        collecting.relax()  # as a run does
        journal = read(path)
        rounds = sum("outside" not in batch.answers for batch in journal.batches)
        decisions = sum(
            len(batch.answers) for batch in journal.batches if "outside" not in batch.answers
        )
        size = path.stat().st_size
        cpu, wall = [], []
        for _ in range(REPEATS):
            began, began_cpu = time.perf_counter(), time.process_time()
            for one in seeds:
                episode(one, facts, folder)
            wall.append((time.perf_counter() - began) / EPISODES)
            cpu.append((time.process_time() - began_cpu) / EPISODES)
    seconds, busy = statistics.median(wall), statistics.median(cpu)
    print(f"inline, {PRESET}, 20 scripted retailers, full journal, warm cache")
    print(f"  episodes per second         {1 / seconds:8.1f}   (by CPU time {1 / busy:.1f})")
    print(
        f"  decision rounds per second  {rounds / seconds:8.0f}   (by CPU time {rounds / busy:.0f})"
    )
    print(f"  journal bytes per decision  {size / decisions:8.0f}")


def bare() -> None:
    """The environment and its policies alone: what a sweep of scripts plays."""
    config = load(PRESET)
    facts = EncodedFacts(config.encoder.model)

    def outside(decision: Decision) -> Answer:
        answer = facts.answer_now(decision)
        assert isinstance(answer, Answer)
        return answer

    def all_seeds() -> None:
        for seed in range(EPISODES):
            play(config, seed=seed, outside=outside)

    all_seeds()
    collecting.relax()
    cpu = []
    for _ in range(REPEATS):
        began = time.process_time()
        all_seeds()
        cpu.append((time.process_time() - began) / EPISODES)
    print(f"environment and policies, {PRESET}, no journal")
    print(f"  episodes per second, by CPU time {1 / statistics.median(cpu):8.1f}")


def on_ray() -> None:
    """One process per retailer, against bare actors that are sent and return as much."""
    config = load(PRESET)
    with connected(None):
        import ray

        from actors import ray_actors

        outside = ray_actors.RemoteOutside(config.encoder.model, "encoder", ray_actors.here())
        asyncio.run(outside.problem())
        bare_start, floor = _floor(ray)
        handle = ray_actors.start(ray_actors.MarketActor, outside)
        market = ray_actors.RemoteMarket(handle, script(config)[0], lambda _: None)

        ray.get(handle.ready.remote())
        began = time.perf_counter()
        asyncio.run(market.start([]))
        started = time.perf_counter() - began
        ours = asyncio.run(_batches(market))
        print(f"on Ray, {PRESET}, one process per retailer")
        print(f"  20 retailers up             {started:8.1f} s")
        print(f"  20 bare actors up           {bare_start:8.1f} s")
        print(f"  time against bare           {started / bare_start:8.2f}")
        ratio = statistics.median(floor) / statistics.median(ours)
        print(f"  batch asked and answered    {1e3 * statistics.median(ours):8.1f} ms")
        print(f"  bare Ray, same shape        {1e3 * statistics.median(floor):8.1f} ms")
        print(f"  share of the bare floor     {ratio:8.2f}")


async def _batches(market: object) -> list[float]:
    """Seconds of each batch that retailers answered, the first of a step left out."""
    times = []
    while True:
        began = time.perf_counter()
        gathered = (await market.gather()).gathered  # type: ignore[attr-defined]
        state = await market.apply()  # type: ignore[attr-defined]
        if "outside" not in gathered.texts:
            times.append(time.perf_counter() - began)
        if state.result is not None:
            return times


def _floor(ray: object) -> tuple[float, list[float]]:
    """Seconds to start 20 bare actors, and of rounds of the same shape as ours.

    The driver steps a market actor, which asks 20 actors at once and waits for all.
    """

    class Market:
        """Asks 20 actors at once."""

        def __init__(self) -> None:
            class Bare:
                def act(self, sent: bytes) -> bytes:
                    return sent[:400]

            kind = ray.remote(num_cpus=0)(Bare)  # type: ignore[attr-defined]
            began = time.perf_counter()
            self._actors = [kind.remote() for _ in range(20)]
            ray.get([actor.act.remote(b"") for actor in self._actors])  # type: ignore[attr-defined]
            self._started = time.perf_counter() - began

        def started(self) -> float:
            return self._started

        def round(self, sent: bytes) -> int:
            asked = [actor.act.remote(sent) for actor in self._actors]
            return len(ray.get(asked))  # type: ignore[attr-defined]

    market = ray.remote(num_cpus=0)(Market).remote()  # type: ignore[attr-defined]
    started: float = ray.get(market.started.remote())  # type: ignore[attr-defined]
    times = []
    for _ in range(40):
        began = time.perf_counter()
        ray.get(market.round.remote(b"x" * 2_000))  # type: ignore[attr-defined]
        times.append(time.perf_counter() - began)
    ray.kill(market)  # type: ignore[attr-defined]
    return started, times


def help_page() -> None:
    seconds = _median(
        lambda: subprocess.run(
            [Path(sys.executable).with_name("market"), "--help"],
            check=True, capture_output=True, env={**os.environ},
        )
    )  # fmt: skip
    print(f"market --help                 {seconds:8.2f} s")


def _median(call: Callable[[], object]) -> float:
    times = []
    for _ in range(REPEATS):
        began = time.perf_counter()
        call()
        times.append(time.perf_counter() - began)
    return statistics.median(times)


if __name__ == "__main__":
    inline()
    bare()
    on_ray()
    help_page()
