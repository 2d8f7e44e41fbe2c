"""Sees at once that a value is of a simple JSON schema, where it is; never says what is wrong.

A sight is sound and not complete: a value that it lets pass is valid, and made of nothing but
built-in dictionaries, lists, strings, whole numbers and truth values themselves. It looks at many
parts with few calls, so that lists of like objects cost little. Schemas of other parts than
objects, lists of objects with the same keys, and maps have none.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from itertools import chain
from operator import itemgetter
from typing import Any

from market.environment import Json

#: Whether a value is seen to be valid.
Sight = Callable[[Any], bool]

_TYPES = {"string": str, "integer": int, "boolean": bool}
_OBJECT = {"type", "properties", "required", "additionalProperties"}


def sight(schema: Mapping[str, Json]) -> Sight | None:
    """The sight of a schema; None if it has parts that cannot be seen at once."""
    kind = schema.get("type")
    if isinstance(kind, str) and kind in _TYPES and schema.keys() == {"type"}:
        exact = _TYPES[kind]
        return lambda value: type(value) is exact
    if kind == "array" and schema.keys() == {"type", "items"}:
        return _records(schema["items"])
    if kind == "object" and "properties" in schema:
        return _object(schema)
    if kind == "object" and schema.keys() == {"type", "additionalProperties"}:
        return _map(schema["additionalProperties"])
    return None


def _object(schema: Mapping[str, Json]) -> Sight | None:
    """An object with known properties and no others."""
    if not schema.keys() <= _OBJECT or schema.get("additionalProperties") is not False:
        return None
    parts = {name: sight(part) for name, part in schema["properties"].items()}
    required = frozenset(schema.get("required", ()))
    if None in parts.values():
        return None

    def seen(value: Any) -> bool:
        if type(value) is not dict or not value.keys() >= required:
            return False
        for name, part in value.items():
            see = parts.get(name)
            if see is None or type(name) is not str or not see(part):
                return False
        return True

    return seen


def _map(values: Json) -> Sight | None:
    """An object whose values are all of one simple type."""
    exact = _simple(values)
    if exact is None:
        return None
    keys, kinds = {str}, {exact}
    return lambda value: (
        type(value) is dict and keys.issuperset(map(type, value)) and kinds.issuperset(
            map(type, value.values())
        )
    )  # fmt: skip


def _records(schema: Json) -> Sight | None:
    """A list of objects that have the same keys and simple values."""
    if not isinstance(schema, Mapping) or schema.get("type") != "object":
        return None
    if schema.keys() != _OBJECT or schema["additionalProperties"] is not False:
        return None
    exact = {name: _simple(part) for name, part in schema["properties"].items()}
    if len(exact) < 2 or None in exact.values() or set(schema["required"]) != exact.keys():
        return None
    fields, kinds, count, objects = itemgetter(*exact), [*exact.values()], {len(exact)}, {dict}

    def seen(value: Any) -> bool:
        if type(value) is not list or not objects.issuperset(map(type, value)):
            return False
        if not count.issuperset(map(len, value)):
            return False
        try:
            found = [*map(type, chain.from_iterable(map(fields, value)))]
        except KeyError:
            return False
        return found == kinds * len(value)

    return seen


def _simple(schema: Json) -> type | None:
    """The built-in type of a schema that asks for nothing else."""
    if not isinstance(schema, Mapping) or schema.keys() != {"type"}:
        return None
    kind = schema["type"]
    return _TYPES.get(kind) if isinstance(kind, str) else None
