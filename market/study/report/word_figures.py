"""The figures of what was said: the map of words, and how far they wander."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping, Sequence

from market.study.report.bands import band, cut_note, path_of, within
from market.study.report.drawing import (
    COLOURS,
    Spec,
    Style,
    figure,
    label,
    legend_of,
    steps_axis,
)
from market.study.report.paths import Path
from market.study.report.slogans import Point, Words

#: Most characters of a slogan beside its point.
_LONGEST = 90
#: Places that are equal to so many decimals are one on the map.
_PLACES = 4
#: Characters of a line beside a point, and most lines.
_LINE, _LINES = 70, 24


def word_map(words: Words, style: Mapping[str, Style]) -> Spec | None:
    """Distinct slogans on two axes, with an arrow per persona; None where there is no map.

    A place that several retailers share has the colour of none, and all their names beside it.
    """
    if words.undefined or not words.arrows:
        return None
    places: dict[tuple[float, float], list[Point]] = {}
    for point in words.points:
        place = (round(point.x, _PLACES), round(point.y, _PLACES))
        places.setdefault(place, []).append(point)
    shared: list[list[Point]] = []
    alone: dict[str, list[list[Point]]] = {}
    for own in places.values():
        names = {point.name for point in own}
        (shared if len(names) > 1 else alone.setdefault(own[0].name, [])).append(own)
    most = max(_times(own) for own in places.values())
    looks = {name: style.get(name, Style()) for name in alone}
    traces = [
        _spots(name, own, looks[name].variable, looks[name].symbol, most)
        for name, own in alone.items()
    ]
    legend = _legend(looks)
    if shared:
        traces.append(_spots("several", shared, "var(--ink)", "circle", most))
        legend.append(
            {"colour": "ink", "dash": "solid", "text": "several in one place, with their number"}
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
    drawn = figure(
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
    return drawn | {"legend": legend}


def drift(words: Words, style: Mapping[str, Style]) -> list[Spec]:
    """How far words wandered from the first ones, and how far apart those of a step are."""
    panels = []
    if words.drift and any(len(path) > 1 for path in words.drift.values()):
        paths = [path_of(name, each) for name, each in words.drift.items()]
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
        path = path_of("all", words.spread)
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


def _small(
    identity: str, title: str, note: str, paths: Sequence[Path], style: Mapping[str, Style]
) -> Spec:
    steps = max(len(path.mean) for path in paths)
    found = [within(path, (0.0, None)) for path in paths]
    # Coloured lines come last, so that they lie on top.
    found.sort(key=lambda each: bool(style[each[0].name].colour))
    traces = [
        trace
        for path, _ in found
        for trace in band(path, label(path.name), style[path.name], "%{y:.3f}")
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
    note += cut_note({end for _, ends in found for end in ends})
    return panel | {"title": title, "note": note, "legend": _legend(style)}


def _spots(
    name: str, places: Sequence[Sequence[Point]], colour: str, symbol: str, most: int
) -> Spec:
    """Places of one colour, the larger the more was said there."""
    return {
        "type": "scatter",
        "mode": "markers+text",
        "name": label(name),
        "x": [own[0].x for own in places],
        "y": [own[0].y for own in places],
        "text": [_sharers(own) for own in places],
        "textposition": "middle right",
        "textfont": {"color": "var(--soft)"},
        "cliponaxis": False,
        "hovertext": [_heard(own) for own in places],
        "hovertemplate": "%{hovertext}<extra></extra>",
        "marker": {
            "color": colour,
            "symbol": symbol,
            "opacity": 0.8,
            "size": [round(7 + 11 * (_times(own) / most) ** 0.5, 1) for own in places],
            "line": {"width": 1, "color": "var(--paper)"},
        },
    }


def _times(points: Sequence[Point]) -> int:
    return sum(point.times for point in points)


def _sharers(points: Sequence[Point]) -> str:
    """How many share a place; empty where somebody has it alone."""
    names = {point.name for point in points}
    return str(len(names)) if len(names) > 1 else ""


def _heard(points: Sequence[Point]) -> str:
    """Who said what at one place: all names, those that said the same as often together."""
    told: dict[tuple[str, str], list[str]] = {}
    for point in points:
        when = f"{_when(point.steps)}, {point.times}×"
        told.setdefault((point.slogan, when), []).append(label(point.name, 24))
    lines: list[str] = []
    for (slogan, when), names in told.items():
        each = " each" if len(names) > 1 else ""
        who = f"{', '.join(names)}, {when}{each}"
        lines += textwrap.wrap(who, _LINE, break_long_words=False)
        lines.append(f"“{label(slogan, _LONGEST)}”")
    more = [] if len(lines) <= _LINES else ["and more"]
    return "<br>".join([*lines[:_LINES], *more])


def _legend(looks: Mapping[str, Style]) -> list[Spec]:
    """Who has which colour; those without one are one entry."""
    legend = [legend_of(look, name) for name, look in looks.items() if look.colour]
    quiet = [legend_of(Style(), "everybody else")] if len(legend) < len(looks) else []
    return legend + quiet


def _when(steps: tuple[int, int]) -> str:
    first, last = steps
    return f"step {first}" if first == last else f"steps {first} to {last}"
