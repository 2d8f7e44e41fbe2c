"""Who kills the processes of a driver at random, and at times the driver."""

from __future__ import annotations

import contextlib
import os
import random
import signal
import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

import psutil

from benchmarks._soak.driver import KINDS, Driver

#: Seconds between two kills, and most kills before a journal has grown.
GAP, PATIENCE = (0.5, 5.0), 2
#: Share of tournaments whose driver is killed, and how often at most.
DRIVER_SHARE, DRIVER_KILLS = 0.35, 2
#: Seconds after which a driver is killed.
DRIVER_LIFE = (6.0, 30.0)


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


def journals(out: Path) -> list[Path]:
    """The journals of a run, in the order of their names."""
    return sorted(out.glob("episodes/*/journal.jsonl"))
