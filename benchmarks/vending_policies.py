"""Who earns how much in the vending operation, and how long a scripted episode takes.

    python benchmarks/vending_policies.py [worlds]

The published world of 20 machines and 180 days, 20 worlds unless said otherwise. Each policy plays
in its own copy of each world with the same luck, so net assets are compared pair by pair. Results
are also given as shares of what planning with full knowledge gains over doing nothing. The time is
that of one core on the whole path of a run: actors, journal and log of calls.
"""

from __future__ import annotations

import json
import statistics
import sys
import tempfile
import time
from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise
from pathlib import Path

from benchmarks._measure import table
from benchmarks.episodes import episode
from market.config import Config, load, rules
from market.play import play
from market.study.statistics import intervals
from market.study.statistics.estimates import Estimate
from market.vending import bound

#: From the floor up; `random` is reported beside them.
POLICIES = ("random", "idle", "rule-based", "planner")
ORDER = ("idle", "rule-based", "planner", "bound")
WORLDS, DAYS, REPEATS = 20, 180, 3


def main(count: int) -> None:
    """Print net assets, paired differences, shares and times."""
    found = worlds(range(count))
    results = {name: [world[name] for world in found] for name in (*POLICIES, "bound")}
    print(f"net assets after {DAYS} days, CNY, {count} worlds, 95% intervals\n")
    table(
        ("", "mean", "least", "most", "share of planner - idle"),
        [
            (name, money(intervals.mean(values)), f"{min(values):,.0f}", f"{max(values):,.0f}",
             percent(share(values, results)))
            for name, values in results.items()
        ],
    )  # fmt: skip
    table(
        ("paired difference", "mean", "worlds in which it is above 0"),
        [
            (f"{better} - {worse}", money(intervals.mean(over)), sum(each > 0 for each in over))
            for worse, better in pairwise(ORDER)
            for over in [differences(results[better], results[worse])]
        ],
    )
    gap = intervals.ratio(differences(results["bound"], results["planner"]), results["bound"])
    print(f"(bound - planner) / bound: {percent(gap)}\n")
    table(
        ("an episode with full journal", "s"),
        [(name, f"{seconds(name):.2f}") for name in ("idle", "rule-based", "planner")],
    )


def worlds(seeds: Iterable[int], days: int = DAYS) -> list[dict[str, float]]:
    """Net assets of each policy, and the bound, in each world."""
    config = roster(POLICIES, days)
    return [
        {**play(config, (), seed).scores, "bound": bound.net_assets(rules(config), seed)}
        for seed in seeds
    ]


def roster(policies: Sequence[str], days: int = DAYS) -> Config:
    """The published world with one seat per policy, of which the planner is informed."""
    seats = json.dumps([{"name": name, "policy": name} for name in policies])
    changes = [f"retailers={seats}", "rules.informed=[planner]", f"rules.days={days}"]
    return load("vending/paper", changes)


def share(values: Sequence[float], results: Mapping[str, Sequence[float]]) -> Estimate:
    """(result - idle) / (planner - idle), a ratio of means over worlds."""
    room = differences(results["planner"], results["idle"])
    return intervals.ratio(differences(values, results["idle"]), room)


def differences(better: Sequence[float], worse: Sequence[float]) -> list[float]:
    return [a - b for a, b in zip(better, worse, strict=True)]


def seconds(policy: str) -> float:
    """Median time of an episode of one seat on the whole path of a run."""
    config, times = roster((policy,)), []
    with tempfile.TemporaryDirectory() as folder:
        for _ in range(REPEATS):
            began = time.process_time()
            # No sentence is ever compared, so nobody answers for the encoder.
            episode(config, None, Path(folder))  # type: ignore[arg-type]
            times.append(time.process_time() - began)
    return statistics.median(times)


def money(estimate: Estimate) -> str:
    return told(estimate, "{:,.0f}", 1)


def percent(estimate: Estimate) -> str:
    return told(estimate, "{:.1f}%", 100)


def told(estimate: Estimate, form: str, scale: int) -> str:
    """The value and its interval, or why there is none."""
    value, low, high = estimate.value, estimate.low, estimate.high
    if value is None or low is None or high is None:
        return f"undefined: {estimate.undefined}"
    shown, least, most = (form.format(scale * each) for each in (value, low, high))
    return f"{shown} [{least}, {most}]"


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else WORLDS)
