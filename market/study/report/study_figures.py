"""The figures of many episodes: paths with intervals, a map of words, cost against score."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

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
)
from market.study.report.estimates import money, number
from market.study.report.figures import PANELS
from market.study.report.paths import Path
from market.study.report.slogans import Words
from market.study.statistics.estimates import Estimate

#: How strongly an interval is coloured.
_BAND = "14%"
#: Most characters of a slogan beside its point.
_LONGEST = 90


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
        for trace in _band(path, label(path.name), style[path.name], "%{y:,.0f}")
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
            "yaxis": {"tickformat": "~s", "title": {"text": "mean net worth per seat"}},
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
        steps = max(len(indices[name].mean) for name in known)
        hover = f"%{{y:{form.replace('~s', ',.0f')}}}"
        traces = [
            trace
            for name, told in known.items()
            for trace in _band(indices[name], told, style[name], hover)
        ]
        panel = figure(
            f"mean-index-{len(panels)}",
            f"{title} per step with 95% intervals: {', '.join(known.values())}",
            traces,
            {
                "xaxis": steps_axis(steps, 1),
                "yaxis": {"tickformat": form, "nticks": 5},
                "margin": {"l": 44, "r": 8, "t": 6, "b": 24},
                "hovermode": "x unified",
            },
        )
        panels.append(
            panel
            | {
                "title": title,
                "note": note,
                "legend": [legend_of(style[name], told) for name, told in known.items()],
            }
        )
    return panels


def word_map(words: Words, style: Mapping[str, Style]) -> Spec | None:
    """Distinct slogans on two axes, with an arrow per persona; None where there is no map."""
    if words.undefined or not words.arrows:
        return None
    traces: list[Spec] = []
    most = max(point.times for point in words.points)
    for name in dict.fromkeys(point.name for point in words.points):
        own = [point for point in words.points if point.name == name]
        look = style.get(name, Style())
        traces.append(
            {
                "type": "scatter",
                "mode": "markers",
                "name": label(name),
                "x": [point.x for point in own],
                "y": [point.y for point in own],
                "text": [
                    f"{label(name)}, {_when(point.steps)}, {point.times}×<br>"
                    f"“{label(point.slogan, _LONGEST)}”"
                    for point in own
                ],
                "hovertemplate": "%{text}<extra></extra>",
                "marker": {
                    "color": look.variable,
                    "symbol": look.symbol,
                    "opacity": 0.8,
                    "size": [round(7 + 11 * (point.times / most) ** 0.5, 1) for point in own],
                    "line": {"width": 1, "color": "var(--paper)"},
                },
            }
        )
    arrows = [
        {
            "x": x,
            "y": y,
            "ax": 0,
            "ay": 0,
            "xref": "x",
            "yref": "y",
            "axref": "x",
            "ayref": "y",
            "text": "",
            "arrowhead": 2,
            "arrowwidth": 1.2,
            "arrowcolor": "var(--soft)",
        }
        for x, y in words.arrows.values()
    ]
    heads = [
        {
            "x": x * 1.08,
            "y": y * 1.08,
            "text": label(persona, 20),
            "showarrow": False,
            "font": {"color": "var(--soft)"},
            "xanchor": "left" if x > 0 else "right",
            "yanchor": "bottom" if y > 0 else "top",
        }
        for persona, (x, y) in words.arrows.items()
    ]
    first, second = words.explained
    return figure(
        "word-map",
        f"Map of {len(words.points)} slogans by the personas that like them",
        traces,
        {
            "xaxis": {
                "title": {"text": f"first component, {first:.0%} of variance"},
                "showline": False,
                "showgrid": True,
                "nticks": 6,
            },
            "yaxis": {
                "title": {"text": f"second, {second:.0%}"},
                "scaleanchor": "x",
                "nticks": 6,
            },
            "margin": {"l": 60, "r": 24, "t": 8, "b": 44},
            "annotations": [*arrows, *heads],
            "hovermode": "closest",
        },
    )


def drift(words: Words, style: Mapping[str, Style]) -> list[Spec]:
    """How far words wandered from the first ones, and how far apart those of a step are."""
    panels = []
    if words.drift and any(len(path) > 1 for path in words.drift.values()):
        paths = [_path(name, each) for name, each in words.drift.items()]
        panels.append(
            _small(
                "drift",
                "Drift",
                "distance from a retailer's own first words, in similarity",
                paths,
                {path.name: style.get(path.name, Style()) for path in paths},
            )
        )
    if len(words.spread) > 1:
        path = _path("all", words.spread)
        panels.append(
            _small(
                "spread",
                "Spread",
                "mean distance of a step's words from their centre",
                [path],
                {"all": Style(COLOURS[0])},
            )
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
            "yaxis": {"title": {"text": "mean score"}, "tickformat": "~s"},
            "margin": {"l": 60, "r": 96, "t": 8, "b": 44},
            "hovermode": "closest",
        },
    )


def _small(
    identity: str, title: str, note: str, paths: Sequence[Path], style: Mapping[str, Style]
) -> Spec:
    steps = max(len(path.mean) for path in paths)
    traces = [
        trace
        for path in paths
        for trace in _band(path, label(path.name), style[path.name], "%{y:.3f}")
    ]
    panel = figure(
        identity,
        f"{title} per step",
        traces,
        {
            "xaxis": steps_axis(steps, 1) | {"title": {"text": "step"}},
            "yaxis": {"nticks": 5, "rangemode": "tozero"},
            "margin": {"l": 44, "r": 8, "t": 6, "b": 36},
            "hovermode": "closest",
        },
    )
    legend = [legend_of(style[path.name], path.name) for path in paths]
    return panel | {"title": title, "note": note, "legend": legend}


def _band(path: Path, name: str, style: Style, hover: str) -> list[Spec]:
    """The line of a mean and the interval about it."""
    steps = list(range(1, len(path.mean) + 1))
    line = {
        "type": "scatter",
        "mode": "lines+markers",
        "name": name,
        "x": steps,
        "y": list(path.mean),
        "line": {"color": style.variable, "width": 2, "dash": style.dash},
        "marker": {"size": 5, "symbol": style.symbol},
        "hovertemplate": hover,
    }
    known = [
        (step, low, high)
        for step, low, high in zip(steps, path.low, path.high, strict=True)
        if low is not None and high is not None
    ]
    if len(known) < 2:
        return [line]
    around = {
        "type": "scatter",
        "mode": "lines",
        "x": [step for step, _, _ in (*known, *known[::-1])],
        "y": [*(high for _, _, high in known), *(low for _, low, _ in known[::-1])],
        "fill": "toself",
        "fillcolor": f"{style.variable} {_BAND}",
        "line": {"width": 0},
        "hoverinfo": "skip",
    }
    return [around, line]


def _path(name: str, each: Sequence[Estimate]) -> Path:
    return Path(
        name,
        tuple(one.value for one in each),
        tuple(one.low for one in each),
        tuple(one.high for one in each),
    )


def _when(steps: tuple[int, int]) -> str:
    first, last = steps
    return f"step {first}" if first == last else f"steps {first} to {last}"
