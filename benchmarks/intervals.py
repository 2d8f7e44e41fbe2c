"""How often intervals hold, and how often a study of equals finds something (docs/statistics.md).

    python benchmarks/intervals.py

Prints the tables of that page: every figure is a share of simulated studies, with its own sampling
error. Some two minutes on one core.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from math import exp, sqrt

import numpy as np
from numpy.typing import NDArray

from market.rng import generator
from market.study.statistics import bootstrap, intervals, pairwise, power, ranks
from market.study.statistics.estimates import Estimate

Floats = NDArray[np.float64]
Draw = Callable[[np.random.Generator, tuple[int, ...]], Floats]

BLOCKS = (5, 10, 30)
STUDIES = 2_000
FAMILIES = 1_000
PLAYERS = 20
#: Random flips of one simulated study: its p-values need no third digit.
FLIPS = 999


def normal(rng: np.random.Generator, shape: tuple[int, ...]) -> Floats:
    return rng.normal(size=shape)


def exponential(rng: np.random.Generator, shape: tuple[int, ...]) -> Floats:
    return rng.exponential(size=shape) - 1


def lognormal(rng: np.random.Generator, shape: tuple[int, ...]) -> Floats:
    return rng.lognormal(size=shape) - exp(0.5)


DISTRIBUTIONS: dict[str, Draw] = {
    "normal": normal,
    "exponential (skewness 2)": exponential,
    "lognormal (skewness 6)": lognormal,
}


def covers(estimate: Estimate, truth: float) -> bool:
    """Whether an interval holds the truth; one that was refused does not leave it out."""
    return estimate.low is None or estimate.high is None or estimate.low <= truth <= estimate.high


def share(found: Iterator[bool] | list[bool]) -> str:
    """A share in percent with its sampling error."""
    flags = list(found)
    part = sum(flags) / len(flags)
    return f"{100 * part:.1f} ± {100 * sqrt(part * (1 - part) / len(flags)):.1f}"


def mean_coverage(draw: Draw, blocks: int, method: intervals.Method, studies: int) -> list[bool]:
    rng = generator(1, "coverage", "mean", blocks)
    return [
        covers(intervals.mean(sample.tolist(), seed=study, method=method), 0)
        for study, sample in enumerate(draw(rng, (studies, blocks)))
    ]


def ratio_coverage(blocks: int, studies: int) -> list[bool]:
    """Numerators about 2, denominators about 4 with a deviation of 1, correlated 0.6."""
    rng = generator(1, "coverage", "ratio", blocks)
    noise = rng.normal(size=(studies, blocks, 2))
    under = 4 + noise[..., 0]
    over = 2 + 0.6 * noise[..., 0] + 0.8 * noise[..., 1]
    return [
        covers(intervals.ratio(a.tolist(), b.tolist()), 0.5)
        for a, b in zip(over, under, strict=True)
    ]


def two_way_coverage(
    seeds: int, rosters: int, effects: float, played: float, studies: int
) -> list[bool]:
    """Effects of seed and roster with a deviation, cells with deviation 1, some not played."""
    rng = generator(1, "coverage", "two ways", seeds, rosters)
    found = []
    for study in range(studies):
        cells = effects * (rng.normal(size=(seeds, 1)) + rng.normal(size=(1, rosters)))
        cells = cells + rng.normal(size=(seeds, rosters))
        there = np.argwhere(rng.random((seeds, rosters)) < played).tolist()
        values = {(row, column): float(cells[row, column]) for row, column in there}
        found.append(covers(bootstrap.two_way(values, draws=500, seed=study), 0))
    return found


def false_findings(draw: Draw, blocks: int, studies: int, players: int = PLAYERS) -> list[bool]:
    """Whether a study of identical players tells any two of them apart."""
    rng = generator(1, "coverage", "families", blocks)
    return [
        bool((pairwise.romano_wolf(pairwise.differences(scores), study, FLIPS) <= 0.05).any())
        for study, scores in enumerate(draw(rng, (studies, blocks, players)))
    ]


def false_finding_of_one(draw: Draw, blocks: int, studies: int) -> list[bool]:
    """Whether a pair of identical players is told apart."""
    rng = generator(1, "coverage", "one pair", blocks)
    sides = draw(rng, (2, studies, blocks))
    return [
        pairwise.sign_flip(gaps.tolist(), study) <= 0.05
        for study, gaps in enumerate(sides[0] - sides[1])
    ]


def rank_coverage(means: Floats, blocks: int, studies: int) -> tuple[list[bool], float]:
    """Whether all rank sets hold at once, and the mean number of ranks in a set."""
    rng = generator(1, "coverage", "ranks", blocks)
    true = 1 + (means[None, :] > means[:, None]).sum(axis=1)
    found, sizes = [], []
    for study in range(studies):
        scores = means + rng.normal(size=(blocks, len(means)))
        sets = ranks.rank_sets(scores, seed=study, draws=FLIPS)
        found.append(all(own.low <= rank <= own.high for own, rank in zip(sets, true, strict=True)))
        sizes += [own.high - own.low + 1 for own in sets]
    return found, sum(sizes) / len(sizes)


def detections(blocks: int, studies: int) -> list[bool]:
    """Whether the difference that is said to be detectable at 80% is found."""
    rng = generator(1, "coverage", "power", blocks)
    least = power.detectable(1, blocks)
    assert least is not None
    samples = rng.normal(least, 1, (studies, blocks))
    return [intervals.mean(sample.tolist(), method="t").decided for sample in samples]


def table(head: str, rows: list[tuple[str, ...]]) -> None:
    """Print a table of markdown."""
    titles = [*head.split(" | "), *(f"{blocks} blocks" for blocks in BLOCKS)]
    print("\n| " + " | ".join(titles) + " |\n|" + " --- |" * len(titles))
    for row in rows:
        print("| " + " | ".join(row) + " |", flush=True)


def main() -> None:
    methods: tuple[intervals.Method, ...] = ("t", "bootstrap-t")
    table(
        "covered by a 95% interval, % | blocks are",
        [
            (
                f"mean, {method}",
                name,
                *(share(mean_coverage(draw, blocks, method, STUDIES)) for blocks in BLOCKS),
            )
            for method in methods
            for name, draw in DISTRIBUTIONS.items()
        ]
        + [("ratio, Fieller", "normal", *(share(ratio_coverage(n, STUDIES)) for n in BLOCKS))]
        + [
            (
                "mean over seeds and 10 rosters, two ways",
                f"effects {effects} times the noise, {played:.0%} played",
                *(share(two_way_coverage(n, 10, effects, played, FAMILIES)) for n in BLOCKS),
            )
            for effects, played in ((1, 1), (1, 0.7), (1, 0.3), (0, 1))
        ],
    )
    table(
        "studies that find what is not there, % | scores are",
        [
            (
                f"any of {PLAYERS * (PLAYERS - 1) // 2} pairs of {PLAYERS} identical policies",
                name,
                *(share(false_findings(draw, n, FAMILIES)) for n in BLOCKS),
            )
            for name, draw in DISTRIBUTIONS.items()
        ]
        + [
            (
                "one pair, sign flips",
                name,
                *(share(false_finding_of_one(draw, n, STUDIES)) for n in BLOCKS),
            )
            for name, draw in DISTRIBUTIONS.items()
        ],
    )
    shapes = {
        "all equal": np.zeros(PLAYERS),
        "four groups of 5, one deviation apart": np.repeat(np.arange(4.0), 5),
        "steps of a quarter deviation": np.arange(PLAYERS) / 4,
    }
    rows = []
    for name, means in shapes.items():
        found = [rank_coverage(means, blocks, FAMILIES // 2) for blocks in BLOCKS]
        rows.append((name, *(f"{share(held)} ({size:.1f} ranks)" for held, size in found)))
    table("all 95% rank sets hold, % (mean size of a set)", rows)
    table(
        "difference found, %",
        [("that is detectable at 80%", *(share(detections(n, STUDIES)) for n in BLOCKS))],
    )


if __name__ == "__main__":
    main()
