"""What a sweep says: every outcome in every game, and its difference from the baseline.

A game is a cell, a market and a roster. Seeds are the blocks: repetitions of a seed are averaged
first, and differences are taken on equal seeds, where both cells met the same buyers. The primary
outcome has the interval of `intervals.mean`; exploratory ones, and what has very many blocks,
Student's t. `tables/cells.parquet` holds all of it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from market.study.statistics.association import correlation
from market.study.statistics.estimates import Estimate
from market.study.statistics.intervals import mean
from market.study.sweeps import outcomes
from market.study.sweeps.gathering import Game, Gathered, plain, text
from market.study.sweeps.outcomes import AGREEMENT, BEST, GAME
from market.study.sweeps.plan import Sweep

#: With more blocks than this a bootstrap would say what Student's t says.
MANY_BLOCKS = 200


@dataclass(frozen=True, slots=True)
class Told:
    """What a sweep says of one outcome in one game.

    Attributes:
        cell: Id of the cell.
        preset: The market; empty where there is one only.
        roster: The roster.
        outcome: Name of the outcome.
        primary: Whether the study named it before anything was played.
        estimate: Its mean over seeds.
        difference: From the same market and roster in the baseline cell, on equal seeds; None for
            the baseline.
    """

    cell: str
    preset: str
    roster: str
    outcome: str
    primary: bool
    estimate: Estimate
    difference: Estimate | None


def tell(sweep: Sweep, gathered: Gathered) -> list[Told]:
    """Estimate every outcome in every game, the primary one first."""
    study = sweep.config.study
    assert study is not None
    baseline = sweep.cells[0].id
    order = {cell.id: at for at, cell in enumerate(sweep.cells)}
    games = sorted(gathered.games, key=lambda game: order[game[0]])
    found = []
    for outcome in study.told:
        primary = outcome == study.primary
        if outcomes.of_cell(outcome):
            for game in games:
                estimate = _of_cell(gathered, game, outcome)
                found.append(Told(*game, outcome, primary, estimate, None))
            continue
        blocks = blocks_of(gathered, outcome, baseline)
        for game in games:
            own = blocks.get(game, {})
            estimate = estimate_of(list(own.values()), primary)
            if outcome == AGREEMENT:
                estimate = estimate.within(-1, 1)
            difference = None
            if game[0] != baseline:
                base = blocks.get((baseline, *game[1:]), {})
                gaps = [own[seed] - base[seed] for seed in own if seed in base]
                difference = estimate_of(gaps, primary, "no seed has both cells")
            found.append(Told(*game, outcome, primary, estimate, difference))
    return found


def write_cells(sweep: Sweep, told: Iterable[Told], folder: Path) -> None:
    """Write `tables/cells.parquet`."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    settings = {cell.id: cell.settings for cell in sweep.cells}
    rows = [row(line, settings[line.cell]) for line in told]
    words = {name for each in rows for name, value in each.items() if isinstance(value, str)}
    names = dict.fromkeys(name for each in rows for name in each)
    columns = {}
    for name in names:
        values = [each.get(name) for each in rows]
        if name in words:
            values = [text(value) for value in values]
        columns[name] = pa.array(values)
    path = folder / "tables" / "cells.parquet"
    new = path.with_suffix(".parquet.part")
    pq.write_table(pa.table(columns), new)
    new.replace(path)


def row(line: Told, settings: Mapping[str, Any]) -> dict[str, Any]:
    """A line of `cells.parquet`."""
    out: dict[str, Any] = {
        "cell": line.cell,
        **{key: plain(value) for key, value in settings.items()},
        "preset": line.preset or None,
        "roster": line.roster,
        "outcome": line.outcome,
        "primary": line.primary,
    }
    for prefix, estimate in (("", line.estimate), ("difference_", line.difference)):
        for name in ("value", "low", "high", "blocks", "method", "undefined"):
            out[prefix + name] = None if estimate is None else getattr(estimate, name)
    return out


def blocks_of(gathered: Gathered, outcome: str, baseline: str) -> dict[Game, dict[int, float]]:
    """The mean of an outcome per game and seed, where it is defined."""
    if outcome == AGREEMENT:
        return _agreement(gathered, baseline)
    series = gathered.episodes[outcome]
    series = series[np.isfinite(series.to_numpy(dtype=float))]
    means = series.groupby(level=[*GAME, "seed"], sort=False).mean()
    found: dict[Game, dict[int, float]] = {}
    for (cell, preset, roster, seed), value in means.items():
        found.setdefault((cell, preset, roster), {})[int(seed)] = float(value)
    return found


def _agreement(gathered: Gathered, baseline: str) -> dict[Game, dict[int, float]]:
    """Per game and seed, how far retailers rank as in the baseline."""
    scores = gathered.scores.groupby(level=[*GAME, "seed"], sort=False).mean()
    of_games: dict[Game, Any] = {
        (str(cell), str(preset), str(roster)): own.droplevel(list(GAME))
        for (cell, preset, roster), own in scores.groupby(level=list(GAME), sort=False)
    }
    found: dict[Game, dict[int, float]] = {}
    for game, own in of_games.items():
        base = of_games.get((baseline, *game[1:]))
        if base is None:
            continue
        seeds = own.index.intersection(base.index)
        mine, theirs = own.loc[seeds], base.loc[seeds]
        both = list(mine.columns[mine.notna().all() & theirs.notna().all()])
        taus = outcomes.agreement(mine[both].to_numpy(), theirs[both].to_numpy())
        found[game] = {
            int(seed): float(tau) for seed, tau in zip(seeds, taus, strict=True) if tau == tau
        }
    return found


def _of_cell(gathered: Gathered, game: Game, outcome: str) -> Estimate:
    head, _, metric = outcome.partition(".")
    seats: Any = gathered.seats
    own = seats.loc[game]
    means = own["sum"] / own["count"].where(own["count"] > 0)
    values, scores = means[metric], means["score"]
    known = values.notna() & scores.notna()
    if head == BEST:
        if not known.any():
            return Estimate.missing("undefined for every seat")
        best = float(values[known].max())
        return Estimate.missing("the highest of many means", value=best, blocks=int(known.sum()))
    return correlation(list(values[known]), list(scores[known]), kind="pearson")


def estimate_of(
    blocks: Sequence[float], primary: bool, undefined: str = "undefined in every episode"
) -> Estimate:
    """The mean of blocks, or why there is none."""
    if not blocks:
        return Estimate.missing(undefined)
    return mean(blocks, method=None if primary and len(blocks) <= MANY_BLOCKS else "t")
