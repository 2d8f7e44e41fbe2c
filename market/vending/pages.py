"""Sections of a run's page: assets, machines, waste, visits, choices, and who still learns.

Each is a pure function of tables (`docs/tables.md`). Paths are means over the seats and finished
episodes of a retailer; the map of machines is that of the episode that is shown in detail. Money is
in CNY.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

from market.study.pages import Section, Spec
from market.study.report.drawing import (
    Style,
    figure,
    label,
    legend_of,
    steps_axis,
    tick_format,
)
from market.study.report.study_figures import looks
from market.study.text import decimal

if TYPE_CHECKING:
    import pandas as pd

    from market.study.frames import Seating
    from market.study.recording import Run

#: Days of a column of the map and of a step of the counts.
WEEK = 7
#: Most operators whose machines are mapped.
MAPPED = 6
#: Heads of the table of machines.
MACHINE_HEADS = (
    "Operator",
    "Machine",
    "Site",
    "Sold a day",
    "Gross profit a day, CNY",
    "Visits",
    "Empty days",
)
#: Figures of choices: metric, heading, decimal places.
CHOICES = (
    ("assortment", "Assortment", 3),
    ("pricing_regret", "Pricing regret, CNY", 2),
    ("reassignment_gap", "Reassignment gap", 3),
    ("visit_cycle_contribution", "Visit-cycle contribution, CNY", 2),
    ("capital_efficiency", "Capital efficiency", 4),
    ("waste_rate", "Waste rate", 4),
    ("empty_machine_days", "Empty machine-days", 4),
)


def sections(run: Run, episode: str) -> list[Section]:
    """The sections of a run.

    Args:
        run: The run.
        episode: The episode that is shown in detail.
    """
    names = {
        (name, seat): retailer
        for name, seating in run.seatings.items()
        for seat, retailer in seating.names.items()
    }
    days = named(run.table("days"), names)
    drawn = styles(run)
    machines = run.table("machines")
    scores = run.scores
    means = whose(run.seatings.values())
    found = [
        _saying(assets(days, drawn), means),
        machine_map(machines[machines["episode"] == episode], scores),
        waste(days, named(run.table("deliveries"), names), drawn),
        _saying(visits(named(run.table("visits"), names), days, drawn), means),
        choices(scores),
        learning(scores),
    ]
    return [section for section in found if section is not None]


def whose(seatings: Collection[Seating]) -> str:
    """What lines are means of, in a sentence; empty where each is that of one seat alone."""
    if len(seatings) > 1:
        return "A line is the mean over the episodes of a retailer, and over its seats in each."
    counts = Counter(name for each in seatings for name in each.names.values())
    several = ", ".join(f"{name} has {n}" for name, n in sorted(counts.items()) if n > 1)
    return f"The line of a retailer is the mean of its seats: {several}." if several else ""


def named(table: pd.DataFrame, names: Mapping[tuple[str, str], str]) -> pd.DataFrame:
    """A table with the retailer of each row as `name`; rows of nobody are left out."""
    import pandas as pd

    keys = zip(table["episode"], table["seat"], strict=True)
    known = [names.get((str(episode), str(seat))) for episode, seat in keys]
    found = table.assign(name=pd.Series(known, table.index, dtype=object))
    return found[found["name"].notna()]


def styles(run: Run) -> dict[str, Style]:
    """How each retailer is drawn, the same in all figures: models first, then the best."""
    scores, score = run.scores, {}
    if "score" in scores:
        score = scores.groupby("name")["score"].mean().to_dict()
    seats = [
        (seating.names[seat], model)
        for seating in run.seatings.values()
        for seat, model in seating.models.items()
    ]
    names = {name for name, _ in seats}
    ranked = sorted(names, key=lambda name: (-score.get(name, float("-inf")), name))
    models = {name for name, model in seats if model is not None}
    return looks(ranked, [name for name in ranked if name in models])


def assets(days: pd.DataFrame, drawn: Mapping[str, Style] | None = None) -> Section | None:
    """Net assets in the evening, day by day; None without a day."""
    if days.empty:
        return None
    mean = days.assign(value=days["net_assets"] / 100).groupby(["name", "step"])["value"].mean()
    return Section(
        "net-assets",
        "Net assets",
        "Cash and unexpired units at cost, in the evening, CNY.",
        [
            lines(
                "net-assets-path", "Net assets", "CNY, by day", mean, tick_format(mean), drawn=drawn
            )
        ],
    )


def machine_map(machines: pd.DataFrame, scores: pd.DataFrame) -> Section | None:
    """What each machine held and sold, week by week, of the best operators; None without any."""
    if machines.empty:
        return None
    own = scores[scores["episode"] == machines["episode"].iloc[0]].sort_values(
        "score", ascending=False, kind="stable"
    )
    ranked = [str(seat) for seat in own["seat"]] or sorted(set(machines["seat"]))
    figures = []
    for number, seat in enumerate(ranked[:MAPPED]):
        mine = machines[machines["seat"] == seat]
        if not mine["listed"].any():
            continue
        for column, what in (("used", "volume units in use"), ("sold", "units sold a day")):
            identity = f"machines-{number}-{column}"
            figures.append(heat(identity, seat, what, mine, column))
    return Section(
        "machines",
        "Machines",
        "Stock when sales begin and units sold in one episode, mean of each week. The stronger the "
        "colour, the more; each map has a scale of its own, whose ends are above it.",
        figures,
        MACHINE_HEADS,
        machine_rows(machines, ranked[:MAPPED]),
    )


def machine_rows(machines: pd.DataFrame, seats: Iterable[str]) -> list[list[str]]:
    """A row per operator and machine: sales, gross profit in CNY, visits and empty days."""
    rows = []
    for seat in seats:
        for machine, own in machines[machines["seat"] == seat].groupby("machine", sort=True):
            rows.append(
                [
                    seat,
                    str(machine),
                    str(own["site_type"].iloc[0]),
                    decimal(float(own["sold"].mean()), 2),
                    decimal(float(own["gross_profit"].mean()) / 100, 2),
                    str(int(own["visited"].sum())),
                    str(int((own["units"] == 0).sum())),
                ]
            )
    return rows


def waste(
    days: pd.DataFrame, deliveries: pd.DataFrame, drawn: Mapping[str, Style] | None = None
) -> Section | None:
    """Units wasted so far over units received so far; None where nothing was received."""
    if deliveries.empty:
        return None
    wasted = days.groupby(["name", "step"])["wasted"].sum()
    received = deliveries.groupby(["name", "step"])["units"].sum()
    both = (
        wasted.to_frame("wasted")
        .join(received.rename("received"))
        .fillna(0)
        .groupby(level="name")
        .cumsum()
    )
    note = "of units received, by day"
    share = (both["wasted"] / both["received"])[both["received"] > 0]
    return Section(
        "waste",
        "Waste",
        "Units that expired, or were discarded before they did, over units received, so far; those "
        "of all seats and episodes of a retailer together.",
        [_from_nought(lines("waste-path", "Waste rate", note, share, ".1%", drawn=drawn))],
    )


def visits(
    visited: pd.DataFrame, days: pd.DataFrame, drawn: Mapping[str, Style] | None = None
) -> Section | None:
    """Machines visited per whole week and operator; None where nobody visited one."""
    import pandas as pd

    # A week of fewer days has fewer visits whatever is done.
    last = 0 if days.empty else int(days["step"].max()) // WEEK
    if visited.empty or not last:
        return None
    week = ((visited["step"] - 1) // WEEK + 1).rename("step")
    counts = visited.groupby(["name", week]).size()
    operators = days[["name", "episode", "seat"]].drop_duplicates().groupby("name").size()
    weeks = pd.MultiIndex.from_product(
        [operators.index, range(1, last + 1)], names=counts.index.names
    )
    whole = counts.reindex(weeks, fill_value=0)
    mean = whole / operators.reindex(weeks.get_level_values("name")).to_numpy()
    return Section(
        "visits",
        "Visits",
        "Machines visited per week and operator; each costs the visit fee. Days after the last "
        "whole week are left out.",
        [lines("visits-path", "Visits", "per week", mean, ".1f", first="week", drawn=drawn)],
    )


def choices(scores: pd.DataFrame) -> Section | None:
    """What choices were worth, means over seats and episodes; None where nothing is known."""
    known = [each for each in CHOICES if each[0] in scores.columns]
    if not known or scores.empty:
        return None
    mean = scores.groupby("name", sort=True)[[metric for metric, _, _ in known]].mean()
    rows = [
        [str(name), *(decimal(_known(row[metric]), places, "–") for metric, _, places in known)]
        for name, row in mean.iterrows()
    ]
    return Section(
        "choices",
        "Choices",
        "What was chosen, held against the best that was possible in expectation: the stocked set, "
        "each price (CNY per machine and day lost), and which machine has which set (share lost). "
        "Visit-cycle contribution is gross profit less visit fees per machine-day since its first "
        "visit, capital efficiency a day's gross profit over inventory, and waste a share of units "
        "received.",
        heads=("Retailer", *(heading for _, heading, _ in known)),
        rows=rows,
    )


def learning(scores: pd.DataFrame) -> Section | None:
    """Daily growth of net assets early and late; None in episodes too short to tell."""
    if not {"growth_early", "growth_late"} <= set(scores.columns):
        return None
    known = scores.dropna(subset=["growth_early", "growth_late"])
    if known.empty:
        return None
    rows = []
    for name, own in known.groupby("name", sort=True):
        fallen = int((own["growth_late"] < own["growth_early"]).sum())
        early, late = float(own["growth_early"].mean()), float(own["growth_late"].mean())
        rows.append([str(name), decimal(early, 1), decimal(late, 1), f"{fallen} of {len(own)}"])
    return Section(
        "learning",
        "Who still learns",
        "Growth of net assets per day, CNY, days 16 to 45 against 136 to 165.",
        heads=("Retailer", "Early", "Late", "Growth fell in"),
        rows=rows,
    )


def lines(
    identity: str,
    title: str,
    note: str,
    values: pd.Series,
    form: str = ",.0f",
    first: str = "day",
    drawn: Mapping[str, Style] | None = None,
) -> Spec:
    """A line per name over steps.

    Args:
        identity: Its id.
        title: What it shows.
        note: The unit of the values, or whatever else must be said.
        values: Indexed by name and step; not empty.
        form: Of a value, in d3's notation.
        first: What a step is called.
        drawn: How each name is drawn, in the order of the legend; made up where not given.
    """
    traces, legend = [], []
    steps = values.index.get_level_values("step")
    paths = {str(name): own for name, own in values.groupby(level="name", sort=True)}
    for name, style in (drawn or looks([*paths])).items():
        if name not in paths:
            continue
        own = paths[name]
        legend.append(legend_of(style, name))
        traces.append(
            {
                "type": "scatter",
                "mode": "lines",
                "name": label(name),
                "x": [int(step) for step in own.index.get_level_values("step")],
                "y": [float(value) for value in own],
                "line": {"color": style.variable, "width": 2, "dash": style.dash},
                "hovertemplate": f"%{{y:{form}}}",
            }
        )
    layout = {
        "margin": {"l": 56, "r": 8, "t": 6, "b": 40},
        "xaxis": {
            "title": {"text": first},
            **steps_axis(int(steps.max()), int(steps.min())),
        },
        # Ticks go without the zeros that end them.
        "yaxis": {"tickformat": form if "~" in form else f"{form[:-1]}~{form[-1]}"},
    }
    caption = {"title": title, "note": note, "legend": legend}
    return {**figure(identity, f"{title}: {note}", traces, layout), **caption}


def heat(identity: str, title: str, note: str, machines: pd.DataFrame, column: str) -> Spec:
    """A map of machines by weeks: the mean of a column."""
    week = ((machines["step"] - 1) // WEEK + 1).rename("week")
    grid = machines.groupby(["machine", week])[column].mean().unstack("week")
    types = machines.groupby("machine")["site_type"].first()
    trace = {
        "type": "heatmap",
        "x": [int(each) for each in grid.columns],
        "y": [label(f"{machine} {types[machine]}") for machine in grid.index],
        "z": [[_number(value) for value in row] for row in grid.to_numpy().tolist()],
        "showscale": False,
        "colorscale": [[0, "var(--tint)"], [1, "var(--c1)"]],
        "hovertemplate": "week %{x}, %{y}: %{z:.1f}<extra></extra>",
    }
    layout = {
        "margin": {"l": 110, "r": 8, "t": 6, "b": 40},
        "xaxis": {"title": {"text": "week"}},
        "yaxis": {"autorange": "reversed", "dtick": 1, "tickfont": {"size": 9}},
    }
    low, high = (decimal(float(end), 1) for end in (grid.min().min(), grid.max().max()))
    caption = {"title": title, "note": f"{note}, {low} to {high}", "legend": []}
    return {**figure(identity, f"{title}: {note}", [trace], layout), **caption}


def _saying(section: Section | None, more: str) -> Section | None:
    """A section with one more sentence."""
    return section and replace(section, lead=f"{section.lead} {more}".rstrip())


def _from_nought(spec: Spec) -> Spec:
    """A figure whose axis begins at 0, where no value can be below it."""
    axis = {**spec["layout"]["yaxis"], "rangemode": "tozero"}
    return {**spec, "layout": {**spec["layout"], "yaxis": axis}}


def _number(value: float) -> float | None:
    return None if value != value else round(value, 3)


def _known(value: object) -> float | None:
    return float(value) if isinstance(value, float) and value == value else None
