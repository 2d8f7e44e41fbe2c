"""The page of a sweep: its primary outcome first, then small multiples of all.

Each panel shows one outcome over the values of one field, a line per market and roster, averaged
over the other fields by seed. Of a Latin hypercube every cell is a point.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np

from market.study.report.bands import cut_note, path_of, within
from market.study.report.drawing import COLOURS, DASHES, SYMBOLS, Spec, label, tick_format
from market.study.report.estimates import Scale
from market.study.report.shell import page
from market.study.report.study_figures import POSSIBLE
from market.study.statistics.estimates import FEW_BLOCKS, Estimate
from market.study.sweeps import outcomes
from market.study.sweeps.contrasts import Told, blocks_of, estimate_of
from market.study.sweeps.gathering import Gathered, text
from market.study.sweeps.plan import Sweep
from market.study.sweeps.published import Beside, beside, spelled

#: Lines of a panel, panels of a page and cells of its table; the tables hold all.
MOST_LINES, MOST_PANELS, MOST_ROWS = 7, 60, 500


def write_sweep_report(
    sweep: Sweep, gathered: Gathered, told: Sequence[Told], summary: Mapping[str, Any], folder: Path
) -> Path:
    """Write `report.html` into the folder of a sweep, whole or not at all, and return its path."""
    path = folder / "report.html"
    part = path.with_suffix(".html.part")
    part.write_text(render(sweep, gathered, told, summary), encoding="utf-8", newline="\n")
    part.replace(path)
    return path


def render(
    sweep: Sweep, gathered: Gathered, told: Sequence[Told], summary: Mapping[str, Any]
) -> str:
    """The page as HTML text."""
    study = sweep.config.study
    assert study is not None
    panels = list(islice(_panels(sweep, gathered, told), MOST_PANELS))
    settings = {cell.id: cell.settings for cell in sweep.cells}
    primary = [line for line in told if line.outcome == study.primary]
    scale = Scale.over(line.estimate for line in primary[:MOST_ROWS])
    rows = [
        (
            [text(value) for value in settings[line.cell].values()] or ["as configured"],
            line.preset,
            line.roster,
            spelled(line.estimate),
            line.estimate.value,
            None if scale is None else scale.bar(line.estimate),
            "the baseline" if line.difference is None else spelled(line.difference),
            line.difference is not None and line.difference.decided,
        )
        for line in primary[:MOST_ROWS]
    ]
    return page(
        "sweep.html.j2",
        panels,
        summary=summary,
        study=study,
        keys=list(study.vary) or ["settings"],
        rows=rows,
        few=FEW_BLOCKS,
        left=len(primary) - len(rows),
        several=len({(line.preset, line.roster) for line in primary}) > 1,
        panels=panels,
        beside=_beside(told, sweep),
    )


def _beside(told: Sequence[Told], sweep: Sweep) -> list[Beside]:
    assert sweep.config.study is not None
    return beside(told, sweep.config.study.published)


def _panels(sweep: Sweep, gathered: Gathered, told: Sequence[Told]) -> Iterator[Spec]:
    study = sweep.config.study
    assert study is not None
    number = 0
    for outcome in study.told:
        for key in study.vary:
            if study.design == "sample":
                lines = _points(sweep, told, outcome, key)
            else:
                lines = _levels(sweep, gathered, told, outcome, key)
            lines = {name: found for name, found in lines.items() if found}
            if lines:
                yield _panel(number, outcome, key, lines, outcome == study.primary)
                number += 1


#: What a line of a panel shows: values of the field and estimates.
Line = list[tuple[Any, Estimate]]


def _points(sweep: Sweep, told: Sequence[Told], outcome: str, key: str) -> dict[str, Line]:
    """Every cell of a sample."""
    settings = {cell.id: cell.settings for cell in sweep.cells}
    lines: dict[str, Line] = {}
    for line in told:
        if line.outcome == outcome and line.estimate.value is not None:
            name = " ".join(filter(None, (line.preset, line.roster)))
            lines.setdefault(name, []).append((settings[line.cell][key], line.estimate))
    return lines


def _levels(
    sweep: Sweep, gathered: Gathered, told: Sequence[Told], outcome: str, key: str
) -> dict[str, Line]:
    """The mean of an outcome at each value of a field, over all cells that have it."""
    values = {cell.id: text(cell.settings[key]) for cell in sweep.cells}
    shown = {text(cell.settings[key]): cell.settings[key] for cell in sweep.cells}
    if outcomes.of_cell(outcome):
        found = _points(sweep, told, outcome, key)
        return found if len(shown) == len(sweep.cells) else {}
    pooled: dict[tuple[str, str | None], dict[int, list[float]]] = {}
    for (cell, preset, roster), blocks in blocks_of(gathered, outcome, sweep.cells[0].id).items():
        name = " ".join(filter(None, (preset, roster)))
        own = pooled.setdefault((name, values[cell]), {})
        for seed, value in blocks.items():
            own.setdefault(seed, []).append(value)
    lines: dict[str, Line] = {}
    for (name, level), by_seed in pooled.items():
        estimate = estimate_of([float(np.mean(each)) for each in by_seed.values()], False)
        lines.setdefault(name, []).append((shown[level], estimate))
    return lines


def _panel(number: int, outcome: str, key: str, lines: Mapping[str, Line], primary: bool) -> Spec:
    numeric = all(
        isinstance(value, int | float) and not isinstance(value, bool)
        for line in lines.values()
        for value, _ in line
    )
    possible = POSSIBLE.get(outcome.removeprefix(f"{outcomes.MARKET}."), (None, None))
    cut: set[float] = set()
    drawn: list[float | None] = []
    traces = []
    for at, (name, line) in enumerate(islice(lines.items(), MOST_LINES)):
        line = sorted(line, key=lambda point: point[0]) if numeric else line
        known = [(value, each) for value, each in line if each.value is not None]
        path, ends = within(path_of(name, [each for _, each in known]), possible)
        cut |= ends
        widths = [
            (high - mean, mean - low)
            if mean is not None and low is not None and high is not None
            else (0.0, 0.0)
            for mean, low, high in zip(path.mean, path.low, path.high, strict=True)
        ]
        drawn += [*path.mean, *path.low, *path.high]
        traces.append(
            {
                "type": "scatter",
                "mode": "lines+markers" if len({str(v) for v, _ in known}) < 40 else "markers",
                "name": label(name),
                "x": [value if numeric else label(str(text(value))) for value, _ in known],
                "y": [each.value for _, each in known],
                "error_y": {
                    "array": [up for up, _ in widths],
                    "arrayminus": [down for _, down in widths],
                    "symmetric": False,
                    "thickness": 1,
                    "width": 2,
                    "color": f"var(--{COLOURS[at]})",
                },
                "line": {"color": f"var(--{COLOURS[at]})", "width": 2, "dash": DASHES[at % 4]},
                "marker": {"size": 6, "symbol": SYMBOLS[at % 4]},
                "hovertemplate": "%{x}: %{y:,.4~r}",
            }
        )
    axis: dict[str, Any] = {"title": {"text": label(key.rpartition(".")[2])}, "nticks": 6}
    if not numeric:
        axis["type"] = "category"
    return {
        "id": f"panel-{number}",
        "description": f"{outcome} by {key}",
        "data": traces,
        "layout": {
            "xaxis": axis,
            "yaxis": {"nticks": 5, "tickformat": tick_format(drawn)},
            "margin": {"l": 52, "r": 10, "t": 6, "b": 40},
            "hovermode": "closest",
        },
        "title": outcome,
        "note": f"by {key}{', primary' if primary else ''}"
        + (f", {MOST_LINES} of {len(lines)} lines" if len(lines) > MOST_LINES else "")
        + cut_note(cut),
        "legend": [
            {"colour": COLOURS[at], "dash": DASHES[at % 4], "text": name}
            for at, name in enumerate(islice(lines, MOST_LINES))
        ],
    }
