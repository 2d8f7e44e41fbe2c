"""Means with their intervals, drawn as lines in bands; no band goes where its figure cannot."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from market.study.report.drawing import Spec, Style
from market.study.report.paths import Path
from market.study.statistics.estimates import Estimate

#: How strongly an interval is coloured.
_BAND = "14%"

#: The least and the most that a figure can be; None for no end.
Ends = tuple[float | None, float | None]


def path_of(name: str, each: Sequence[Estimate]) -> Path:
    """Estimates in their order as a path."""
    return Path(
        name,
        tuple(one.value for one in each),
        tuple(one.low for one in each),
        tuple(one.high for one in each),
    )


def within(path: Path, ends: Ends) -> tuple[Path, set[float]]:
    """A path whose interval is cut at what its figure can be, and the ends at which it was.

    Student's interval knows nothing of such ends: a share near 1 has one that goes beyond.
    """
    least, most = ends
    low = tuple(
        least if each is not None and least is not None and each < least else each
        for each in path.low
    )
    high = tuple(
        most if each is not None and most is not None and each > most else each
        for each in path.high
    )
    cut = {
        end
        for end, before, after in ((least, path.low, low), (most, path.high, high))
        if end is not None and before != after
    }
    return replace(path, low=low, high=high), cut


def cut_note(ends: Iterable[float]) -> str:
    """What a note says of the ends at which intervals were cut; empty for none."""
    told = " and ".join(f"{end:g}" for end in sorted(ends))
    return told and f"; intervals are cut at {told}"


def band(path: Path, name: str, style: Style, hover: str) -> list[Spec]:
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
