"""A map of what was said, and how far words wander.

A journal holds no embedding of a slogan, only how near it is to each persona. These similarities
are the coordinates here: words that the same buyers like are near each other, whatever they say.
The map is their projection on the two directions in which they differ most (principal components,
by scikit-learn), with an arrow for each persona: that way lie words that it likes.

*Drift* is the distance of a retailer's words from its own first ones, in the similarities
themselves and not in the projection: mean over its seats and the episodes of a seed, then over
seeds. *Spread* is the mean distance of the words of a step from their centre, over all retailers.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from market.study.estimands.finding import over_seeds
from market.study.statistics.estimates import Estimate

if TYPE_CHECKING:
    import pandas as pd

#: Most points of the map.
MOST_POINTS = 3_000
#: Similarities are stored in units of 1e-6.
_UNIT = 1e-6


@dataclass(frozen=True, slots=True)
class Point:
    """Words on the map.

    Attributes:
        name: The retailer.
        slogan: What it said.
        steps: The steps in which it did, first and last.
        times: How often, over all its seats and episodes.
        x: Place.
        y: Place.
    """

    name: str
    slogan: str
    steps: tuple[int, int]
    times: int
    x: float
    y: float


@dataclass(frozen=True, slots=True)
class Words:
    """What was said, on a map.

    Attributes:
        points: Distinct words per retailer.
        left: How many more there are.
        arrows: Per persona the direction of words that it likes.
        explained: Share of the variance that each of the two axes shows.
        drift: Per retailer and step the distance from its first words.
        spread: Per step the distance from the centre of all words.
        undefined: Why there is no map; None where there is one.
    """

    points: tuple[Point, ...] = ()
    left: int = 0
    arrows: Mapping[str, tuple[float, float]] | None = None
    explained: tuple[float, float] = (0.0, 0.0)
    drift: Mapping[str, Sequence[Estimate]] | None = None
    spread: Sequence[Estimate] = ()
    undefined: str | None = None


def words(slogans: pd.DataFrame, similarities: pd.DataFrame, names: pd.DataFrame) -> Words:
    """Map the words of some episodes.

    Args:
        slogans: The table `slogans`.
        similarities: The table `similarities`.
        names: The retailer (`retailer`) of each `episode` and `seat`.
    """
    keys = ["episode", "seed", "step", "turn", "seat"]
    if similarities.empty:
        return Words(undefined="no slogan was compared with a persona")
    near = similarities.pivot_table(index=keys, columns="persona", values="similarity") * _UNIT
    said = slogans[slogans["slogan"] != ""][[*keys, "slogan"]]
    rows = said.merge(near.reset_index(), on=keys).merge(names, on=["episode", "seat"])
    personas = [str(name) for name in near.columns]
    if rows.empty:
        return Words(undefined="nobody said anything")
    drift, spread = _drift(rows, personas)
    if len(personas) < 2 or len(rows[personas].drop_duplicates()) < 3:
        reason = "a map takes two personas and three slogans that they like differently"
        return Words(drift=drift, spread=spread, undefined=reason)
    distinct = rows.groupby(["retailer", "slogan"], sort=False).agg(
        first=("step", "min"),
        last=("step", "max"),
        times=("step", "size"),
        **{name: (name, "mean") for name in personas},
    )
    kept = distinct.sort_values("times", ascending=False, kind="stable").head(MOST_POINTS)
    places, arrows, explained = _projected(kept[personas].to_numpy(float))
    points = [
        Point(row["retailer"], row["slogan"], (row["first"], row["last"]), row["times"], *place)
        for row, place in zip(kept.reset_index().to_dict("records"), places, strict=True)
    ]
    return Words(
        points=tuple(points),
        left=len(distinct) - len(kept),
        arrows=dict(zip(personas, arrows, strict=True)),
        explained=explained,
        drift=drift,
        spread=spread,
    )


def _projected(
    near: NDArray[np.float64],
) -> tuple[list[tuple[float, float]], list[tuple[float, float]], tuple[float, float]]:
    """Places, the arrow of each column as long as the cloud is wide, and the variance shown.

    Args:
        near: Words x personas.
    """
    from sklearn.decomposition import PCA

    found = PCA(n_components=2, svd_solver="full").fit(near)
    places = found.transform(near)
    reach = float(np.abs(places).max())
    arrows = found.components_.T
    longest = float(np.hypot(*arrows.T).max())
    arrows = arrows * (reach / longest)
    first, second = (float(share) for share in found.explained_variance_ratio_)
    return _pairs(places), _pairs(arrows), (first, second)


def _drift(
    rows: pd.DataFrame, personas: list[str]
) -> tuple[dict[str, list[Estimate]], list[Estimate]]:
    """Per retailer and step the distance from its first words; per step the spread of all."""
    ordered = rows.sort_values(["episode", "seat", "step", "turn"], kind="stable")
    first = ordered.groupby(["episode", "seat"])[personas].transform("first")
    steps = range(1, max(rows["step"].tolist()) + 1)
    ordered = ordered.assign(moved=_norm(ordered[personas] - first))
    centre = ordered.groupby(["episode", "step"])[personas].transform("mean")
    ordered["apart"] = _norm(ordered[personas] - centre)
    drift = {
        str(name): _by_step(own, "moved", steps)
        for name, own in ordered.groupby("retailer", sort=False)
    }
    return drift, _by_step(ordered, "apart", steps)


def _by_step(rows: pd.DataFrame, column: str, steps: range) -> list[Estimate]:
    seeds = rows.groupby(["step", "seed"])[column].mean()
    known = set(rows["step"])
    return [
        over_seeds(seeds[step].tolist() if step in known else [], "nobody said anything")
        for step in steps
    ]


def _norm(rows: pd.DataFrame) -> NDArray[np.float64]:
    found: NDArray[np.float64] = np.sqrt((rows.to_numpy(float) ** 2).sum(axis=1))
    return found


def _pairs(rows: NDArray[np.float64]) -> list[tuple[float, float]]:
    return [(float(x), float(y)) for x, y in rows]
