"""Luck, regret and the value of words as estimates: per retailer, with intervals over seeds."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from market.study.estimands.finding import Finding, over_seeds
from market.study.report import estimates
from market.study.report.counterfactuals import (
    ENVIRONMENT,
    MARKET,
    Counterfactuals,
    counterfactuals,
)

if TYPE_CHECKING:
    import pandas as pd

    from market.study.recording import Run

_PARTS = ("bid", "price", "slogan")
_ALL = "+".join(_PARTS)


@dataclass(frozen=True, slots=True)
class Cell:
    """A figure of a grid."""

    shown: str
    value: float | None
    interval: str
    decided: bool
    reason: str


@dataclass(frozen=True, slots=True)
class Grid:
    """Figures of retailers, one column each with its meaning."""

    title: str
    heading: str
    columns: tuple[tuple[str, str], ...]
    rows: tuple[tuple[str, tuple[Cell, ...]], ...]


@dataclass(frozen=True, slots=True)
class Settled:
    """What is shown of counterfactuals.

    Attributes:
        grids: The figures; empty where nothing was computed.
        episodes: Episodes that they are of.
        recorded: Episodes that there are.
    """

    grids: tuple[Grid, ...]
    episodes: int
    recorded: int


def settled(
    run: Run, journals: Sequence[Path], most: int, told: Callable[[str], None] | None = None
) -> Settled | None:
    """What was computed of a run, `most` episodes at least; None for other environments."""
    if run.kind.name != ENVIRONMENT or run.config.get("rules", {}).get("retail") == "induced":
        return None
    finished = set(run.episodes[run.episodes["finished"]]["episode"])
    played = [path for path in journals if path.parent.name in finished]
    if not played:
        return None
    found = counterfactuals(played, run.folder / "counterfactuals", most, told)
    if found is None:
        return Settled((), 0, len(played))
    lines = list(findings(found, _names(run)))
    grids = [
        _grid(title, [line for line in lines if line.table == table])
        for table, title in (
            ("luck", "Luck and skill"),
            ("regret", "Regret, per episode and seat"),
            ("words", "Value of words"),
        )
    ]
    return Settled(tuple(grids), len(found.episodes), len(played))


def kept(run: Run) -> list[Finding]:
    """Lines of what was computed of a run before; none where nothing was."""
    if run.kind.name != ENVIRONMENT:
        return []
    journals = [run.journal(episode) for episode in run.seatings]
    found = counterfactuals(journals, run.folder / "counterfactuals", 0)
    return [] if found is None else list(findings(found, _names(run)))


def _names(run: Run) -> dict[tuple[str, str], str]:
    """The retailer of each episode and seat."""
    return {
        (episode, seat): name
        for episode, seating in run.seatings.items()
        for seat, name in seating.names.items()
    }


def findings(found: Counterfactuals, names: Mapping[tuple[str, str], str]) -> Iterator[Finding]:
    """Lines of `luck`, `regret` and `words`; of the whole market where no retailer is named.

    Args:
        found: What was computed.
        names: The retailer of each (episode, seat).
    """
    yield from _lines(
        found.luck, names, "luck", "money per episode",
        {
            "recorded": ("recorded", "Recorded profit."),
            "expected": ("adjusted", "Mean profit of the same answers under redrawn luck."),
            "luck": ("luck", "Recorded less expected profit."),
        },
    )  # fmt: skip
    yield _market(found.luck, "luck", "share of skill", "skill", "share",
        "Share of the variance of profits between seats that is not luck.")  # fmt: skip
    whole = found.regret[found.regret["seat"] != MARKET]
    if len(whole):
        every = whole[whole["subset"] == _ALL]
        meaning = "Best other bid, prices and slogan together, step by step; rivals as recorded."
        yield from _lines(
            every, names, "regret", "money per episode", {"of all three": ("value", meaning)}
        )
    for part in _PARTS if len(whole) else ():
        own = whole[whole["subset"] == part]
        meaning = f"Shapley's part of the {part} in the regret of all three."
        yield from _lines(own, names, "regret", "money per episode", {part: ("part", meaning)})
    yield from _lines(
        found.words, names, "words", "money per episode",
        {"direct value": ("direct", "Profit less that with the rivals' average words.")},
    )  # fmt: skip
    for figure, column, unit in (
        ("profit of all", "profit", "money per episode"),
        ("consumer surplus", "surplus", "money per episode"),
        ("Gini", "gini", "Gini"),
    ):
        meaning = f"What it adds to the {figure} that buyers listen."
        yield _market(found.words, "words", figure, column, unit, meaning)


def _lines(
    frame: pd.DataFrame,
    names: Mapping[tuple[str, str], str],
    table: str,
    unit: str,
    figures: Mapping[str, tuple[str, str]],
) -> Iterator[Finding]:
    seats = frame[frame["seat"] != MARKET]
    keys = zip(seats["episode"], seats["seat"], strict=True)
    seats = seats.assign(retailer=[names.get(key, key[1]) for key in keys])
    for figure, (column, meaning) in figures.items():
        for name, own in seats.groupby("retailer", sort=False):
            seeds = own.groupby("seed")[column].mean().dropna()
            estimate = over_seeds(seeds.tolist(), "undefined in every episode")
            yield Finding(table, figure, "", {"retailer": str(name)}, estimate, unit, meaning)


def _market(
    frame: pd.DataFrame, table: str, figure: str, column: str, unit: str, meaning: str
) -> Finding:
    own = frame[frame["seat"] == MARKET]
    reasons = [str(each) for each in own["undefined"].dropna()] if "undefined" in own else []
    values = own.groupby("seed")[column].mean().dropna().tolist() if column in own else []
    estimate = over_seeds(values, next(iter(reasons), "undefined in every episode"))
    return Finding(table, figure, "", {}, estimate, unit, meaning)


def _grid(title: str, lines: Sequence[Finding]) -> Grid:
    """Retailers by figures; what is of the whole market has a line of its own."""
    columns = {line.figure: line.sentence for line in lines}
    rows: dict[str, dict[str, Finding]] = {}
    for line in lines:
        name = str(line.about.get("retailer", "the market"))
        rows.setdefault(name, {})[line.figure] = line
    return Grid(
        title=title,
        heading="Retailer",
        columns=tuple(columns.items()),
        rows=tuple(
            (name, tuple(_cell(own.get(figure)) for figure in columns))
            for name, own in rows.items()
        ),
    )


def _cell(line: Finding | None) -> Cell:
    if line is None:
        return Cell("", None, "", False, "")
    estimate = line.estimate
    return Cell(
        shown="–" if estimate.value is None else estimates.number(estimate.value),
        value=estimate.value,
        interval=estimates.interval(estimate),
        decided=estimate.decided,
        reason=estimate.undefined or "",
    )
