"""Columns of a table from the fields and the docstring of an event class."""

from __future__ import annotations

import inspect
import re
import types
import typing
from collections.abc import Mapping
from dataclasses import fields
from typing import Any

from market.environment import Event

#: The columns that begin every table.
KEYS: Mapping[str, str] = {
    "episode": "Id of the episode.",
    "seed": "Seed of the episode.",
    "step": "Step of the episode, from 1; 0 before the first.",
    "turn": "Turn of the step, from 0.",
    "seat": "The seat it is about.",
}

_TYPES: Mapping[type, str] = {bool: "bool_", int: "int64", float: "float64", str: "string"}


def describe(event: type[Event]) -> dict[str, str]:
    """What each column of an event's table means, from the `Attributes:` of its docstring.

    Returns:
        A description per column, in the table's order; empty where the docstring has none.
    """
    documented = _attributes(inspect.getdoc(event) or "")
    own = {name: documented.get(name, "") for name in columns(event) if name not in KEYS}
    return {**KEYS, **own}


def schema(event: type[Event]) -> Any:
    """The `pyarrow.Schema` of an event's table; descriptions are in the fields' metadata.

    Raises:
        TypeError: If a field is no int, float, str or bool, or one of them or None.
    """
    import pyarrow as pa

    kinds = {"episode": (str, False), "seed": (int, False), **columns(event)}
    return pa.schema(
        [
            pa.field(
                name,
                getattr(pa, _TYPES[kinds[name][0]])(),
                nullable=kinds[name][1],
                metadata={"description": description},
            )
            for name, description in describe(event).items()
        ],
        metadata={"description": summary(event)},
    )


def summary(event: type[Event]) -> str:
    """What a row of an event's table is: the first line of its docstring."""
    return (inspect.getdoc(event) or "").partition("\n")[0]


def columns(event: type[Event]) -> dict[str, tuple[type, bool]]:
    """The type of each field of an event, in order, and whether it may be None.

    Raises:
        TypeError: If a field is no int, float, str or bool, or one of them or None.
    """
    hints = typing.get_type_hints(event)
    return {field.name: _column(event, field.name, hints[field.name]) for field in fields(event)}


def _column(event: type[Event], name: str, hint: Any) -> tuple[type, bool]:
    nullable = isinstance(hint, types.UnionType) and types.NoneType in typing.get_args(hint)
    if nullable:
        others = [kind for kind in typing.get_args(hint) if kind is not types.NoneType]
        hint = others[0] if len(others) == 1 else None
    if isinstance(hint, type):
        for kind in _TYPES:
            if issubclass(hint, kind):
                return kind, nullable
    raise TypeError(f"{event.__name__}.{name} is no int, float, str, bool or one of them or None")


def _attributes(docstring: str) -> dict[str, str]:
    """Names and descriptions of a docstring's `Attributes:` section (Google style)."""
    _, _, section = docstring.partition("\nAttributes:\n")
    found: dict[str, str] = {}
    name = ""
    for line in section.splitlines():
        if line and not line.startswith("    "):
            break
        if match := re.match(r" {4}(\w+): (.*)", line):
            name = match[1]
            found[name] = match[2].strip()
        elif name:
            found[name] = f"{found[name]} {line.strip()}".strip()
    return found
