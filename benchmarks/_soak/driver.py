"""A driver of tournaments in a process of its own, and whatever it leaves behind."""

from __future__ import annotations

import contextlib
import json
import os
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psutil

#: Processes by what they are called, and how often each kind is chosen.
KINDS = {
    "ray::RetailerActor": 4,
    "ray::MarketActor": 2,
    "ray::LanguageActor": 2,
    "ray::EncoderActor": 1,
}

#: Seconds in which the processes of a driver that is gone must be gone.
GRACE = 240.0


class Driver:
    """A driver, and everything that it started as far as it was seen."""

    def __init__(self, errors: Path) -> None:
        self._errors = errors.open("ab")
        self._process = subprocess.Popen(
            [sys.executable, "-m", __spec__.name],
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


if __name__ == "__main__":
    drive()
