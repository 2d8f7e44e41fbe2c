"""What the measurements of markets share: paired games of one seat, intervals, tables.

Games are played in this process, without Ray. Two games on one seed meet the same buyers with the
same luck, so what one change of one seat is worth is the mean of the differences over seeds, and
its interval comes from their spread.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from math import atanh, sqrt, tanh
from statistics import NormalDist, mean, stdev
from typing import Any

from scipy.stats import t as student

from actors.outside import EncodedFacts
from embeddings import PACKAGED_MODEL
from market.arena.policies.slogans import GENERIC
from market.config import Config, load
from market.play import Played, play

SEEDS = range(1, 31)
CONFIDENCE = 0.95

#: One line of a roster.
Entry = dict[str, Any]

#: Nineteen plain rivals that all do the same.
PLAIN: list[Entry] = [{"name": "rival", "policy": "markup", "count": 19}]

#: Nineteen rivals in the proportions of the shipped roster, all of whom say the generic slogan.
MIXED: list[Entry] = [
    {"name": "adaptive", "policy": "adaptive", "count": 2, "options": {"slogan": GENERIC}},
    {"name": "advertiser", "policy": "advertiser", "count": 3, "options": {"themes": []}},
    {"name": "markup", "policy": "markup", "count": 4},
    {"name": "undercutter", "policy": "undercutter", "count": 3},
    {"name": "clearing", "policy": "clearing", "count": 3},
    {"name": "specialist", "policy": "tier-specialist", "count": 2},
    {"name": "zi", "policy": "zi-constrained", "count": 2},
]


@dataclass(frozen=True, slots=True)
class Estimate:
    """A mean with half of its 95% interval.

    Attributes:
        mean: The mean.
        half: Half the interval of Student's t.
        t: The mean over its standard error; infinite where nothing varies.
    """

    mean: float
    half: float
    t: float

    @classmethod
    def of(cls, values: Sequence[float]) -> Estimate:
        """Estimate the mean of independent values."""
        error = stdev(values) / sqrt(len(values))
        half = float(student.ppf((1 + CONFIDENCE) / 2, len(values) - 1)) * error
        return cls(mean(values), half, mean(values) / error if error else float("inf"))

    def money(self) -> str:
        """As whole money."""
        return f"{self.mean:,.0f} ± {self.half:,.0f}"

    def percent(self, of: float) -> str:
        """As a percentage of something."""
        return f"{100 * self.mean / of:+.0f}% ± {100 * self.half / of:.0f}"


def gain(changed: Sequence[float], plain: Sequence[float]) -> Estimate:
    """What a change is worth, from paired games."""
    return Estimate.of([a - b for a, b in zip(changed, plain, strict=True)])


def correlation(x: Sequence[float], y: Sequence[float]) -> tuple[float, float, float]:
    """Pearson's correlation and its 95% interval by Fisher's transformation."""
    centre_x, centre_y = mean(x), mean(y)
    covariance = sum((a - centre_x) * (b - centre_y) for a, b in zip(x, y, strict=True))
    r = covariance / sqrt(sum((a - centre_x) ** 2 for a in x) * sum((b - centre_y) ** 2 for b in y))
    reach = NormalDist().inv_cdf((1 + CONFIDENCE) / 2) / sqrt(len(x) - 3)
    return r, tanh(atanh(r) - reach), tanh(atanh(r) + reach)


@cache
def encoder() -> EncodedFacts:
    """The packaged sentence encoder behind its cache."""
    return EncodedFacts(PACKAGED_MODEL)


def market(roster: Sequence[Entry], preset: str = "arena/default", *changes: str) -> Config:
    """A preset with another roster."""
    return load(preset, [f"retailers={json.dumps(list(roster))}", *changes])


def games(config: Config, seeds: Iterable[int] = SEEDS, *, events: bool = False) -> list[Played]:
    """A configuration played once per seed."""
    outside = encoder().answer_now
    return [play(config, (), seed, outside=outside, events=events) for seed in seeds]


def earned(
    policy: str,
    rivals: Sequence[Entry],
    *changes: str,
    preset: str = "arena/default",
    seeds: Iterable[int] = SEEDS,
    **options: Any,
) -> list[float]:
    """Profit of one seat per seed.

    Args:
        policy: What it plays.
        rivals: The others.
        changes: To the preset's rules.
        preset: The market.
        seeds: One game each.
        options: Options of the policy.
    """
    roster = [{"name": "subject", "policy": policy, "options": options}, *rivals]
    return [game.scores["subject"] for game in games(market(roster, preset, *changes), seeds)]


def by_policy(played: Sequence[Played], roster: Sequence[Entry]) -> dict[str, list[float]]:
    """Mean profit of the seats of each roster line, per game."""
    return {
        entry["name"]: [
            mean(
                score
                for seat, score in game.scores.items()
                if seat == entry["name"] or seat.startswith(f"{entry['name']}-")
            )
            for game in played
        ]
        for entry in roster
    }


def table(head: Sequence[str], rows: Iterable[Sequence[object]]) -> None:
    """Print a table in Markdown: the first column to the left, the others to the right."""
    lines = [[str(cell) for cell in row] for row in rows]
    print("|" + "|".join(f" {cell} " for cell in head) + "|", flush=True)
    print("| --- |" + " ---: |" * (len(head) - 1))
    for line in lines:
        print("|" + "|".join(f" {cell} " for cell in line) + "|")
    print(flush=True)
