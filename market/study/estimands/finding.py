"""One line of what a study found: a figure, what it is about, how sure it is, in words.

Everything that is estimated of a run, whatever it is, comes as such lines, so that a report, a
notebook and a file need to know one shape only. A figure that is not defined is a line too, with
`None` and the reason.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping
from dataclasses import dataclass, field, fields
from math import isfinite
from statistics import fmean
from typing import Literal

from market.environment import Json
from market.study.statistics.bootstrap import two_way
from market.study.statistics.estimates import Estimate
from market.study.statistics.intervals import mean

#: What a line is about: `retailer`, `reference`, `preset`, `step`, ... to their values.
About = Mapping[str, str | int]
#: Which episodes a line counts.
Selection = Literal["valid", "all"]


@dataclass(frozen=True, slots=True)
class Finding:
    """One estimated figure.

    Attributes:
        table: The table that the line belongs to, such as `replacement`.
        figure: What is estimated, such as `replacement effect`.
        outcome: The outcome that it is of, such as `score`; empty where it is of none.
        about: What it is about.
        estimate: The figure with its interval; its value is None where it is undefined, and
            `undefined` says why.
        unit: Unit of value, low and high.
        sentence: What the figure means and what it does not.
        primary: Whether the study named it before the first run; else it is exploratory.
        episodes: Whether it counts the valid episodes or all finished ones.
    """

    table: str
    figure: str
    outcome: str
    about: About
    estimate: Estimate
    unit: str
    sentence: str
    primary: bool = False
    episodes: Selection = "valid"

    def json(self) -> dict[str, Json]:
        """As plain data, the estimate's fields beside the others."""
        plain: dict[str, Json] = {each.name: getattr(self, each.name) for each in fields(self)}
        return {**plain, "about": dict(self.about), "estimate": self.estimate.json()}


@dataclass(slots=True)
class Cells:
    """Values by (seed, roster), averaged within each cell before anything is estimated.

    Episodes of one seed share buyers and luck, and those of one roster the company, so neither
    are independent observations. Where one roster was met the seeds are the blocks and the
    estimate is of that company; where several were met they are a sample of companies, and the
    interval covers both ways of drawing again.
    """

    values: dict[tuple[int, Hashable], list[float]] = field(default_factory=dict)

    def add(self, seed: int, roster: Hashable, value: float | None) -> None:
        """Count a value; one that is undefined counts nothing."""
        if value is not None and isfinite(value):
            self.values.setdefault((seed, roster), []).append(value)

    @property
    def seeds(self) -> dict[int, float]:
        """The mean of each seed's cells."""
        found: dict[int, list[float]] = {}
        for (seed, _), values in self.values.items():
            found.setdefault(seed, []).append(fmean(values))
        return {seed: fmean(values) for seed, values in sorted(found.items())}

    @property
    def rosters(self) -> int:
        """Rosters with a value."""
        return len({roster for _, roster in self.values})

    def estimate(self, undefined: str) -> Estimate:
        """The mean over all cells, with an interval over seeds and, if several, rosters.

        Args:
            undefined: The reason to give where there is no value.
        """
        if self.rosters > 1 and len(self.seeds) > 1:
            return two_way({cell: fmean(values) for cell, values in self.values.items()})
        return over_seeds(self.seeds.values(), undefined)


def over_seeds(values: Iterable[float], undefined: str) -> Estimate:
    """The mean of one value per seed.

    Args:
        values: Of each seed.
        undefined: The reason to give where there is none.
    """
    blocks = list(values)
    return mean(blocks) if blocks else Estimate.missing(undefined)
