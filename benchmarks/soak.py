"""Tournaments under real faults, one after the other, for as long as you like.

    python benchmarks/soak.py [MINUTES] [SEED]         30 minutes by default

Real Ray, real processes and a rehearsal provider in a process of its own, which limits, fails,
hangs, drops and cuts. While a tournament is played, processes of retailers, markets, the language
client and the encoder are killed (SIGKILL) at random, and in some tournaments the driver too, which
is then started again with what `--resume` does. What strikes follows from the seed; when, from the
machine as well. After each tournament:

- its journals are those of an undisturbed run of the same configuration, byte for byte;
- every request that was sent is settled in the logs, and none has two answers;
- what the provider answered and the logs do not hold is at most what the logs say was lost, and so
  is what it answered twice;
- of the processes that were seen, none is left after some minutes: Ray's own agents outlive a
  driver that is killed by one or two.

Most tournaments are played by one driver that lives as long as the soak: its file handles, threads
and memory are told at the beginning and the end. Ends with 1 if anything does not hold.

A seat whose process is killed twice over one decision is held to have killed it itself. So no
retailer is killed before the episodes that are open have gone on since the last time. And whatever
dies again and again before a tournament goes on ends it for now, by design; so only few are killed
before one of its journals has grown.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import psutil

MINUTES = 30.0

#: Processes by what they are called, and how often each kind is chosen.
KINDS = {
    "ray::RetailerActor": 4,
    "ray::MarketActor": 2,
    "ray::LanguageActor": 2,
    "ray::EncoderActor": 1,
}

#: Seconds between two kills, and most kills before a journal has grown.
GAP, PATIENCE = (0.5, 5.0), 2
#: Share of tournaments whose driver is killed, and how often at most.
DRIVER_SHARE, DRIVER_KILLS = 0.35, 2
#: Seconds after which a driver is killed.
DRIVER_LIFE = (6.0, 30.0)

#: Seconds in which the processes of a driver that is gone must be gone, and a tournament's most.
GRACE, LONGEST = 240.0, 900.0
#: Most lives of a tournament.
LIVES = 20

#: What models say depends on the content alone; the same in the undisturbed run.
SLIPS = {"truncated": 0.03, "malformed": 0.05, "refusals": 0.02, "empty": 0.02}
TROUBLES = {
    "latency": 0.15,
    "spread": 0.5,
    "rate_limit": 0.05,
    "retry_after": 1,
    "errors": 0.04,
    "drops": 0.03,
    "breaks": 0.02,
    "hangs": 0.0005,
}

RULES = {
    "steps": 3,
    "items": [
        {"item": "item1", "tier": "commodity", "quantity": 40, "base": 50},
        {"item": "item2", "tier": "luxury", "quantity": 10, "base": 400},
    ],
    "personas": {
        "Thrifty": {"share": 0.6, "sensitivity": 0.3, "theme": "low price, good value"},
        "Hype": {"share": 0.4, "sensitivity": 0.9, "theme": "limited edition, trendy"},
    },
    "buyers": 20,
    "price_cap": 2.0,
}


def configuration(variant: int, base: str) -> dict[str, Any]:
    """One of three tournaments of two episodes: a process per retailer, per two, and for none."""
    options = {"model": "openai/any", "api_base": base, "max_tokens": 256}
    return {
        "name": f"soak-{variant}",
        "environment": "arena",
        "seed": variant,
        "rules": RULES,
        "retailers": [
            {"name": "model", "policy": "llm", "count": 4, "options": options},
            {"name": "advertiser", "policy": "advertiser"},
            {"name": "zi", "policy": "zi-constrained"},
        ],
        "inline": variant == 2,
        "retailers_per_actor": 2 if variant == 1 else 1,
        "deadline_seconds": 600.0,  # nobody is late on a machine that is busy
        "tournament": {"seeds": 2},
    }


# The provider and the drivers: processes of their own.


async def serve(seed: int | None) -> None:
    """Serve a rehearsal: calm, or with the trouble that a seed draws."""
    from actors.language.rehearsal.reactions import Asked, Reaction, Says
    from actors.language.rehearsal.rehearsal import Rehearsal
    from actors.language.rehearsal.server import Server
    from actors.language.rehearsal.settings import Settings

    model = Rehearsal(Settings(vary=0.3, **SLIPS))  # type: ignore[arg-type]
    troubled = Rehearsal(Settings(seed=seed or 0, **TROUBLES))  # type: ignore[arg-type]

    def behaviour(asked: Asked) -> Reaction:
        reaction = model(asked)
        if seed is None:
            return reaction
        trouble = troubled(asked)
        if isinstance(trouble, Says) and trouble.ends and isinstance(reaction, Says):
            return reaction
        return trouble

    server = Server(behaviour)
    await server.start()
    print(server.address, flush=True)
    await asyncio.Event().wait()


def drive() -> None:
    """Play what is asked on the standard input, a line of JSON each, and say how it went."""
    from actors.run import run
    from benchmarks.latency import Nobody
    from market.config import configure

    me = psutil.Process()
    for line in sys.stdin:
        asked = json.loads(line)
        outcome = run(
            configure(asked["config"]), Path(asked["out"]), Nobody(), resume=asked["resume"]
        )
        told = {
            "owed": outcome.owed,
            "failed": outcome.failed,
            "handles": me.num_fds(),
            "threads": me.num_threads(),
            "megabytes": round(me.memory_info().rss / 2**20),
            "children": len(me.children(recursive=True)),
        }
        print(f"told {json.dumps(told)}", flush=True)


class Driver:
    """A driver, and everything that it started as far as it was seen."""

    def __init__(self, errors: Path) -> None:
        self._errors = errors.open("ab")
        self._process = subprocess.Popen(
            [sys.executable, __file__, "drive"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._errors,
            bufsize=0,
        )
        self._root = psutil.Process(self._process.pid)
        self._seen: dict[int, psutil.Process] = {}
        self._folders: set[str] = set()
        self._told = b""
        assert self._process.stdout is not None
        os.set_blocking(self._process.stdout.fileno(), False)

    @property
    def alive(self) -> bool:
        """Whether it is there."""
        return self._process.poll() is None

    def play(self, config: Mapping[str, Any], out: Path, resume: bool) -> None:
        """Begin to play."""
        assert self._process.stdin is not None
        asked = {"config": config, "out": str(out), "resume": resume}
        self._process.stdin.write(json.dumps(asked).encode() + b"\n")

    def told(self) -> dict[str, Any] | None:
        """How what was asked last went; None while it is played."""
        assert self._process.stdout is not None
        self._told += self._process.stdout.read() or b""
        for line in self._told.splitlines(keepends=True):
            if line.startswith(b"told ") and line.endswith(b"\n"):
                self._told = b""
                told: dict[str, Any] = json.loads(line[5:])
                return told
        return None

    def processes(self) -> dict[str, list[psutil.Process]]:
        """The processes that may be killed, by kind."""
        found: dict[str, list[psutil.Process]] = {}
        with contextlib.suppress(psutil.Error):
            for process in self._root.children(recursive=True):
                self._seen[process.pid] = process
                with contextlib.suppress(psutil.Error):
                    line = " ".join(process.cmdline())
                    self._folders.update(re.findall(r"/tmp/ma-\w+", line))
                    for kind in KINDS:
                        if line.startswith(kind):
                            found.setdefault(kind, []).append(process)
        return found

    def kill(self) -> None:
        """Kill it, and nothing else."""
        self._process.kill()
        self._process.wait()

    def close(self) -> None:
        """Let it end."""
        assert self._process.stdin is not None
        with contextlib.suppress(OSError):
            self._process.stdin.close()
        self._process.wait(timeout=GRACE)
        self._errors.close()

    def orphans(self) -> Orphans:
        """What it started for the last run."""
        seen, folders = list(self._seen.values()), set(self._folders)
        self._seen.clear()
        self._folders.clear()
        return Orphans(time.monotonic() + GRACE, seen, folders)


@dataclass(frozen=True, slots=True)
class Orphans:
    """The processes of a run that is over.

    Attributes:
        until: When they must be gone.
        processes: The processes.
        folders: Folders of theirs, which a driver that was killed could not remove.
    """

    until: float
    processes: list[psutil.Process]
    folders: set[str]

    def left(self) -> list[str]:
        """Who is there all the same when the time is over; they are ended here."""
        _, alive = psutil.wait_procs(self.processes, timeout=max(0, self.until - time.monotonic()))
        left = []
        for process in alive:
            with contextlib.suppress(psutil.Error):
                left.append(f"{process.pid} {' '.join(process.cmdline())[:80].strip()}")
                process.kill()
        for folder in self.folders:
            shutil.rmtree(folder, ignore_errors=True)
        return left


@contextlib.contextmanager
def provider(seed: int | None) -> Iterator[str]:
    """A provider in a process of its own; gives its address."""
    process = subprocess.Popen(
        [sys.executable, __file__, "serve", "" if seed is None else str(seed)],
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    try:
        yield process.stdout.readline().strip()
    finally:
        process.terminate()
        process.wait()


# What is seen of a run: its journals and logs.


def journals(out: Path) -> list[Path]:
    return sorted(out.glob("episodes/*/journal.jsonl"))


def digests(out: Path) -> list[str]:
    from market.journal import journal_digest

    return [journal_digest(path) for path in journals(out)]


@dataclass(slots=True)
class Books:
    """What the logs of a run say: answers, answers to one request twice, losses, loose ends."""

    logged: int = 0
    doubled: int = 0
    lost: int = 0
    unsettled: int = 0

    @classmethod
    def of(cls, out: Path) -> Books:
        from market.calls import Outcome, read_calls, unsettled

        books = cls()
        for path in out.glob("episodes/*/calls.jsonl"):
            log = read_calls(path)
            replied = Counter(c.key for c in log.records if c.outcome is Outcome.REPLIED)
            books.logged += len(replied)
            books.doubled += sum(times - 1 for times in replied.values())
            books.lost += sum(c.outcome is Outcome.LOST for c in log.records)
            books.unsettled += len(unsettled(log))
        return books


def counts(address: str) -> tuple[int, int]:
    """Whole answers that a provider gave, and those to a content that had had one."""
    with urllib.request.urlopen(f"{address}/counts") as response:
        told = json.load(response)
    whole = ("answered", *SLIPS)
    return sum(told["outcomes"].get(name, 0) for name in whole), told["answered_again"]


@dataclass(slots=True)
class Killer:
    """Kills processes of a driver at random, and at times the driver."""

    chance: random.Random
    out: Path
    deadly: bool
    kills: Counter[str] = field(default_factory=Counter)
    _next: float = 0.0
    _driver_at: float = 0.0
    _patience: int = PATIENCE
    _written: int = 0
    _sizes: dict[Path, int] = field(default_factory=dict)

    def begin(self) -> None:
        """A life of a driver begins."""
        now = time.monotonic()
        self._next = now + self.chance.uniform(*GAP)
        more = self.deadly and self.kills["driver"] < DRIVER_KILLS
        self._driver_at = now + self.chance.uniform(*DRIVER_LIFE) if more else float("inf")

    def strike(self, driver: Driver) -> None:
        """Kill somebody if it is time."""
        now = time.monotonic()
        processes = driver.processes()
        if now >= self._driver_at:
            self.kills["driver"] += 1
            driver.kill()
            return
        if now < self._next:
            return
        self._next = now + self.chance.uniform(*GAP)
        written = sum(path.stat().st_size for path in journals(self.out))
        if written > self._written:
            self._written, self._patience = written, PATIENCE
        if not self._patience:
            return
        kind = self.chance.choices(list(KINDS), list(KINDS.values()))[0]
        if kind == "ray::RetailerActor" and not self._went_on():
            return
        if found := processes.get(kind):
            with contextlib.suppress(psutil.Error):
                os.kill(self.chance.choice(found).pid, signal.SIGKILL)
                self._patience -= 1
                self.kills[kind.removeprefix("ray::").removesuffix("Actor").lower()] += 1

    def _went_on(self) -> bool:
        """Whether all episodes that were open at the last kill of a retailer have gone on since."""
        sizes = {path: path.stat().st_size for path in journals(self.out)}
        if any(sizes.get(path) == size for path, size in self._sizes.items()):
            return False
        over = {path for path in sizes if b'"result"' in path.read_bytes().splitlines()[-1][:400]}
        self._sizes = {path: size for path, size in sizes.items() if path not in over}
        return True


@dataclass(slots=True)
class Soak:
    """All tournaments so far."""

    folder: Path
    chance: random.Random
    steady: Driver
    references: dict[int, tuple[list[str], int]] = field(default_factory=dict)
    tournaments: int = 0
    episodes: int = 0
    kills: Counter[str] = field(default_factory=Counter)
    served: int = 0
    logged: int = 0
    lost: int = 0
    again: int = 0
    states: list[dict[str, Any]] = field(default_factory=list)
    wrong: list[str] = field(default_factory=list)
    orphans: list[Orphans] = field(default_factory=list)
    left: int = 0

    def undisturbed(self, variant: int) -> tuple[list[str], int]:
        """The journals of a run that nothing happens to, and its answers to equal contents."""
        if variant not in self.references:
            out = self.folder / f"calm-{variant}"
            with provider(None) as address:
                self.steady.play(configuration(variant, f"{address}/v1"), out, resume=False)
                told = self._wait(self.steady, None)
                if told is None or told["owed"] or told["failed"]:
                    raise SystemExit(f"The undisturbed run failed ({told}), see {self.folder}.")
                self.states.append(told)
                self.references[variant] = digests(out), counts(address)[1]
        return self.references[variant]

    def play(self) -> None:
        """One tournament under faults."""
        variant = self.tournaments % 3
        calm, equal = self.undisturbed(variant)
        self.tournaments += 1
        number, began = self.tournaments, time.monotonic()
        out = self.folder / f"run-{number}"
        deadly = self.chance.random() < DRIVER_SHARE
        killer = Killer(self.chance, out, deadly)
        with provider(number) as address:
            config = configuration(variant, f"{address}/v1")
            lives = self._live(killer, config, out, deadly)
            served, again = counts(address)
        books = Books.of(out)
        wrong = []
        if digests(out) != calm:
            wrong.append("its journals are others")
        if books.doubled or books.unsettled:
            wrong.append(f"{books.doubled} doubled answers and {books.unsettled} loose ends")
        if not 0 <= served - books.logged <= books.lost:
            wrong.append(f"{served} answers served, {books.logged} logged, {books.lost} lost")
        if again - equal > books.lost:
            wrong.append(f"{again - equal} answers were given twice, {books.lost} were lost")
        self.wrong += [f"tournament {number}: {what}" for what in wrong]
        self.episodes += len(calm)
        self.kills.update(killer.kills)
        self.served += served
        self.logged += books.logged
        self.lost += books.lost
        self.again += max(0, again - equal)
        killed = ", ".join(f"{kind} {times}" for kind, times in sorted(killer.kills.items()))
        print(
            f"{number:4}  {time.monotonic() - began:6.1f} s  variant {variant}  lives {lives}  "
            f"killed: {killed or 'nobody'}; answers {served} served, {books.logged} logged, "
            f"{books.lost} lost  {'; '.join(wrong) or 'holds'}",
            flush=True,
        )
        if not wrong:
            shutil.rmtree(out)

    def _live(self, killer: Killer, config: Mapping[str, Any], out: Path, deadly: bool) -> int:
        """Live and die until all is played; gives the lives of drivers that it took."""
        lives = 0
        while lives < LIVES:
            lives += 1
            driver = Driver(self.folder / "errors") if deadly else self.steady
            driver.play(config, out, resume=(out / "episodes").exists())
            killer.begin()
            told = self._wait(driver, killer)
            if deadly:
                with contextlib.suppress(subprocess.TimeoutExpired):
                    driver.close()
            self.orphans.append(driver.orphans())
            if told is None and not killer.kills["driver"]:
                self.wrong.append(f"{out.name}: the driver ended by itself, see {self.folder}")
                if not self.steady.alive:
                    self.steady = Driver(self.folder / "errors")
            if told is not None and told["failed"]:
                self.wrong.append(f"{out.name}: {told['failed']}")
                return lives
            if told is not None and not deadly:
                self.states.append(told)
            if told is not None and told["owed"] is None:
                return lives
        self.wrong.append(f"{out.name}: not played in {LIVES} lives")
        return lives

    def _wait(self, driver: Driver, killer: Killer | None) -> dict[str, Any] | None:
        """How a run ends; None if its driver dies."""
        until = time.monotonic() + LONGEST
        while driver.alive:
            if (told := driver.told()) is not None:
                return told
            if time.monotonic() > until:
                self.wrong.append(f"no end after {LONGEST:g} s")
                driver.kill()
                return None
            if killer is None:
                driver.processes()
            else:
                killer.strike(driver)
            time.sleep(0.1)
        return None

    def bury(self, *, everybody: bool = False) -> None:
        """See that nobody is left of runs that are over for long, or of all."""
        now = time.monotonic()
        for orphans in [one for one in self.orphans if everybody or one.until <= now]:
            self.orphans.remove(orphans)
            left = orphans.left()
            self.left += len(left)
            self.wrong += [f"left behind: {who}" for who in left]

    def table(self) -> None:
        """Print what there was."""
        from benchmarks._measure import table

        first, last = self.states[0], self.states[-1]
        kills = ", ".join(f"{kind} {times}" for kind, times in sorted(self.kills.items()))
        rows = [
            ("tournaments, all with the journals of an undisturbed run", self.tournaments),
            ("episodes", self.episodes),
            ("killed", kills or "nobody"),
            ("answers served", self.served),
            ("answers logged", self.logged),
            ("calls lost, as logged", self.lost),
            ("answers served twice", self.again),
            ("processes left behind", self.left),
        ]
        for name, words in (
            ("handles", "file handles of the driver"),
            ("threads", "threads of the driver"),
            ("megabytes", "memory of the driver, MB"),
            ("children", "processes of the driver after a run"),
        ):
            rows.append((f"{words}, first and last of {len(self.states)} runs",))  # type: ignore[arg-type]
            rows[-1] += (f"{first[name]} to {last[name]}",)  # type: ignore[assignment]
        table(("Soak", ""), rows)


def main(minutes: float, seed: int) -> int:
    folder = Path(tempfile.mkdtemp(prefix="soak-"))
    soak = Soak(folder, random.Random(seed), Driver(folder / "errors"))
    until = time.monotonic() + 60 * minutes
    try:
        while time.monotonic() < until:
            soak.play()
            soak.bury()
    finally:
        soak.steady.close()
        soak.orphans.append(soak.steady.orphans())
        soak.bury(everybody=True)
    soak.table()
    print(f"{os.cpu_count()} cores, load {os.getloadavg()[0]:.1f} at the end, seed {seed}")
    for what in soak.wrong:
        print(f"! {what}")
    if soak.wrong:
        print(f"What is left of them is in {folder}.")
        return 1
    shutil.rmtree(folder)
    return 0


if __name__ == "__main__":
    if sys.argv[1:2] == ["serve"]:
        asyncio.run(serve(int(sys.argv[2]) if sys.argv[2] else None))
    elif sys.argv[1:2] == ["drive"]:
        drive()
    else:
        asked = [float(word) for word in sys.argv[1:3]]
        sys.exit(main(asked[0] if asked else MINUTES, int(asked[1]) if len(asked) > 1 else 1))
