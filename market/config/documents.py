"""YAML and JSON files as plain data, read strictly.

YAML here is the core schema of YAML 1.2, in which `no` is a word and `1e-3` a number, without
dates; JSON files are read as JSON. A key given twice, a key that is no text and a number that is
none (`.nan`) are mistakes. What `write` writes, `parse` reads as the same data.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Hashable
from pathlib import Path
from typing import Any

import yaml

from market import canonical

#: What mends what the parser of YAML only names.
_MENDED = {
    r"found character '\t' that cannot start any token": (
        "a tab stands where spaces must; indent with spaces"
    ),
    "but found another document": (
        "a second document begins after `---`; leave one document in the file"
    ),
}

_TWICE = "the key `{}` is given twice; keep one of them"


class ConfigError(ValueError):
    """A user's mistake in a configuration: one sentence that names file, key and what mends it."""


def read(path: Path) -> dict[str, Any]:
    """Read a file that holds one mapping.

    Raises:
        ConfigError: If it cannot be read, is malformed (with the line) or is no mapping.
    """
    try:
        text = path.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError as error:
        raise ConfigError(f"{path} is no text in UTF-8; save it in that encoding.") from error
    except OSError as error:
        raise ConfigError(f"{path} cannot be read: {error.strerror}.") from error
    data = _parse_json(text, str(path)) if path.suffix == ".json" else parse(text, str(path))
    if data is None:
        raise ConfigError(f"{path} is empty; it needs at least `environment` and `retailers`.")
    if not isinstance(data, dict):
        raise ConfigError(f"{path} is no mapping; write `key: value` lines.")
    return data


def parse(text: str, origin: str) -> Any:
    """Parse YAML to what JSON can hold.

    Args:
        text: The YAML.
        origin: Where it stands, for messages.

    Raises:
        ConfigError: If it is malformed.
    """
    data = None
    try:
        data = yaml.load(text, _Loader)
        canonical.dumps(data)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        line = f", line {mark.line + 1}" if mark else ""
        problem = _plain(error.problem or error.context)
        raise ConfigError(f"{origin}{line}: {_MENDED.get(problem, problem)}.") from error
    except yaml.YAMLError as error:
        raise ConfigError(f"{origin}: {_plain(str(error))}.") from error
    except (ValueError, RecursionError) as error:
        if odd := not_finite(data):
            raise ConfigError(f"{origin}: {odd}.") from error
        raise ConfigError(
            f"{origin} holds something other than text, finite numbers, true, false, null, lists "
            f"and mappings: {_plain(str(error))}."
        ) from error
    return data


def write(data: Any) -> str:
    """Write plain data as YAML, mappings in their order."""
    return yaml.dump(data, Dumper=_Dumper, sort_keys=False, allow_unicode=True, width=100)


def bounded(text: str) -> str:
    """A user's text as one short line without control characters."""
    line = " ".join("".join(c if c.isprintable() else " " for c in text).split())
    return line if len(line) <= 80 else f"{line[:77]}..."


def not_finite(data: Any) -> str | None:
    """What is wrong with the first number that is none, and at which key; None without one."""
    waiting: list[tuple[str, Any]] = [("", data)]
    seen = set()
    while waiting:
        key, value = waiting.pop()
        if isinstance(value, float) and not math.isfinite(value):
            where = f"`{key}`: " if key else ""
            return f"{where}{value} is no finite number; write one, or null for none"
        if not isinstance(value, dict | list) or id(value) in seen:
            continue
        seen.add(id(value))  # an alias may lead back to what holds it
        within = value.items() if isinstance(value, dict) else enumerate(value)
        waiting += [(f"{key}.{part}" if key else str(part), each) for part, each in within][::-1]
    return None


def _parse_json(text: str, origin: str) -> Any:
    data = None
    try:
        data = json.loads(text, object_pairs_hook=_unique)
        canonical.dumps(data)
    except json.JSONDecodeError as error:
        raise ConfigError(f"{origin}, line {error.lineno}: {_plain(error.msg)}.") from error
    except (ValueError, RecursionError) as error:
        raise ConfigError(f"{origin}: {not_finite(data) or _plain(str(error))}.") from error
    return data


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    data: dict[str, Any] = {}
    for key, value in pairs:
        if key in data:
            raise ValueError(_TWICE.format(key))
        data[key] = value
    return data


def _plain(message: str | None) -> str:
    return " ".join((message or "malformed").split()).rstrip(".")


class _Loader(yaml.SafeLoader):
    """Reads the core schema, and no key twice."""

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Hashable, Any]:
        seen = set()
        for key_node, _ in node.value:
            if key_node.tag == "tag:yaml.org,2002:merge":
                continue
            key = self.construct_object(key_node, deep=True)
            problem = None
            if not isinstance(key, str):
                problem = f"the key {key} is no text; put it in quotes"
            elif key in seen:
                problem = _TWICE.format(key)
            if problem:
                raise yaml.MarkedYAMLError(problem=problem, problem_mark=key_node.start_mark)
            seen.add(key)
        return super().construct_mapping(node, deep)


class _Dumper(yaml.SafeDumper):
    """Quotes what the loader would not read as text."""

    def ignore_aliases(self, _data: Any) -> bool:
        return True

    def represent_str(self, data: str) -> yaml.ScalarNode:
        # Other line ends than \n survive in double quotes only.
        odd = not data.replace("\n", "").isprintable()
        return self.represent_scalar("tag:yaml.org,2002:str", data, style='"' if odd else None)


_Dumper.add_representer(str, _Dumper.represent_str)


_CORE = [
    ("null", r"~|null|Null|NULL|", ["~", "n", "N", ""]),
    ("bool", r"true|True|TRUE|false|False|FALSE", list("tTfF")),
    ("int", r"[-+]?(?:0|[1-9][0-9]*)", list("-+0123456789")),
    (
        "float",
        r"[-+]?(?:\.[0-9]+|[0-9]+\.[0-9]*|[0-9]+(?=[eE]))(?:[eE][-+]?[0-9]+)?"
        r"|[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN)",
        list("-+.0123456789"),
    ),
    ("merge", r"<<", ["<"]),
]
for _class in (_Loader, _Dumper):
    _class.yaml_implicit_resolvers = {}
    for _tag, _pattern, _first in _CORE:
        _class.add_implicit_resolver(
            f"tag:yaml.org,2002:{_tag}", re.compile(rf"(?:{_pattern})\Z"), _first
        )
