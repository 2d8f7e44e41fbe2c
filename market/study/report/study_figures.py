"""The figures of many episodes: paths with their intervals, cost against score."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from market.study.report.bands import Ends, band, cut_note, within
from market.study.report.drawing import (
    COLOURS,
    DASHES,
    SYMBOLS,
    Spec,
    Style,
    figure,
    label,
    legend_of,
    spread_labels,
    steps_axis,
    tick_format,
)
from market.study.report.estimates import money, number
from market.study.report.figures import PANELS, axis_format
from market.study.report.paths import Path

_SHARE: Ends = (0.0, 1.0)
#: What an index can be; efficiency can exceed 1 where stock of earlier steps is sold.
POSSIBLE: Mapping[str, Ends] = {
    "gini_net_worth": _SHARE,
    "gini_net_worth_corrected": _SHARE,
    "hhi_revenue": _SHARE,
    "hhi_net_worth": _SHARE,
    "cr4_revenue": _SHARE,
    "cr4_net_worth": _SHARE,
    "active_sold": _SHARE,
    "active_offered": _SHARE,
    "active_won": _SHARE,
    "rank_mobility_net_worth": _SHARE,
    "rank_mobility_profit": _SHARE,
    "price_dispersion": (0.0, None),
    "bluff": (0.0, None),
    "slogan_convergence": (-1.0, 1.0),
}


def looks(names: Sequence[str], first: Iterable[str] = ()) -> dict[str, Style]:
    """A colour for each retailer, the first ones named before others; beyond seven a dash too."""
    ordered = list(dict.fromkeys([*(name for name in first if name in names), *names]))
    return {
        name: Style(
            COLOURS[at % len(COLOURS)],
            DASHES[at // len(COLOURS) % len(DASHES)],
            SYMBOLS[at // len(COLOURS) % len(SYMBOLS)],
        )
        for at, name in enumerate(ordered)
    }


def capital(paths: Sequence[Path], style: Mapping[str, Style]) -> Spec | None:
    """Mean net worth per retailer with its interval; None without data."""
    if not paths:
        return None
    steps = max(len(path.mean) for path in paths)
    traces = [
        trace
        for path in paths
        for trace in band(path, label(path.name), style[path.name], "%{y:,.0f}")
    ]
    ends = {
        path.name: next((y for y in reversed(path.mean) if y is not None), 0.0) for path in paths
    }
    values = [y for path in paths for y in (*path.mean, *path.low, *path.high) if y is not None]
    places = spread_labels(ends, gap=0.055 * (max(values) - min(values)) if values else 0)
    annotations = [
        {
            "x": steps,
            "y": places[name],
            "text": label(name, longest=18),
            "xanchor": "left",
            "xshift": 8,
            "showarrow": False,
            "font": {"color": style[name].variable},
        }
        for name in places
    ]
    return figure(
        "mean-capital",
        f"Mean net worth of {len(paths)} retailers over {steps} steps with 95% intervals",
        traces,
        {
            "xaxis": steps_axis(steps, 1) | {"title": {"text": "step"}},
            "yaxis": {
                "tickformat": tick_format(values),
                "title": {"text": "mean net worth per seat"},
            },
            "margin": {"l": 60, "r": 132, "t": 8, "b": 40},
            "annotations": annotations,
            "hovermode": "closest",
        },
    )


def index_panels(indices: Mapping[str, Path]) -> list[Spec]:
    """One small figure per group of market indices, with intervals."""
    panels: list[Spec] = []
    for title, note, form, series in PANELS:
        known = {
            name: told
            for name, told in series.items()
            if name in indices and any(y is not None for y in indices[name].mean)
        }
        if not known:
            continue
        style = {name: Style(COLOURS[i], DASHES[i], SYMBOLS[i]) for i, name in enumerate(known)}
        found = {name: within(indices[name], POSSIBLE.get(name, (None, None))) for name in known}
        paths = {name: path for name, (path, _) in found.items()}
        cut = {end for _, ends in found.values() for end in ends}
        steps = max(len(path.mean) for path in paths.values())
        drawn = (y for path in paths.values() for y in (*path.mean, *path.low, *path.high))
        traces = [
            trace
            for name, told in known.items()
            for trace in band(paths[name], told, style[name], f"%{{y:{form}}}")
        ]
        panel = figure(
            f"mean-index-{len(panels)}",
            f"{title} per step with 95% intervals: {', '.join(known.values())}",
            traces,
            {
                "xaxis": steps_axis(steps, 1),
                "yaxis": {"tickformat": axis_format(form, drawn), "nticks": 5},
                "margin": {"l": 44, "r": 8, "t": 6, "b": 24},
                "hovermode": "x unified",
            },
        )
        panels.append(
            panel
            | {
                "title": title,
                "note": note + cut_note(cut),
                "legend": [legend_of(style[name], told) for name, told in known.items()],
            }
        )
    return panels


def cost(
    points: Sequence[tuple[str, float, float, bool]], style: Mapping[str, Style]
) -> Spec | None:
    """Mean score against mean cost; None where nobody's cost is known or all cost nothing.

    Args:
        points: Per retailer its name, cost in dollars, score, and whether it is on the frontier.
        style: A style for each.
    """
    if not any(dollars for _, dollars, _, _ in points):
        return None
    traces = [
        {
            "type": "scatter",
            "mode": "markers+text",
            "name": label(name),
            "x": [dollars],
            "y": [score],
            "text": [label(name, 18)],
            "textposition": "middle right",
            "hovertext": [f"{label(name)}: {money(dollars)}, score {number(score)}"],
            "hovertemplate": "%{hovertext}<extra></extra>",
            "cliponaxis": False,
            "marker": {
                "size": 11,
                "color": style[name].variable,
                "symbol": style[name].symbol + ("" if on else "-open"),
            },
        }
        for name, dollars, score, on in points
    ]
    frontier = sorted((dollars, score) for _, dollars, score, on in points if on)
    traces.append(
        {
            "type": "scatter",
            "mode": "lines",
            "name": "frontier",
            "x": [dollars for dollars, _ in frontier],
            "y": [score for _, score in frontier],
            "line": {"color": "var(--axis)", "width": 1, "dash": "dot", "shape": "hv"},
            "hoverinfo": "skip",
        }
    )
    return figure(
        "frontier",
        f"Mean score against mean cost of {len(points)} retailers",
        traces,
        {
            "xaxis": {"title": {"text": "US dollars per seat and episode"}, "nticks": 6},
            "yaxis": {
                "title": {"text": "mean score"},
                "tickformat": tick_format(score for _, _, score, _ in points),
            },
            "margin": {"l": 60, "r": 96, "t": 8, "b": 44},
            "hovermode": "closest",
        },
    )
