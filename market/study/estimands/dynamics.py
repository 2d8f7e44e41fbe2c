"""How markets went: indices step by step, who gained what, what went with profit.

Indices are those that an environment records in a table `indices` (`index`, `item`, `value`), a
name that any may use; one without it has no such lines.

Each market and design of rosters is told by itself, since what a market does hangs on who is there.
Everything is averaged within a seed first, and intervals are over seeds. A figure that is undefined
in some episodes is the mean of those in which it is defined, and its sentence counts the others.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable, Iterator, Mapping
from statistics import fmean
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from market.study.estimands.finding import Finding, over_seeds
from market.study.estimands.games import setting
from market.study.statistics.association import between, within_columns

if TYPE_CHECKING:
    import pandas as pd

    from market.study.recording import Run

#: The accounts of a step, whose sum is what trade was worth.
ACCOUNTS = ("consumer_surplus", "retailer_surplus", "supplier_surplus")


def indices(run: Run, episodes: Iterable[str]) -> Iterator[Finding]:
    """Each index of the whole market at the end of each step.

    Args:
        run: The recording.
        episodes: Ids of the episodes that count.
    """
    frame = _market(run, episodes)
    keys = ["preset", "design", "index", "step"]
    for (preset, design, index, step), own in frame.groupby(keys, dropna=False, sort=False):
        known = own[own["value"].notna()]
        seeds = known.groupby("seed")["value"].mean()
        left = left_out(len(own) - len(known), len(own))
        about = {**setting(preset, design), "index": str(index), "step": int(str(step))}
        yield Finding(
            "indices", str(index), "", about, over_seeds(seeds.tolist(), "in no episode defined"),
            "of the index", f"At the end of step {step}.{left}",
        )  # fmt: skip


def welfare(run: Run, episodes: Iterable[str]) -> Iterator[Finding]:
    """What consumers, retailers and the supplier gained per episode, and all of them together.

    An episode counts where the account is defined in all its steps.
    """
    frame = _market(run, episodes)
    frame = frame[frame["index"].isin(ACCOUNTS)]
    for (preset, design), own in frame.groupby(["preset", "design"], dropna=False, sort=False):
        sums = own.groupby(["seed", "episode", "index"])["value"]
        wide = sums.agg(lambda values: values.sum(skipna=False)).unstack("index")
        wide = wide.reindex(columns=list(ACCOUNTS))
        wide["total_surplus"] = wide.sum(axis=1, skipna=False)
        for account in (*ACCOUNTS, "total_surplus"):
            known = wide[account].dropna()
            seeds = known.groupby("seed").mean()
            left = left_out(len(wide) - len(known), len(wide))
            yield Finding(
                "welfare", account, "", setting(preset, design),
                over_seeds(seeds.tolist(), "in no episode defined in all steps"),
                "money per episode",
                f"Summed over the steps of an episode.{left}",
            )  # fmt: skip


def associations(run: Run, episodes: Iterable[str], outcome: str = "score") -> Iterator[Finding]:
    """How each metric goes with the outcome: within episodes, and apart, between retailers.

    *Within* asks whether of those who met in one market who had more of the metric got more; it is
    Spearman's correlation of each episode, averaged. *Between* asks whether retailers that have
    more of it on average get more on average; each is one point, however many episodes it played.
    Neither says that the metric causes the outcome.
    """
    scores = run.scores
    scores = scores[scores["episode"].isin(set(episodes))]
    if outcome not in scores:
        return
    first = list(scores.columns).index("score")
    for (preset, design), own in scores.groupby(["preset", "design"], dropna=False, sort=False):
        seeds = own.drop_duplicates("episode")["seed"].tolist()
        places = np.asarray(own.groupby("episode", sort=False).ngroup(), dtype=np.intp)
        played = {str(name): rows for name, rows in own.groupby("name", sort=False).indices.items()}
        values = {name: own[name].to_numpy(dtype=float) for name in scores.columns[first:]}
        means = {
            metric: {name: _mean(column[rows]) for name, rows in played.items()}
            for metric, column in values.items()
        }
        for metric in scores.columns[first:]:
            if metric == outcome or own[metric].equals(own[outcome].rename(metric)):
                continue  # the arena's profit is its score
            about = {**setting(preset, design), "metric": str(metric)}
            inside = within_columns(seeds, places, values[metric], values[outcome])
            left = Counter(inside.left_out).total()
            yield Finding(
                "associations", "within episodes", outcome, about, inside.estimate,
                "Spearman's rho", "Mean of the correlations over the seats of one market."
                + left_out(left, left + inside.episodes),
            )  # fmt: skip
            groups: Mapping[Hashable, tuple[list[float | None], list[float | None]]] = {
                name: ([means[metric][name]], [means[outcome][name]]) for name in played
            }
            yield Finding(
                "associations", "between retailers", outcome, about, between(groups),
                "Spearman's rho", f"Over the means of {len(groups)} retailers, one point each.",
            )  # fmt: skip


def _market(run: Run, episodes: Iterable[str]) -> pd.DataFrame:
    """The rows of the table `indices` about the whole market, with their preset."""
    import pandas as pd

    names = ["episode", "seed", "step", "index", "item", "value"]
    if "indices" not in run.tables:
        return pd.DataFrame(columns=[*names, "preset", "design"])
    frame = run.table("indices", names)
    frame = frame[(frame["item"] == "") & frame["episode"].isin(set(episodes))]
    return frame.merge(run.episodes[["episode", "preset", "design"]], on="episode")


def _mean(values: NDArray[np.float64]) -> float | None:
    known = values[~np.isnan(values)]
    return fmean(known.tolist()) if len(known) else None


def left_out(number: int, of: int) -> str:
    """How many episodes do not count; empty where all do."""
    return f" Undefined, and left out, in {number} of {of} episodes." if number else ""
