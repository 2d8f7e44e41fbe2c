"""Seeded faults: how many seeds hold, how fast they are played and what struck.

    python benchmarks/faults.py [COUNT] [FIRST]

Plays COUNT seeds (20,000 by default) from FIRST (0) on all cores. Ends with 1 if any is broken.
"""

from __future__ import annotations

import os
import sys
import time
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor

from actors.simulation.faults import Fault
from actors.simulation.runs import Verdict, simulate

COUNT = 20_000


def main() -> int:
    count = int(sys.argv[1]) if len(sys.argv) > 1 else COUNT
    first = int(sys.argv[2]) if len(sys.argv) > 2 else 0
    cores = len(os.sched_getaffinity(0))
    began = time.perf_counter()
    struck: Counter[Fault] = Counter()
    totals: Counter[str] = Counter()
    broken = 0
    for verdict in played(range(first, first + count), cores):
        struck.update(fault for fault in Fault for line in verdict.schedule if str(fault) in line)
        for name in ("faults", "lives", "calls", "lost", "seconds"):
            totals[name] += int(getattr(verdict, name))
        if verdict.broken:
            broken += 1
            print(verdict, flush=True)
    took = time.perf_counter() - began
    print(f"{count - broken:,} of {count:,} seeds hold")
    print(f"{count / took * 60:,.0f} seeds a minute on {cores} cores, {took:,.0f} s in all")
    print(f"{totals['seconds'] / 86_400:,.0f} days on their own clocks")
    print(
        f"{totals['faults']:,} faults, {totals['lives']:,} lives of drivers, "
        f"{totals['calls']:,} requests, of which {totals['lost']:,} were lost and asked again"
    )
    for fault, times in struck.most_common():
        print(f"  {times:>9,}  {fault}")
    return 1 if broken else 0


def played(seeds: range, cores: int) -> Iterator[Verdict]:
    with ProcessPoolExecutor(cores) as pool:
        yield from pool.map(simulate, seeds, chunksize=50)


if __name__ == "__main__":
    sys.exit(main())
