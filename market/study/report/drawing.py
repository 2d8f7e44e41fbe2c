"""What figures are made of: specifications for plotly whose colours follow the reader's theme.

A figure names its colours as CSS variables (`var(--c1)`, thinned as `var(--c1) 14%`), which the
page resolves, so that one specification serves the light and the dark theme. Labels are escaped,
because plotly reads a subset of HTML in them.
"""

from __future__ import annotations

import html
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from market.study.text import clean

Spec = dict[str, Any]

#: Colours of series, which the style sheet defines for each theme (Okabe and Ito's, adjusted).
COLOURS = ("c1", "c2", "c3", "c4", "c5", "c6", "c7")
DASHES = ("solid", "dash", "dot", "dashdot")
SYMBOLS = ("circle", "square", "diamond", "triangle-up")


@dataclass(frozen=True, slots=True)
class Style:
    """How a retailer is drawn; `colour` is empty for those that stay in the background."""

    colour: str = ""
    dash: str = "solid"
    symbol: str = "circle"

    @property
    def variable(self) -> str:
        """The CSS variable of the colour."""
        return f"var(--{self.colour or 'quiet'})"


def label(text: str, longest: int = 40) -> str:
    """An untrusted text as a plotly label: cleaned, cut, and with nothing that plotly reads."""
    tidy = clean(text)
    cut = tidy if len(tidy) <= longest else tidy[: longest - 1] + "…"
    return html.escape(cut, quote=False)


def figure(identity: str, description: str, data: list[Spec], layout: Spec) -> Spec:
    """A figure: where it goes, what it shows for those who cannot see it, and what plotly draws."""
    return {"id": identity, "description": description, "data": data, "layout": layout}


def legend_of(style: Style, text: str) -> Spec:
    """An entry of a legend."""
    return {"colour": style.colour, "dash": style.dash, "text": text}


def steps_axis(steps: int, first: int) -> Spec:
    """An axis of whole steps, no more than can be read."""
    return {"dtick": max(1, -(-steps // 12)), "range": [first - 0.1, steps + 0.1], "tick0": first}


def tick_format(values: Iterable[float | None]) -> str:
    """How figures along an axis are spelled: 12k from a thousand on, as they are below.

    The short form would spell 0.3 as 300m, which reads as millions.
    """
    reach = max((abs(value) for value in values if value is not None), default=0.0)
    return "~s" if reach >= 1_000 else "~g"


def spread_labels(ends: Mapping[str, float], gap: float) -> dict[str, float]:
    """Heights for labels near the ends of their lines, no two nearer than a gap."""
    places: dict[str, float] = {}
    below = float("-inf")
    for seat in sorted(ends, key=lambda seat: (ends[seat], seat)):
        below = places[seat] = max(ends[seat], below + gap)
    return places
