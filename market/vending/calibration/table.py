"""A CSV as columns of text, with the line in which each row begins.

Fields are separated by what the head has most of: commas, tabs, or semicolons, which Excel writes
where the comma is decimal. Rows of nothing are left out, as are empty fields behind the last
column; missing fields at the end of a row are empty.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from market.config.documents import bounded

if TYPE_CHECKING:
    import pandas as pd

#: What is read, and whether there must be a column for it.
COLUMNS: Mapping[str, bool] = {
    "timestamp": True,
    "machine": True,
    "product": True,
    "price": True,
    "quantity": False,
    "site_type": False,
    "subcategory": False,
    "stock": False,
}
#: What may separate fields; the first of those that do so equally often.
SEPARATORS = ",;\t"


class CalibrationError(ValueError):
    """Records that no world can be fitted to; one sentence with file, column and line."""


@dataclass(frozen=True, slots=True)
class Table:
    """Columns of text.

    Attributes:
        path: The file.
        names: What the columns that there are are called in the file.
        text: The columns, called as in `COLUMNS`.
        lines: The line of the file in which each row begins.
        semicolons: Whether fields are separated by semicolons.
    """

    path: str
    names: Mapping[str, str]
    text: pd.DataFrame
    lines: tuple[int, ...]
    semicolons: bool

    def numbers(self, name: str) -> pd.Series:
        """A column of numbers; NaN for what is none.

        Between semicolons a comma may be decimal; then dots in the same column are none.
        """
        import pandas as pd

        text = self.text[name]
        if self.semicolons and text.str.contains(",", regex=False).any():
            dotless = text.where(~text.str.contains(".", regex=False), "")
            text = dotless.str.replace(",", ".", regex=False)
        return pd.to_numeric(text, errors="coerce")

    def refuse(self, name: str, bad: pd.Series, what: str) -> None:
        """Raise `CalibrationError` about the first bad field of a column, if there is any."""
        if bad.any():
            row = int(bad.to_numpy().argmax())
            value = bounded(str(self.text[name].iloc[row]))
            raise CalibrationError(
                f"{self.path}, line {self.lines[row]}, column `{bounded(self.names[name])}`: "
                f"`{value}` {what}."
            )


def read_table(path: Path | str, columns: Mapping[str, str] | None = None) -> Table:
    """Read a CSV.

    Args:
        path: The file.
        columns: Names of columns in the file, where they differ from those of `COLUMNS`.

    Raises:
        CalibrationError: If it cannot be read, or a column is missing or there twice.
    """
    import pandas as pd

    asked = columns or {}
    for name in asked:
        if name not in COLUMNS:
            known = ", ".join(COLUMNS)
            raise CalibrationError(f"there is no `{bounded(name)}` to map; there are {known}.")
    try:
        text = Path(path).read_bytes().decode("utf-8-sig")
    except OSError as error:
        raise CalibrationError(f"{path} cannot be read as a CSV: {bounded(str(error))}.") from error
    except UnicodeDecodeError as error:
        raise CalibrationError(f"{path} is no text in UTF-8; save it as CSV in UTF-8.") from error
    separator = _separator(text)
    rows = _rows(text, separator, str(path))
    _, head = next(rows, (0, None))
    if head is None:
        raise CalibrationError(f"{path} cannot be read as a CSV: it is empty.")
    names = {name: asked.get(name, name) for name in COLUMNS}
    for name, column in names.items():
        if column not in head and (COLUMNS[name] or name in asked):
            raise CalibrationError(
                f"{path} has no column `{bounded(column)}`; name the one that holds the {name} by "
                f"--column {name}=NAME (there are {bounded(', '.join(head))})."
            )
        if head.count(column) > 1:
            raise CalibrationError(
                f"{path} has {head.count(column)} columns `{bounded(column)}`; rename all but the "
                f"one that holds the {name}."
            )
    names = {name: column for name, column in names.items() if column in head}
    places = [head.index(column) for column in names.values()]
    lines, fields = [], []
    for line, row in rows:
        if len(row) > len(head) and any(map(str.strip, row[len(head) :])):
            raise CalibrationError(
                f"{path}, line {line} has {len(row)} fields, but the head has {len(head)}; put "
                "text that holds a separator in quotes."
            )
        row += [""] * (len(head) - len(row))
        lines.append(line)
        fields.append([row[place] for place in places])
    return Table(
        path=str(path),
        names=names,
        text=pd.DataFrame(fields, columns=list(names), dtype=str),
        lines=tuple(lines),
        semicolons=separator == ";",
    )


def _separator(text: str) -> str:
    """The separator that the first line with anything in it has most of."""
    head = next((line for line in io.StringIO(text) if line.strip()), "")
    return max(SEPARATORS, key=lambda each: len(next(csv.reader([head], delimiter=each), [])))


def _rows(text: str, separator: str, path: str) -> Iterator[tuple[int, list[str]]]:
    """Rows with anything in them, and the line in which each begins."""
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=separator, strict=True)
    line = 1
    try:
        for row in reader:
            if any(map(str.strip, row)):
                yield line, row
            line = reader.line_num + 1
    except csv.Error as error:
        raise CalibrationError(
            f"{path}, line {line}: a quotation mark is not closed or not doubled ({error})."
        ) from error
