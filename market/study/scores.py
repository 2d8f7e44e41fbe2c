"""What retailers scored in many episodes: means, and how sure they are.

Episodes on one seed share buyers and luck, so they are no independent observations: scores are
averaged within each seed first, and the standard error is that of the means of seeds. An interval
covers 95% by Student's t with seeds - 1 degrees of freedom. One seed has neither.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean, stdev
from typing import TypeVar

from market.environment import Json

K = TypeVar("K")

#: Two-sided 95% quantiles of Student's t for 1 to 4 degrees of freedom.
_T95 = (12.7062, 4.3027, 3.1824, 2.7764)


@dataclass(frozen=True, slots=True)
class Score:
    """What one seat came to in one episode.

    Attributes:
        retailer: Name of the roster's entry that the seat belongs to.
        seat: The seat.
        episode: Id of the episode.
        market: Name of the market; None where there is one only.
        seed: Seed of the episode.
        score: The score.
        metrics: Other figures; None where undefined.
    """

    retailer: str
    seat: str
    episode: str
    market: str | None
    seed: int
    score: float
    metrics: Mapping[str, float | None]


@dataclass(frozen=True, slots=True)
class Mean:
    """A mean over seeds.

    Attributes:
        value: The mean of the means of seeds.
        error: Its standard error; None for a single seed.
        seeds: Number of seeds.
        episodes: Number of episodes.
    """

    value: float
    error: float | None
    seeds: int
    episodes: int

    @property
    def half_width(self) -> float | None:
        """Half the width of the 95% interval; None for a single seed."""
        return None if self.error is None else t95(self.seeds - 1) * self.error

    def json(self) -> dict[str, Json]:
        """As it stands in a summary."""
        return {
            "score": self.value,
            "score_error": self.error,
            "score_half_width": self.half_width,
            "episodes": self.episodes,
            "seeds": self.seeds,
        }


def mean(scores: Sequence[Score]) -> Mean:
    """The mean of some scores, one at least."""
    by_seed: dict[int, list[float]] = {}
    for score in scores:
        by_seed.setdefault(score.seed, []).append(score.score)
    means = [fmean(each) for each in by_seed.values()]
    error = stdev(means) / math.sqrt(len(means)) if len(means) > 1 else None
    return Mean(fmean(means), error, len(means), len({score.episode for score in scores}))


def t95(freedom: int) -> float:
    """The two-sided 95% quantile of Student's t.

    From five degrees of freedom by the expansion of Cornish and Fisher around the normal quantile
    (Abramowitz and Stegun, 26.7.5), which is good to 0.003.
    """
    if freedom <= len(_T95):
        return _T95[freedom - 1]
    z = 1.959964
    return (
        z
        + (z**3 + z) / (4 * freedom)
        + (5 * z**5 + 16 * z**3 + 3 * z) / (96 * freedom**2)
        + (3 * z**7 + 19 * z**5 + 17 * z**3 - 15 * z) / (384 * freedom**3)
    )


def standing(scores: Sequence[Score]) -> dict[str, Json]:
    """One retailer over all its episodes: its mean score, and that per market and per seat.

    Args:
        scores: The scores of its seats, one at least.
    """
    seats = _by(scores, lambda score: score.seat)
    markets = _by(scores, lambda score: score.market)
    names = dict.fromkeys(name for score in scores for name in score.metrics)
    found: dict[str, Json] = mean(scores).json()
    found["metrics"] = {
        name: average(score.metrics.get(name) for score in scores) for name in names
    }
    found["seats"] = {seat: mean(own).json() for seat, own in seats.items()}
    if None not in markets:
        found["markets"] = {name: mean(own).json() for name, own in markets.items()}
    return found


def average(values: Iterable[Json]) -> float | None:
    """The mean of the values that are numbers; None where none is."""
    numbers = [value for value in values if isinstance(value, int | float)]
    return fmean(numbers) if numbers else None


def _by(scores: Sequence[Score], key: Callable[[Score], K]) -> dict[K, list[Score]]:
    groups: dict[K, list[Score]] = {}
    for score in scores:
        groups.setdefault(key(score), []).append(score)
    return groups
