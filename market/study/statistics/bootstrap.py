"""Bootstraps for what has no formula: any statistic of blocks; crossed seeds and rosters.

*Two ways.* Where rosters are a sample too, what is found must hold for other seeds and for other
rosters. A cell (seed, roster) shares luck with its row and company with its column; cells that were
never played are not there. Whole seeds are resampled, whole rosters, and single cells; the variance
of the mean is that of the first plus that of the second less that of the third, which both hold
(Cameron, Gelbach and Miller 2011), and at least the greater of the first two. It is used with
Student's t of the smaller number of seeds and rosters, less one, as percentiles of a handful of
rows are too narrow. Resampling both ways at once (Owen's pigeonhole bootstrap, 2007) was left: it
counts what belongs to single cells three times, and so asks for up to three times the games.

A one-way layout in disguise is treated as one: a single roster, or rosters that each met one seed
only, are part of their seed.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from math import sqrt
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from market.rng import generator
from market.study.statistics.estimates import Estimate
from market.study.statistics.intervals import finite, mean, ratio, resamples, t_quantile

T = TypeVar("T")

#: Below so many blocks percentiles of resamples say too little.
FEW_BLOCKS = 5
#: The share of resamples in which a statistic may be undefined.
_SPARE = 0.05


def two_way(
    values: Mapping[tuple[Hashable, Hashable], float],
    level: float = 0.95,
    draws: int = 2_000,
    seed: int = 0,
) -> Estimate:
    """The mean over the cells of seeds crossed with rosters; cells may be missing.

    Args:
        values: The figure of each (seed, roster) that was played.
        level: Confidence.
        draws: Resamples.
        seed: Seed of the resampling.

    Raises:
        ValueError: If a figure is not finite.
    """
    if not values:
        return Estimate.missing("no blocks", level=level)
    cells = finite(list(values.values()))
    rows, row = _numbered([place[0] for place in values])
    columns, column = _numbered([place[1] for place in values])
    value = float(cells.mean())
    if rows == 1:
        return Estimate.missing("one block does not vary", value=value, blocks=1, level=level)
    if columns == 1 or _nested(column, row):
        return _by_cluster(cells, row, rows, level, "seed", rows)
    if _nested(row, column):
        return _by_cluster(cells, column, columns, level, "roster", rows)
    if not np.ptp(cells):
        value = float(cells[0])
        return Estimate(value, value, value, rows, "two-way bootstrap", level)
    rng = generator(seed, "statistics", "two-way")
    by_seed = _variance(rng, row, rows, cells, draws)
    by_roster = _variance(rng, column, columns, cells, draws)
    by_cell = _variance(rng, np.arange(len(cells)), len(cells), cells, draws)
    error = sqrt(max(by_seed, by_roster, by_seed + by_roster - by_cell))
    half = t_quantile((1 + level) / 2, min(rows, columns) - 1) * error
    return Estimate(value, value - half, value + half, rows, "two-way bootstrap", level)


def percentile(
    blocks: Sequence[T],
    statistic: Callable[[Sequence[T]], float | None],
    level: float = 0.95,
    draws: int = 999,
    seed: int = 0,
) -> Estimate:
    """Any statistic of whole blocks, with percentiles of resampled blocks (cluster bootstrap).

    Args:
        blocks: The blocks, each with all that belongs to it.
        statistic: The figure of some blocks; None where it is undefined.
        level: Confidence.
        draws: Resamples.
        seed: Seed of the resampling.
    """
    n = len(blocks)
    value = statistic(blocks) if n else None
    if value is None:
        reason = "undefined in these blocks" if n else "no blocks"
        return Estimate.missing(reason, blocks=n, level=level)
    if n < FEW_BLOCKS:
        reason = f"fewer than {FEW_BLOCKS} blocks"
        return Estimate.missing(reason, value=value, blocks=n, level=level)
    rng = generator(seed, "statistics", "percentile")
    found = [
        figure
        for places in rng.integers(0, n, (draws, n))
        if (figure := statistic([blocks[place] for place in places])) is not None
    ]
    if len(found) < (1 - _SPARE) * draws:
        reason = "undefined in too many resamples"
        return Estimate.missing(reason, value=value, blocks=n, level=level)
    low, high = np.quantile(found, [(1 - level) / 2, (1 + level) / 2])
    return Estimate(value, float(low), float(high), n, "percentile bootstrap", level)


def _numbered(names: Sequence[Hashable]) -> tuple[int, NDArray[np.intp]]:
    """How many names there are, and the number of each."""
    numbers = {name: number for number, name in enumerate(dict.fromkeys(names))}
    return len(numbers), np.array([numbers[name] for name in names], dtype=np.intp)


def _nested(inner: NDArray[np.intp], outer: NDArray[np.intp]) -> bool:
    """Whether each inner thing met one outer thing only."""
    return len(set(zip(inner.tolist(), outer.tolist(), strict=True))) == len(set(inner.tolist()))


def _by_cluster(
    cells: NDArray[np.float64],
    cluster: NDArray[np.intp],
    clusters: int,
    level: float,
    name: str,
    blocks: int,
) -> Estimate:
    """The mean of cells in clusters of any size: a ratio of sums and sizes."""
    sums = np.bincount(cluster, cells, clusters)
    sizes = np.bincount(cluster, minlength=clusters)
    if np.ptp(sizes):
        found = ratio(sums.tolist(), sizes.tolist(), level)
    else:
        found = mean((sums / sizes).tolist(), level, method="t")
    if found.undefined is not None:
        return Estimate.missing(found.undefined, value=found.value, blocks=blocks, level=level)
    method = f"{found.method} by {name}"
    return Estimate(found.value, found.low, found.high, blocks, method, level)


def _variance(
    rng: np.random.Generator,
    cluster: NDArray[np.intp],
    clusters: int,
    cells: NDArray[np.float64],
    draws: int,
) -> float:
    """Variance of the mean of cells when whole clusters are resampled.

    Resampling n clusters shows (n - 1)/n of their variance, which is made good.
    """
    sums = np.bincount(cluster, cells, clusters)
    sizes = np.bincount(cluster, minlength=clusters)
    means = [
        sums[drawn].sum(axis=1) / sizes[drawn].sum(axis=1)
        for drawn in resamples(rng, clusters, draws)
    ]
    return float(np.concatenate(means).var()) * clusters / (clusters - 1)
