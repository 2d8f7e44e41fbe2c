"""What a study may ask of an episode, by name.

    profit                   a metric of seats, or `score`: the mean over all seats
    markup.profit            the same over the seats of one retailer
    market.gini_net_worth    a figure of the whole market at the end of the episode
    collusion_index          where mean profit lies between competition and a cartel
    rank_agreement           Kendall's tau-b of the retailers' mean scores with those of the
                             baseline cell on the same seed
    correlation.fill_rate    correlation of a metric with the score over the seats of a cell, each
                             by its mean over all episodes
    best.fill_rate           the highest of those means

The last two are figures of a cell, not of an episode. A figure that is undefined for a seat is left
out of a mean; where it is for all, the mean is undefined.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from market.environment import OUTSIDE
from market.study.estimands.collusion import collusion_index

if TYPE_CHECKING:
    import pandas as pd

COLLUSION, AGREEMENT = "collusion_index", "rank_agreement"
CORRELATION, BEST, MARKET = "correlation", "best", "market"
#: Names one game of a sweep.
GAME = ("cell", "preset", "roster")
#: Names one episode of a sweep.
EPISODE = (*GAME, "seed", "repetition")

#: Columns of a part that are no figures.
_KEYS = {"unit", *EPISODE, "seat", "retailer", "undefined"}


def of_cell(outcome: str) -> bool:
    """Whether an outcome is a figure of a whole cell, not of an episode."""
    return outcome.partition(".")[0] in (CORRELATION, BEST)


def problem(outcome: str, columns: Collection[str], retailers: Collection[str]) -> str | None:
    """Why there is no such outcome; None if there is.

    Args:
        outcome: Its name.
        columns: The columns of a part of the sweep.
        retailers: Names of the retailers.
    """
    metrics = sorted(name for name in columns if "." not in name and name not in _KEYS)
    head, _, rest = outcome.partition(".")
    if outcome == AGREEMENT or outcome in metrics:
        return None
    if outcome == COLLUSION:
        known = {"reference.competitive", "reference.cartel"} <= set(columns)
        return None if known else "the environment says nothing of competition and cartels"
    if head == MARKET:
        totals = sorted(c.partition(".")[2] for c in columns if c.startswith(f"{MARKET}."))
        return None if rest in totals else f"there is no figure `{rest}`; {_listed(totals)}"
    if not rest:
        return f"there is no metric `{outcome}`; {_listed(metrics)}"
    if head not in (CORRELATION, BEST) and head not in retailers:
        return f"there is no retailer `{head}`; {_listed(sorted(retailers))}"
    return None if rest in metrics else f"there is no metric `{rest}`; {_listed(metrics)}"


def needed(outcomes: Sequence[str], columns: Collection[str]) -> list[str]:
    """The columns of a part that some outcomes are made of, besides the keys."""
    wanted = {"score"}
    for outcome in outcomes:
        wanted |= {outcome, outcome.partition(".")[2]}
        if outcome == COLLUSION:
            wanted |= {"reference.competitive", "reference.cartel"}
    return [name for name in columns if name in wanted]


def of_episodes(part: pd.DataFrame, outcomes: Sequence[str]) -> pd.DataFrame:
    """The outcomes of a part's episodes.

    Args:
        part: Rows of whole episodes, as they were played.
        outcomes: Names; those of cells and agreement of ranks are left out.

    Returns:
        Indexed by `EPISODE`, a column per outcome; undefined values are not a number.
    """
    import pandas as pd

    part = part.assign(preset=part["preset"].fillna(""))
    keys = list(EPISODE)
    seats = part[part["seat"] != OUTSIDE]
    whole = part[part["seat"] == OUTSIDE].set_index(keys)
    grouped = seats.groupby(keys, observed=True, sort=False)
    found: dict[str, Any] = {}
    for outcome in outcomes:
        head, _, rest = outcome.partition(".")
        if of_cell(outcome) or outcome == AGREEMENT:
            continue
        if outcome == COLLUSION:
            found[outcome] = _collusion(grouped["score"].mean(), whole)
        elif head == MARKET:
            found[outcome] = whole[outcome]
        elif rest:
            own = seats[seats["retailer"] == head]
            found[outcome] = own.groupby(keys, observed=True, sort=False)[rest].mean()
        else:
            found[outcome] = grouped[outcome].mean()
    return pd.DataFrame(found, index=whole.index)


def agreement(scores: np.ndarray, others: np.ndarray) -> np.ndarray:
    """Kendall's tau-b of each row of one table with the same row of another.

    Args:
        scores: Shape (n, players).
        others: The same shape.

    Returns:
        Shape (n,); not a number where all of a row are equal.
    """
    one = np.sign(scores[:, :, None] - scores[:, None, :])
    other = np.sign(others[:, :, None] - others[:, None, :])
    both = (one * other).sum(axis=(1, 2))
    with np.errstate(invalid="ignore"):
        told = both / np.sqrt((one**2).sum(axis=(1, 2)) * (other**2).sum(axis=(1, 2)))
    return np.asarray(told)


def _collusion(profit: pd.Series, whole: pd.DataFrame) -> pd.Series:
    import pandas as pd

    ends = whole[["reference.competitive", "reference.cartel"]]
    values = [
        collusion_index(mean, *(None if end != end else float(end) for end in pair))[0]
        for mean, pair in zip(profit.reindex(whole.index), ends.to_numpy(), strict=True)
    ]
    return pd.Series(values, index=whole.index, dtype=float)


def _listed(names: Sequence[str]) -> str:
    return f"there are {', '.join(names)}"
