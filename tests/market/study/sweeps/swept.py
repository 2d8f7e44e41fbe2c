"""A sweep of two cells whose results are made up, so that what is made of them is known."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from market.config import Config, load
from market.environment import OUTSIDE
from market.study.sweeps.plan import Sweep, plan, plans_of, unit_id

RETAILERS = (
    "retailers=[{name: a, policy: markup}, {name: b, policy: markup},"
    " {name: c, policy: markup, count: 2}]"
)

#: What a seat's row holds, from (cell, seed, seat).
Figures = Callable[[int, int, str], Mapping[str, float | None]]


def study(*overrides: str) -> Config:
    return load(
        "arena/paper",
        [
            RETAILERS,
            "study.primary=profit",
            "study.vary={rules.attention.tau: [1.0, 0.5]}",
            "study.seeds=4",
            *overrides,
        ],
    )


def written(folder: Path, config: Config, figures: Figures, totals: Figures) -> Sweep:
    """Write the parts of a sweep as if it had been played."""
    sweep = plan(config)
    (folder / "parts").mkdir(parents=True)
    for shard in sweep.shards:
        rows: list[dict[str, Any]] = []
        for unit in shard.units:
            cell = sweep.cells[unit.cell]
            episode = plans_of(config, cell)[unit.episode]
            keys = {
                "unit": unit_id(cell, unit.episode),
                "cell": cell.id,
                "preset": episode.preset,
                "roster": episode.roster,
                "seed": episode.seed,
                "repetition": episode.repetition,
            }
            for retailer in episode.config.retailers:
                for seat in retailer.seats:
                    own = figures(unit.cell, episode.seed, seat)
                    rows.append({**keys, "seat": seat, "retailer": retailer.retailer, **own})
            rows.append({**keys, "seat": OUTSIDE, **totals(unit.cell, episode.seed, OUTSIDE)})
        names = dict.fromkeys(name for row in rows for name in row)
        words = {"unit", "cell", "preset", "roster", "seat", "retailer"}
        table = {
            name: pa.array(
                [row.get(name) for row in rows],
                pa.string()
                if name in words
                else pa.int64()
                if name in ("seed", "repetition")
                else pa.float64(),
            )
            for name in names
        }
        pq.write_table(pa.table(table), folder / "parts" / f"{shard.name}.parquet")
    return sweep
