"""What retailers scored in many episodes: means, and how sure they are.

Episodes on one seed share buyers and luck, so they are no independent observations: scores are
averaged within each seed first, and the interval is Student's t of the means of seeds, whatever
their number: a summary is read as a mean and a half-width. One seed has none.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import sqrt
from statistics import fmean, stdev
from typing import TypeVar

from market.environment import Json
from market.study.statistics import intervals
from market.study.statistics.estimates import Estimate

K = TypeVar("K")


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
        interval: The estimate that it is part of.
        episodes: Number of episodes.
    """

    value: float
    error: float | None
    interval: Estimate
    episodes: int

    @property
    def seeds(self) -> int:
        """Number of seeds."""
        return self.interval.blocks

    @property
    def half_width(self) -> float | None:
        """Half the width of the 95% interval; None for a single seed."""
        low, high = self.interval.low, self.interval.high
        return None if low is None or high is None else (high - low) / 2

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
    error = stdev(means) / sqrt(len(means)) if len(means) > 1 else None
    interval = intervals.mean(means, method="t")
    return Mean(fmean(means), error, interval, len({score.episode for score in scores}))


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
