"""How far the primary outcome scatters over seeds: what the power of a design hangs on.

Cells of a study meet the same buyers on a seed, so what counts is the scatter of their difference,
which is less than that of either. An earlier study, or a run of several rosters or markets, shows
it; one game alone shows its own scatter only, and a difference is then taken to scatter as if seeds
were not shared, which is too much rather than too little.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import sqrt
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from market.config import configure, documents, expand
from market.environment import OUTSIDE
from market.study.report import ReportError
from market.study.sweeps import gathering, outcomes
from market.study.sweeps.outcomes import GAME

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, slots=True)
class Scatter:
    """How far an outcome scatters.

    Attributes:
        deviation: Standard deviation over seeds of the difference of two games.
        seeds: Seeds behind it.
        paired: Whether games were compared seed by seed.
    """

    deviation: float
    seeds: int
    paired: bool

    @property
    def told(self) -> str:
        """In words, where it comes from."""
        how = (
            "differences between cells on equal seeds"
            if self.paired
            else "one cell, as if cells did not share their seeds"
        )
        return f"deviation {self.deviation:,.4g}, from {self.seeds} seeds of {how}"


def of_folder(folder: Path, outcome: str) -> Scatter:
    """The scatter of an outcome in a recorded study, tournament or run.

    Raises:
        ReportError: If it shows none.
    """
    if gathering.parts(folder):
        episodes = gathering.gather(folder, [outcome]).episodes
    else:
        episodes = outcomes.of_episodes(_rows_of_run(folder), [outcome])
    if outcome not in episodes:
        raise ReportError(f"`{outcome}` is a figure of a cell, whose scatter over seeds is unknown")
    return of_episodes(episodes[outcome], str(folder))


def of_episodes(values: pd.Series[Any], where: str) -> Scatter:
    """The scatter of an outcome, from its values by `outcomes.EPISODE`.

    Raises:
        ReportError: If fewer than three seeds show it; `where` says whose.
    """
    by_seed: Any = values.groupby(level=[*GAME, "seed"], sort=False).mean()
    table = by_seed.unstack(list(GAME), sort=False)
    # The first column is the baseline: games come in the order in which they were played.
    gaps = table.iloc[:, 1:].sub(table.iloc[:, 0], axis=0)
    spreads = [
        (float(np.std(known, ddof=1)), len(known))
        for known in (gaps[name].dropna().to_numpy() for name in gaps)
        if len(known) >= 3
    ]
    if spreads:
        pooled = sqrt(np.mean([spread**2 for spread, _ in spreads]))
        return Scatter(pooled, min(seeds for _, seeds in spreads), paired=True)
    own = table.iloc[:, 0].dropna().to_numpy()
    if len(own) < 3:
        raise ReportError(
            f"{where} has fewer than three seeds on which the outcome is defined; play more of "
            "them, or set `study.power.deviation`"
        )
    return Scatter(sqrt(2) * float(np.std(own, ddof=1)), len(own), paired=False)


def _rows_of_run(folder: Path) -> pd.DataFrame:
    """The results of a run in the shape of a sweep's part."""
    import pandas as pd

    path = folder / "tables" / "results.parquet"
    if not path.exists():
        raise ReportError(f"{folder} holds no results; name the folder of a run or of a study")
    config = configure(documents.read(folder / "config.json"), str(folder / "config.json"))
    plans = {plan.id: plan for plan in expand(config)}
    results = pd.read_parquet(path)
    whole = results["seat"] == OUTSIDE
    results.loc[whole, "metric"] = "market." + results.loc[whole, "metric"]
    wide = results.pivot(index=["episode", "seat"], columns="metric", values="value").reset_index()
    wide = wide[wide["episode"].isin(list(plans))]
    retailers = {
        (plan.id, seat): retailer.retailer
        for plan in plans.values()
        for retailer in plan.config.retailers
        for seat in retailer.seats
    }
    played = [plans[name] for name in wide["episode"]]
    columns: dict[str, Any] = {
        "cell": "base",
        "preset": [plan.preset for plan in played],
        "roster": [plan.roster for plan in played],
        "seed": [plan.seed for plan in played],
        "repetition": [plan.repetition for plan in played],
        "retailer": [retailers.get(key) for key in zip(wide["episode"], wide["seat"], strict=True)],
    }
    return wide.assign(**columns)
