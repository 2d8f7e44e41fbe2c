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

import contextlib
import os
import random
import shutil
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from benchmarks._soak.driver import Driver, Orphans
from benchmarks._soak.killer import DRIVER_SHARE, Killer, journals
from benchmarks._soak.provider import counts, provider

MINUTES = 30.0
#: Seconds of a tournament at most.
LONGEST = 900.0
#: Most lives of a tournament.
LIVES = 20

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


@dataclass(slots=True)
class Soak:
    """All tournaments so far."""

    folder: Path
    chance: random.Random
    steady: Driver
    references: dict[int, tuple[list[str], int]] = field(default_factory=dict)
    tournaments: int = 0
    equal: int = 0
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
        if digests(out) == calm:
            self.equal += 1
        else:
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
        rows: list[tuple[str, Any]] = [
            ("tournaments", self.tournaments),
            ("of these with the journals of an undisturbed run", self.equal),
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
            what = f"{words}, first and last of {len(self.states)} runs"
            rows.append((what, f"{first[name]} to {last[name]}"))
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
    asked = [float(word) for word in sys.argv[1:3]]
    sys.exit(main(asked[0] if asked else MINUTES, int(asked[1]) if len(asked) > 1 else 1))
