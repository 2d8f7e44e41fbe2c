"""Results and reports as lines and tables, which take half of the tokens of the same JSON.

A list of rows becomes a line of column names and a line per row, the columns parted by commas.
Every text is cleaned (`market.policies.untrusted`), and no cell holds a comma or a line break.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from market.environment import Json
from market.policies.tokens import clipped, estimate_tokens, fitting
from market.policies.untrusted import clean, number

#: Most characters of one cell, and of a text that stands alone, such as a reason.
CELL, TEXT = 80, 6_000
#: Tokens of the line that says how much was left out.
NOTE = 12


def lines(value: Mapping[str, Json]) -> list[str]:
    """A JSON object: its plain values in one line, then a table for each list of rows."""
    plain, blocks = [], []
    for key, inner in value.items():
        name = clean(key, CELL)
        if isinstance(inner, list) and inner and all(isinstance(row, Mapping) for row in inner):
            blocks += [f"{name}:", *table(inner)]
        elif isinstance(inner, Mapping):
            blocks.append(f"{name}: {facts(inner)}")
        elif isinstance(inner, str) and len(inner) > CELL:
            blocks.append(f"{name}: {clean(inner, TEXT)}")
        else:
            plain.append(f"{name} {cell(inner)}")
    return [", ".join(plain), *blocks] if plain else blocks


def facts(value: Mapping[str, Json]) -> str:
    """The values of an object that has no rows, on one line."""
    return ", ".join(f"{clean(key, CELL)} {cell(inner)}" for key, inner in value.items())


def table(rows: Sequence[Mapping[str, Json]]) -> list[str]:
    """Rows under the names of their columns, which are those of the first row."""
    columns = list(rows[0])
    head = ",".join(clean(column, CELL) for column in columns)
    return [head, *(",".join(cell(row.get(column)) for column in columns) for row in rows)]


def cell(value: Json) -> str:
    """One value on one line, without commas; `-` is nothing."""
    if value is None:
        return "-"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float) and value == int(value) and abs(value) < 1e15:
        return str(int(value))
    if isinstance(value, int | float):
        return number(value)
    if isinstance(value, list | tuple):
        return " ".join(map(cell, value)) or "none"
    return clean(str(value), CELL).replace(",", ";")


def within(told: Iterable[str], tokens: int) -> list[str]:
    """The lines that fit into so many tokens; what is left out is counted in a last line."""
    told = list(told)
    if sum(estimate_tokens(line) + 1 for line in told) <= tokens:
        return told
    kept = fitting(told, tokens - NOTE) or [clipped(told[0], max(tokens - NOTE, 1))]
    missing = len(told) - len(kept)
    return [*kept, f"(left out: {missing} lines)"] if missing else kept
