"""The parts of a report's page, as text ready to be laid out. Nothing is escaped here."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from market import registry
from market.study import text
from market.study.report import figures
from market.study.report.drawing import Style
from market.study.report.run_view import Figure, InactionView, RetailerView, RunView

#: Columns of the leaderboard of an arena: metric, heading, what it is, decimals.
METRICS: tuple[tuple[str, str, str, int], ...] = (
    ("net_profit_margin", "Margin", "Net profit margin: profit over revenue", 3),
    ("risk_adjusted_return", "RAR", "Risk-adjusted return: mean over deviation of step profit", 2),
    ("inventory_efficiency", "IEI", "Inventory efficiency: sold over sold and kept", 3),
    ("stockout_rate", "Stockout", "Stockout rate: failed over all attempts", 3),
    ("fill_rate", "Fill", "Fill rate: units sold over units asked for", 3),
    (
        "bid_efficiency",
        "Bid eff.",
        "Bid efficiency: won over bid for, times base value over spend",
        3,
    ),
    ("bid_efficiency_by_value", "by value", "Bid efficiency, weighted by value at base price", 3),
    ("order_stability", "OSI", "Order stability: orders vary as sales do", 3),
    ("mean_match", "Match", "Mean match of slogans with the buyers' personas", 3),
)


#: Most columns of an environment that is not among these.
MOST_METRICS = 8

#: A column of the leaderboard: metric, heading, what it is (empty where the heading says it all)
#: and decimals.
Metric = tuple[str, str, str, int]


@dataclass(frozen=True, slots=True)
class Tile:
    """One figure at the top of the page."""

    label: str
    value: str
    note: str = ""


@dataclass(frozen=True, slots=True)
class Cell:
    """One metric of one retailer: what is shown, what it is sorted by, why it is missing."""

    shown: str
    value: Figure
    reason: str


@dataclass(frozen=True, slots=True)
class Line:
    """One line of the leaderboard; the bar goes from `start` over `width` percent."""

    rank: int
    retailer: RetailerView
    style: Style
    score: str
    start: float
    width: float
    cells: tuple[Cell, ...]


def metrics(run: RunView) -> tuple[Metric, ...]:
    """The columns of the leaderboard: those of an arena, or what the environment wants first.

    A metric that is the score for everybody is left out.
    """
    there = {name for retailer in run.retailers for name in retailer.metrics}
    if not there or there & {name for name, *_ in METRICS}:
        return METRICS if there else ()
    try:
        wanted = registry.environment_kind(run.environment).metrics
    except registry.UnknownNameError:
        wanted = ()
    same = {n for n in there if all(r.metrics.get(n) == r.score for r in run.retailers)}
    shown = [name for name in (*wanted, *sorted(there - {*wanted})) if name in there - same]
    return tuple(
        (name, name.replace("_", " ").capitalize(), "", 3) for name in shown[:MOST_METRICS]
    )


def leaderboard(run: RunView, style: Mapping[str, Style] | None = None) -> list[Line]:
    """The lines of the leaderboard, best first. Equal scores share a rank."""
    style, columns = style or figures.styles(run), metrics(run)
    ranked = run.ranked()
    scores = [retailer.score for retailer in ranked]
    known = [score for score in scores if score is not None]
    low, high = min([0, *known]), max([0, *known])
    reach = (high - low) or 1
    lines = []
    for retailer in ranked:
        score = retailer.score or 0
        lines.append(
            Line(
                rank=1 + scores.index(retailer.score),
                retailer=retailer,
                style=style[retailer.seat],
                score=_score(retailer.score),
                start=round(100 * (min(score, 0) - low) / reach, 2),
                width=round(100 * abs(score) / reach, 2),
                cells=tuple(_cell(retailer, name, places) for name, _, _, places in columns),
            )
        )
    return lines


def tiles(run: RunView, lines: Sequence[Line]) -> list[Tile]:
    """The figures at the top."""
    out = []
    if lines:
        best = lines[0]
        out.append(Tile("Best", best.retailer.seat, f"score {best.score}"))
        models = [line for line in lines if line.retailer.model is not None]
        if models and models[0] is not best:
            first = models[0]
            note = f"score {first.score}, rank {first.rank}"
            out.append(Tile("Best model", first.retailer.seat, note))
    profits = [r.metrics.get("profit") for r in run.retailers]
    known = [profit for profit in profits if profit is not None]
    if known:
        losing = sum(profit < 0 for profit in known)
        out.append(
            Tile("Profit, all", text.count(sum(known)), f"{losing} of {len(known)} lost money")
        )
    inequality = [value for value in run.indices.get("gini_net_worth", ()) if value is not None]
    if inequality:
        note = f"from {text.decimal(inequality[0], 2)} in the first step"
        out.append(Tile("Gini, end", text.decimal(inequality[-1], 2), note))
    out.append(
        Tile(
            "No action",
            text.count(len(run.inactions)),
            _causes(run.inactions) or "every decision was answered",
        )
    )
    return [*out, *usage_tiles(run)]


def usage_tiles(run: RunView) -> list[Tile]:
    """What the models took, or how long scripts did."""
    out = []
    if run.usage:
        tokens = _sum(_sum((usage.prompt_tokens, usage.completion_tokens)) for usage in run.usage)
        calls = sum(usage.calls for usage in run.usage)
        out.append(Tile("Model calls", text.count(calls), f"{text.count(tokens)} tokens"))
        priced = [usage.cost_usd for usage in run.usage if usage.cost_usd is not None]
        cost = _sum(usage.cost_usd for usage in run.usage)
        note = f"took {text.duration(run.wall_seconds)}"
        if cost is None and priced:
            note = f"{text.money_usd(sum(priced))} for {len(priced)} of {len(run.usage)} models"
        out.append(Tile("Cost", text.money_usd(cost), note))
    else:
        out.append(Tile("Took", text.duration(run.wall_seconds), "no model was called"))
    return out


def inaction_table(inactions: Sequence[InactionView]) -> list[tuple[str, str, str, int, str]]:
    """(seat, kind, cause, times, steps) of decisions without an action."""
    steps: dict[tuple[str, str, str], list[int]] = {}
    for inaction in inactions:
        key = (inaction.seat, inaction.kind, inaction.cause)
        steps.setdefault(key, []).append(inaction.step)
    return [
        (*key, len(when), ", ".join(map(str, sorted(set(when)))))
        for key, when in sorted(steps.items())
    ]


def _causes(inactions: Sequence[InactionView]) -> str:
    causes = Counter(inaction.cause for inaction in inactions)
    return ", ".join(f"{times} {cause}" for cause, times in causes.most_common())


def _cell(retailer: RetailerView, name: str, places: int) -> Cell:
    value = retailer.metrics.get(name)
    reason = retailer.undefined.get(name, "not known") if value is None else ""
    return Cell(text.decimal(value, places, "–"), value, reason)


def _score(score: Figure) -> str:
    return text.count(score) if score is None or score == int(score) else text.decimal(score)


def _sum(values: Iterable[Figure]) -> Figure:
    """A sum, unknown if a part is."""
    parts = list(values)
    if any(part is None for part in parts):
        return None
    return sum(part for part in parts if part is not None)
