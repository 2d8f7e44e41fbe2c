"""Thousands of scripted episodes of the published market, as `market study` plays them.

    python -m benchmarks.sweep [EPISODES]

Two cells, all cores of the machine. Prints episodes per second once the workers are up, what they
held in memory after their first and their last part, the time of tables, summary and page, and what
one episode costs a core that does nothing else (its CPU time, which other processes do not change).
"""

from __future__ import annotations

import sys
import tempfile
import time
from pathlib import Path

from actors import collecting
from actors.studies.packing import Packer
from actors.studies.sweep import conclude, sweep
from actors.studies.vectors import facts_here
from market.config import Config, load
from market.study.sweeps.plan import plan

EPISODES = 2_000
#: Episodes whose CPU time is measured.
ALONE = 40


class Clock:
    """Notes when parts were done."""

    def __init__(self) -> None:
        self.done: list[tuple[float, int]] = []

    def started(self, units: int, done: int) -> None:
        """Nothing was played yet."""

    def played(self, units: int) -> None:
        self.done.append((time.monotonic(), units))

    @property
    def rate(self) -> float:
        """Episodes per second between the first and the last part."""
        (first, _), *rest = self.done
        return sum(units for _, units in rest) / (rest[-1][0] - first)


def study(episodes: int) -> Config:
    return load(
        "arena/paper",
        [
            "study.primary=market.gini_net_worth",
            "study.outcomes=[profit, rank_agreement, correlation.fill_rate, market.hhi_revenue]",
            "study.vary={rules.price_cap: [1.5, 2.0]}",
            f"study.seeds={episodes // 2}",
        ],
    )


def main(episodes: int) -> None:
    config = study(episodes)
    packer = Packer(config, facts_here)
    units = [unit for shard in plan(config).shards for unit in shard.units][: ALONE + 4]
    for unit in units[:4]:
        list(packer.rows(unit))
    collecting.relax()  # as a worker does
    began = time.process_time()
    for unit in units[4:]:
        list(packer.rows(unit))
    alone = (time.process_time() - began) / len(units[4:])
    with tempfile.TemporaryDirectory() as folder:
        clock = Clock()
        began = time.monotonic()
        swept = sweep(config, Path(folder) / "study", clock)
        seconds = time.monotonic() - began
        began = time.monotonic()
        conclude(swept, Path(folder) / "study")
        concluded = time.monotonic() - began
        size = sum(path.stat().st_size for path in (Path(folder) / "study").rglob("*.parquet"))
    print(f"episodes played:                  {swept.played:,} in {seconds:.1f} s")
    print(f"once workers are up:              {clock.rate:.1f} episodes/s")
    print(f"CPU time of an episode:           {1000 * alone:.1f} ms")
    for first, last in swept.memory:
        print(f"memory of a worker:               {first / 2**20:.0f} to {last / 2**20:.0f} MB")
    print(f"tables, summary and page:         {concluded:.1f} s")
    print(f"size of all tables:               {size / 2**20:.1f} MB")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else EPISODES)
