"""Speed of the arena's kernels: the auction, attention, and the settlement of retail.

    python benchmarks/kernels.py [--largest 10000000]

One core. Every figure is the median of repeated timings, after a first call that compiles. The
settlement is timed with the considered sets given; drawing them is timed apart, as attention. Peak
memory is that of the whole process so far, so sizes run in ascending order.
"""

from __future__ import annotations

import argparse
import resource
import statistics
import sys
import time
from collections.abc import Callable

import numpy as np

from market import rng
from market.arena import attention, auction
from market.arena.buyers import Buyers, draw_buyers
from market.arena.retail import Sales, seller_luck, settle

SELLERS = [f"seat-{number}" for number in range(20)]
SUPPLY = {"item1": 200, "item2": 200, "item3": 133, "item4": 133, "item5": 134}
SUPPLY |= {"item6": 75, "item7": 75, "item8": 50}
BASES = [50, 50, 150, 150, 150, 800, 800, 2000]
SHARES = [0.4, 0.3, 0.2, 0.1]
WILLINGNESS = [(1.0, 1.6), (1.0, 2.0), (1.0, 3.0), (1.0, 2.5)]
SENSITIVITIES = [0.2, 0.8, 0.9, 0.5]
CONSIDERED = 12
UNITS_EACH = 5


def main() -> None:
    """Print one row per kernel and size."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--largest", type=int, default=10_000_000, help="most buyers to settle")
    largest = parser.parse_args().largest
    sizes = [size for size in (200, 20_000, 1_000_000, 10_000_000) if size <= largest]

    print(f"{'kernel':<28}{'size':>12}{'median s':>12}{'rate':>26}{'peak MB':>9}")
    time_auction()
    time_settlement(200, 1)  # compiles
    for size in sizes:
        time_buyers(size, repeats(size))
    for size in sizes:
        time_attention(size, repeats(size))
    for size in sizes:
        row("settlement", size, time_settlement(size, repeats(size)), size, "buyers/s")


def repeats(size: int) -> int:
    """More repetitions where they are cheap."""
    return 3 if size > 1_000_000 else 5 if size > 20_000 else 50


def time_auction() -> None:
    """One round of 20 seats that bid three lines on each of 8 items, most of them tied."""
    items = {item: auction.ItemTerms(base) for item, base in zip(SUPPLY, BASES, strict=True)}
    terms = auction.Terms(items, lines_per_item=3, ties="prorata", over_budget="trim")
    luck = rng.draws(1, "bids")
    answers = {
        seat: [
            {"item": item, "quantity": luck.integer(1, 20), "price": base.base + luck.integer(0, 3)}
            for item, base in items.items()
            for _ in range(3)
        ]
        for seat in SELLERS
    }
    lines = {seat: auction.judge(answer, terms, 10**7) for seat, answer in answers.items()}
    count = sum(map(len, lines.values()))

    def judge() -> None:
        for answer in answers.values():
            auction.judge(answer, terms, 10**7)

    def clear() -> None:
        auction.clear(
            lines, SUPPLY, terms, lambda item, seat: rng.key(1, "auction", 1, 1, item, seat)
        )

    row("auction, judge", count, median(judge, 100), count, "lines/s")
    row("auction, clear", count, median(clear, 100), count, "lines/s")


def time_buyers(size: int, times: int) -> None:
    """Drawing the population."""
    row("population", size, median(lambda: population(size), times), size, "buyers/s")


def time_attention(size: int, times: int) -> None:
    """Drawing whom buyers consider: a draw is one buyer and one seller."""
    buyers, weight = population(size), weights()

    def draw() -> None:
        for _ in attention.considered(1, 1, SELLERS, weight, [CONSIDERED] * 4, buyers.persona):
            pass

    row("attention", size, median(draw, times), size * len(SELLERS), "draws/s")


def time_settlement(size: int, times: int) -> float:
    """Median seconds to settle all buyers, their considered sets given, in runs."""
    buyers, weight, luck = population(size), weights(), seller_luck(1, 1, SELLERS)
    markup = rng.generator(1, "markup").uniform(1.0, 1.4, (len(BASES), len(SELLERS)))
    prices = np.floor(np.array(BASES)[:, None] * markup).astype(np.int64)
    stock_each = -(-size * UNITS_EACH // (len(BASES) * len(SELLERS)))
    seconds = []
    for _ in range(times):
        stock = np.full(prices.shape, stock_each, np.int64)
        sales, spent = Sales.none(*prices.shape), 0.0
        for span, considered in attention.considered(
            1, 1, SELLERS, weight, [CONSIDERED] * 4, buyers.persona
        ):
            start = time.perf_counter()
            settle(buyers.part(span), considered, prices, stock, luck, sales)
            spent += time.perf_counter() - start
        seconds.append(spent)
    return statistics.median(seconds)


def population(size: int) -> Buyers:
    """Buyers of the default kind, wanting five units each."""
    return draw_buyers(
        1,
        1,
        demand=size * UNITS_EACH,
        buyers=size,
        shares=SHARES,
        supply=list(SUPPLY.values()),
        bases=BASES,
        willingness=WILLINGNESS,
    )


def weights() -> np.ndarray:
    """Weights of slogans of different quality."""
    similar = [[40_000 * (number % 9)] * len(SHARES) for number in range(len(SELLERS))]
    return attention.weights(similar, SENSITIVITIES, 0.2)


def median(work: Callable[[], object], times: int) -> float:
    """Median seconds of repeated calls."""
    seconds = []
    for _ in range(times):
        start = time.perf_counter()
        work()
        seconds.append(time.perf_counter() - start)
    return statistics.median(seconds)


def row(kernel: str, size: int, seconds: float, count: int, unit: str) -> None:
    """Print a row."""
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
    print(f"{kernel:<28}{size:>12,}{seconds:>12.6f}{count / seconds:>16,.0f} {unit:<9}{peak:>9,}")
    sys.stdout.flush()


if __name__ == "__main__":
    main()
