"""Findings as files for other programs and for papers: CSV, Parquet, LaTeX, Markdown.

CSV and Parquet hold every line with all that is known of it, a file per table. LaTeX (booktabs) and
Markdown hold what a paper prints: what a line is about, its value, interval and seeds, and the
reason where it has none; one file with all tables.

Names are untrusted: a spreadsheet runs what begins like a formula, so such a cell is begun with an
apostrophe; LaTeX and Markdown get every special character escaped.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from market.study.estimands.finding import Finding
from market.study.report.estimates import figure_of
from market.study.text import clean

#: What findings can be written as.
FORMATS = ("csv", "parquet", "latex", "markdown")

Row = dict[str, Any]

#: With these a spreadsheet begins a formula.
_FORMULA = ("=", "+", "-", "@", "\t", "\r")

_LATEX = {
    "\\": r"\textbackslash{}",
    "{": r"\{",
    "}": r"\}",
    "$": r"\$",
    "&": r"\&",
    "#": r"\#",
    "%": r"\%",
    "_": r"\_",
    "^": r"\textasciicircum{}",
    "~": r"\textasciitilde{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    '"': r"\textquotedbl{}",
    "−": "$-$",
    "–": "--",
}
_MARKDOWN = re.compile(r"([\\`*_{}\[\]()#+.!|~:@/-])")


def tables(folder: Path) -> dict[str, list[Row]]:
    """What there is to export of a folder: findings of a run, cells of a study.

    Findings of a run are those of its tables, with luck, regret and the value of words as far as a
    report has computed them.

    Raises:
        market.study.recording.StudyError: If there is no recorded episode.
    """
    cells = folder / "tables" / "cells.parquet"
    if (folder / "study.json").exists() and cells.exists():
        import pyarrow.parquet as pq

        return {"cells": pq.read_table(cells).to_pylist()}
    from market.study.recording import load
    from market.study.report.settled import kept

    run = load(folder)
    return rows([*run.findings().lines, *kept(run)])


def rows(lines: Iterable[Finding]) -> dict[str, list[Row]]:
    """Lines as plain rows, by table; of a table all have the same columns."""
    by_table: dict[str, list[Finding]] = {}
    for line in lines:
        by_table.setdefault(line.table, []).append(line)
    return {table: _rows(own) for table, own in by_table.items()}


def write(tables: Mapping[str, Sequence[Row]], folder: Path, kind: str) -> list[Path]:
    """Write tables of rows: `findings/TABLE.csv` or `.parquet`, or `findings.tex` or `.md`.

    Args:
        tables: Rows by the name of their table.
        folder: Where to.
        kind: One of `FORMATS`.

    Returns:
        The files that were written.
    """
    if kind in ("latex", "markdown"):
        spelled, name = (latex, "findings.tex") if kind == "latex" else (markdown, "findings.md")
        return [_put(folder / name, spelled(tables).encode())]
    into = folder / "findings"
    into.mkdir(exist_ok=True)
    written = []
    for table, own in tables.items():
        if kind == "csv":
            written.append(_put(into / f"{table}.csv", comma_separated(own).encode()))
        else:
            written.append(_put(into / f"{table}.parquet", _parquet(own)))
    return written


def comma_separated(own: Sequence[Row]) -> str:
    """Rows as CSV; null is an empty cell."""
    file = io.StringIO()
    writer = csv.writer(file, lineterminator="\n")
    writer.writerow([_cell(name) for name in own[0]] if own else [])
    writer.writerows([[_cell(value) for value in row.values()] for row in own])
    return file.getvalue()


def latex(tables: Mapping[str, Sequence[Row]]) -> str:
    """Tables for `longtable` and `booktabs`."""
    parts = ["% Needs \\usepackage{booktabs,longtable} and UTF-8."]
    for table, own in tables.items():
        head, body = _printed(own)
        columns = "l" * (len(head) - 4) + "rrrl"
        parts += [
            f"\\begin{{longtable}}{{{columns}}}",
            f"\\caption{{{latex_text(table)}}}\\\\",
            "\\toprule",
            " & ".join(map(latex_text, head)) + " \\\\",
            "\\midrule",
            "\\endhead",
            *(" & ".join(map(latex_text, cells)) + " \\\\" for cells in body),
            "\\bottomrule",
            "\\end{longtable}",
            "",
        ]
    return "\n".join(parts)


def markdown(tables: Mapping[str, Sequence[Row]]) -> str:
    """Tables with pipes."""
    parts = []
    for table, own in tables.items():
        head, body = _printed(own)
        parts += [
            f"## {markdown_text(table)}",
            "",
            _piped(head),
            "|" + " --- |" * (len(head) - 4) + " ---: | ---: | ---: | --- |",
            *map(_piped, body),
            "",
        ]
    return "\n".join(parts)


def latex_text(text: str) -> str:
    """A text in which nothing commands LaTeX."""
    return "".join(_LATEX.get(character, character) for character in clean(text))


def markdown_text(text: str) -> str:
    """A text in which nothing marks up or links."""
    plain = clean(text).replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    return _MARKDOWN.sub(r"\\\1", plain)


def _piped(cells: Sequence[str]) -> str:
    return "| " + " | ".join(map(markdown_text, cells)) + " |"


def _rows(lines: Sequence[Finding]) -> list[Row]:
    keys = list(dict.fromkeys(key for line in lines for key in line.about))
    return [
        {
            "figure": line.figure,
            "outcome": line.outcome,
            **{key: line.about.get(key) for key in keys},
            "value": line.estimate.value,
            "low": line.estimate.low,
            "high": line.estimate.high,
            "level": line.estimate.level,
            "method": line.estimate.method,
            "seeds": line.estimate.blocks,
            "unit": line.unit,
            "undefined": line.estimate.undefined,
            "primary": line.primary,
            "episodes_counted": line.episodes,
            "sentence": line.sentence,
        }
        for line in lines
    ]


#: Columns of a row that come after what it is about.
_REST = (
    "value", "low", "high", "level", "method", "seeds", "unit", "undefined", "primary",
    "episodes_counted", "sentence",
)  # fmt: skip


def _printed(own: Sequence[Row]) -> tuple[list[str], list[list[str]]]:
    """Heading and cells of what a paper prints; lines on all episodes only where others differ."""
    about = [name for name in (own[0] if own else ()) if name not in (*_REST, "outcome")]
    head = [*about, "value", "95% interval", "seeds", "undefined"]
    body = []
    for row in own:
        if row.get("episodes_counted", "valid") != "valid":
            continue
        spelled = figure_of(str(row.get("unit")))
        ends: list[Any] = [row.get("low"), row.get("high")]
        body.append(
            [
                *("" if row[name] is None else str(row[name]) for name in about),
                "–" if row["value"] is None else spelled(row["value"]),
                "" if None in ends else " to ".join(map(spelled, ends)),
                str(row.get("seeds", "")),
                str(row.get("undefined") or ""),
            ]
        )
    return head, body


def _cell(value: Any) -> Any:
    if not isinstance(value, str):
        return "" if value is None else value
    tidy = clean(value)
    return f"'{tidy}" if tidy.startswith(_FORMULA) else tidy


def _parquet(own: Sequence[Row]) -> bytes:
    import pyarrow as pa
    import pyarrow.parquet as pq

    columns = {}
    for name in own[0] if own else ():
        values = [row[name] for row in own]
        known = [value for value in values if value is not None]
        if any(isinstance(value, float) for value in known) and not any(
            isinstance(value, str) for value in known
        ):
            values = [None if value is None else float(value) for value in values]
        elif len({type(value) for value in known}) > 1:
            values = [None if value is None else str(value) for value in values]
        columns[name] = pa.array(values)
    sink = io.BytesIO()
    pq.write_table(pa.table(columns), sink)
    return sink.getvalue()


def _put(path: Path, content: bytes) -> Path:
    part = path.with_name(f"{path.name}.part")
    part.write_bytes(content)
    part.replace(path)
    return path
