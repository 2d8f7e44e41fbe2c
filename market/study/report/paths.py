"""How things went step by step, over many episodes: means over seeds with their intervals."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from statistics import fmean, stdev
from typing import TYPE_CHECKING

from market.study.estimands.finding import Finding
from market.study.estimands.games import setting
from market.study.report.standings import Market, market_of
from market.study.statistics.estimates import Estimate
from market.study.statistics.intervals import t_quantile

if TYPE_CHECKING:
    import pandas as pd

    from market.study.recording import Run


@dataclass(frozen=True, slots=True)
class Path:
    """A mean over seeds per step, with the ends of its interval; None where undefined."""

    name: str
    mean: tuple[float | None, ...]
    low: tuple[float | None, ...]
    high: tuple[float | None, ...]


def capital(run: Run, market: Market) -> Iterable[Path]:
    """Net worth per retailer: means of seats within seeds, with Student's t over seeds."""
    if "standings" not in run.tables:
        return
    frame = run.table("standings")
    if "net_worth" not in frame:
        return
    frame = frame[["episode", "seed", "step", "seat", "net_worth"]].merge(
        names(run, market), on=["episode", "seat"]
    )
    steps = range(1, int(frame["step"].max() if len(frame) else 0) + 1)
    for name, own in frame.groupby("retailer", sort=False):
        seeds = own.groupby(["step", "seed"])["net_worth"].mean()
        means = [_interval(seeds[step].tolist() if step in seeds else []) for step in steps]
        yield Path(
            str(name),
            tuple(mean for mean, _, _ in means),
            tuple(low for _, low, _ in means),
            tuple(high for _, _, high in means),
        )


def _interval(values: list[float]) -> tuple[float | None, float | None, float | None]:
    """Mean and ends of Student's interval, which are undefined for one value."""
    if len(values) < 2:
        return (values[0] if values else None), None, None
    middle = fmean(values)
    half = t_quantile(0.975, len(values) - 1) * stdev(values) / len(values) ** 0.5
    return middle, middle - half, middle + half


def names(run: Run, market: Market | None = None) -> pd.DataFrame:
    """Who played each seat of finished episodes: `episode`, `seat`, `retailer`.

    Args:
        run: The recording.
        market: Only the episodes of this market and design.
    """
    import pandas as pd

    finished = set(run.episodes[run.episodes["finished"]]["episode"])
    rows = [
        (episode, seat, name)
        for episode, seating in run.seatings.items()
        for seat, name in seating.names.items()
        if episode in finished
        and (market is None or _named(seating.preset, seating.design) == market)
    ]
    return pd.DataFrame(rows, columns=["episode", "seat", "retailer"])


def in_order(run: Run, market: Market | None = None) -> list[str]:
    """All episodes seed by seed, those of a market and design before others."""
    places = {
        episode: (
            market is not None and _named(seating.preset, seating.design) != market,
            seating.repetition,
            seating.seed,
        )
        for episode, seating in run.seatings.items()
    }
    return sorted(places, key=places.__getitem__)


def _named(preset: object, design: object) -> Market:
    named = setting(preset, design)
    return str(named.get("preset", "")), str(named.get("design", ""))


def indices(lines: Iterable[Finding], market: Market) -> dict[str, Path]:
    """The indices of a market and design."""
    found: dict[str, dict[int, Estimate]] = {}
    for line in lines:
        if market_of(line) == market:
            step = int(line.about["step"])
            found.setdefault(str(line.about["index"]), {})[step] = line.estimate
    paths = {}
    for name, by_step in found.items():
        ends = [by_step.get(step) for step in range(1, max(by_step) + 1)]
        paths[name] = Path(
            name,
            tuple(None if each is None else each.value for each in ends),
            tuple(None if each is None else each.low for each in ends),
            tuple(None if each is None else each.high for each in ends),
        )
    return paths
