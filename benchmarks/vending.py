"""Speed of the vending environment: the sales kernel, an idle operator, and a busy one.

    python benchmarks/vending.py

One core, the published world of 20 machines and 180 days. The kernel is luck, means and sales of
a day with 60 products in each machine; the busy operator keeps as many there, looks at all of
them weekly, and is not recorded. Then a thousand episodes of five days, and the memory held after
each hundred: it stays where it is. At last the tables and the page of four operators for 180 days,
in CPU time.
"""

from __future__ import annotations

import statistics
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np

from actors.collecting import relaxed
from actors.run import run
from actors.studies.packing import memory
from benchmarks.latency import Nobody
from market.config import load, rules
from market.play import drive
from market.policies.idle import Idle
from market.policies.policy import Policy
from market.study.report import Gathered, write_report
from market.tables import write_tables
from market.vending import sales
from market.vending.demand import Shelf
from market.vending.policies.random import Random
from market.vending.vending import Vending
from tests.market.vending.operations import Stocker

DAYS = 180
REPEATS = 5
PRODUCTS = 60
#: Days of a short episode, and how many are played one after the other.
SHORT, EPISODES = 5, 1_000


def main() -> None:
    """Print one row per measurement."""
    print(f"{'what':<40}{'median ms a day':>18}{'s for 180 days':>18}")
    row("sales kernel, 20 machines x 60", time_kernel())
    row("an idle operator", time_episode(lambda: Idle("a", 0)))
    row("a busy operator", time_episode(lambda: Stocker("a", 0)))
    print(f"{'episodes of a random operator':<40}{'MiB held':>18}")
    for number, held in held_after(EPISODES):
        print(f"{number:<40}{held:>18.1f}")
    print(f"{'tables and page of vending/paper, CPU':<58}{time_results():>18.2f}")


def held_after(episodes: int) -> Iterator[tuple[int, float]]:
    """Memory of this process in MiB after short episodes, ten times on the way."""
    of = rules(load("vending/paper", [f"rules.days={SHORT}"]))
    for number in range(1, episodes + 1):
        drive(Vending(of, ("a",), number), {"a": Random("a", number).act})
        if number % (episodes // 10) == 0:
            yield number, memory() / 2**20


def time_results() -> float:
    """Seconds of CPU for the tables and the page of the published preset, once more."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name) / "run"
        run(load("vending/paper", ["inline=true"]), folder, Nobody())
        began = time.process_time()
        with relaxed():
            gathered = Gathered()
            write_tables(folder, gathered.play)
            write_report(folder, gathered=gathered)
        return time.process_time() - began


def environment() -> Vending:
    """The published world."""
    return Vending(rules(load("vending/paper")), ("a",), 0)


def time_kernel() -> float:
    """Median seconds of a day's luck, means and sales."""
    world = environment().world
    demand, calendar = environment().demand, environment().calendar
    products = np.argsort(-world.appeal, axis=1, kind="stable")[:, :PRODUCTS]
    sites = np.repeat(np.arange(len(products)), PRODUCTS)
    flat = products.ravel()
    units = np.full(len(flat), 6)
    prices = world.catalogue.reference[flat]
    shelf = Shelf(sites, flat, units, prices, np.ones(len(products)))

    def day(number: int) -> None:
        visits = demand.expected_traffic(calendar, number) * demand.crowd(0, number)
        (means,) = demand.means([shelf], visits)
        luck = sales.luck(0, number, *world.appeal.shape)[sites, flat]
        sales.sold(means, world.dispersion[flat], luck, units)

    return statistics.median(timed(day, number) for number in range(1, DAYS + 1))


def time_episode(policy: Callable[[], Policy]) -> float:
    """Median seconds per day of whole episodes, the policy's own time included."""

    def episode(_: int) -> None:
        drive(environment(), {"a": policy().act})

    return statistics.median(timed(episode, number) for number in range(REPEATS)) / DAYS


def timed(what: Callable[[int], None], number: int) -> float:
    """Seconds that a call takes."""
    start = time.perf_counter()
    what(number)
    return time.perf_counter() - start


def row(what: str, seconds: float) -> None:
    """Print a measurement."""
    print(f"{what:<40}{1e3 * seconds:>18.2f}{DAYS * seconds:>18.2f}")


if __name__ == "__main__":
    main()
