"""Write the reference pages of `docs/` from the code they are about.

    python tools/make_docs.py            write them
    python tools/make_docs.py --check    only say which of them are not what the code says

Fields, defaults and descriptions have one home, the code. These pages are its print.
"""

from __future__ import annotations

import inspect
import json
import re
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, get_args

from pydantic import BaseModel

from market import registry, tables
from market.columns import KEYS, columns, describe
from market.config import Config, documents, presets
from market.config.options import described, options_model, policy_class
from market.environment import Event
from market.registry import EnvironmentKind
from market.study import frames
from market.study.sweeps import swept

DOCS = Path(__file__).parent.parent / "docs"

GENERATED = "<!-- Written by `make docs` from the code. Do not edit. -->"

#: Longest default value that is shown.
SHOWN = 60

#: Names of the types of JSON in prose.
_WORDS = {"integer": "integer", "number": "number", "string": "text", "boolean": "true or false"}

Json = Any


def pages() -> dict[str, str]:
    """The text of every generated page, by the name of its file."""
    return {
        "configuration.md": configuration_page(),
        "tables.md": tables_page(),
        "study-in-python.md": study_page(),
    }


def configuration_page() -> str:
    """Every field, policy and preset."""
    kinds = [registry.environment_kind(name) for name in registry.ENVIRONMENTS]
    parts = [
        "# Configuration",
        GENERATED,
        _CONFIGURATION,
        "## Presets",
        _table(("preset", "extends", "what it is"), _preset_rows()),
        "## Top level",
        *_model("", Config),
    ]
    for kind in kinds:
        parts += [f"## Rules of the environment `{kind.name}`"]
        parts += _model("rules", registry.load(kind.rules))
    parts += ["## Policies of every environment", *_policies(kinds[0], registry.POLICIES)]
    for kind in kinds:
        parts += [f"## Policies of the environment `{kind.name}`", _SCRIPTS]
        parts += _policies(kind, kind.policies)
    return "\n\n".join(parts) + "\n"


def tables_page() -> str:
    """Every table and column."""
    keys = _table(("column", "meaning"), ((f"`{name}`", text) for name, text in KEYS.items()))
    parts = [
        "# Tables",
        GENERATED,
        _TABLES.format(keys=keys),
        *_event_tables("Tables of every environment", tables.COMMON),
    ]
    for name in registry.ENVIRONMENTS:
        kind = registry.environment_kind(name)
        parts += _event_tables(f"Tables of the environment `{name}`", registry.load(kind.events))
    return "\n\n".join(parts) + "\n"


def study_page() -> str:
    """What is opened from Python: every frame, column and unit."""
    frames_of: dict[str, Mapping[str, Mapping[str, tuple[str, str]]]] = {
        "Frames of a run": frames.COLUMNS,
        "Frames of a study": swept.COLUMNS,
    }
    parts = ["# Studies in Python", GENERATED, _STUDY]
    for title, known in frames_of.items():
        parts.append(f"## {title}")
        for name, columns_of in known.items():
            rows = ((f"`{c}`", unit or "-", text) for c, (unit, text) in columns_of.items())
            table = _table(("column", "unit", "meaning"), rows)
            parts += [f"### `{name}`", _FRAMES[name], table]
    return "\n\n".join(parts) + "\n"


_CONFIGURATION = """\
A configuration is a YAML or JSON file, or one of the presets below by name. `market run` takes
either. Keys that nobody knows, values of a wrong type and rules that contradict each other are
refused in one sentence before anything starts.

- `extends` (in a file only) names a preset or a path. What the file says is laid over it, mapping
  by mapping; everything else, lists included, is replaced.
- `--set KEY=VALUE` replaces one value. Keys are dotted, numbers are positions in lists
  (`retailers.0.count`), values are YAML.
- YAML is read as its core schema 1.2: `no` is a word, `1e-3` a number, and no key may be given
  twice.
- A key that would hold a secret, such as `api_key`, is refused anywhere: a configuration is copied
  into every result. Name the environment variable that holds it in `api_key_env`. An `api_base`
  holds scheme, host and path, and for the same reason neither user, password nor parameters.

Fields whose description begins with *Operational* say where and how fast an episode runs. They,
and the options `api_base`, `api_key_env` and `stream` of language models, are no part of the
record: runs that differ in nothing else have equal journals. A default of *none* is `null` in YAML;
a field without a default must be given."""

_SCRIPTS = """\
Scripted, and light: none reads anything but its observations. [policies.md](policies.md) says how
to write one."""

_TABLES = """\
A run writes one Parquet file per table into `tables/`. They are derived from the journal by
playing it again, so `market report DIR` can make them anew at any time. The same descriptions are
in the metadata of each column.

Every table begins with these columns:

{keys}

Money is in whole units, quantities are whole units of goods. `null` always means unknown or
undefined, never 0."""


_STUDY = """\
What a run, a tournament or a study left is opened with one call and asked with pandas:

```python
import market.study as study

run = study.load("runs/seven")
print(run.retailers[["name", "score", "low", "high"]])
found = run.findings(reference="markup")
print(found.frame[["figure", "about", "value", "low", "high", "undefined"]])
print(run.describe().query("table == 'offers'")[["column", "unit", "meaning"]])
```

[study.ipynb](study.ipynb) is a notebook that plays a small tournament and asks it for intervals,
replacement effects, luck and regret, and draws a figure; tests execute it.

- `load` takes a folder or a URL (`s3://bucket/models`), of which a copy is kept as long as the run.
  Nothing is read before it is asked for.
- `run.table(NAME)` is any table of [tables.md](tables.md), `run.journal(EPISODE)` the journal that
  [counterfactuals](counterfactuals.md) start from.
- `run.games(OUTCOME)` are the finished episodes as the estimands see them. An outcome is `score`, a
  metric of a seat or a figure of the whole market.
- `run.findings()` is all that the design allows, with intervals and a sentence on what each figure
  means. [statistics.md](statistics.md) says how they are made.
- `run.units` and `run.cells` are those of a [study](studies.md). A study of scripts has no
  journals, and so no other frames.
- `run.describe()` has every column of every table and frame of this run: `table`, `column`, `type`,
  `null`, `unit`, `meaning`.
- Whatever cannot be answered raises `StudyError`, one sentence.

Null (NaN or None) is unknown or undefined, never 0. Money is in whole units, quantities are whole
units of goods. A hyphen below is a name, a flag or a number without a unit."""

#: What a row of each frame is.
_FRAMES = {
    "episodes": "`run.episodes`: one row per episode that was begun.",
    "metrics": (
        "`run.metrics`: one row per finished episode, seat and metric. `run.scores` holds the same "
        "with one row per finished episode and seat, one column per metric, `score` first."
    ),
    "retailers": (
        "`run.retailers`: one row per market, design of rosters and retailer, the best first. The "
        "means of all other metrics follow in columns of their own."
    ),
    "findings": "`run.findings().frame`: one row per estimate.",
    "units": (
        "`run.units`: one row per episode and seat, and one of the seat `outside` for the whole "
        "market. A column per metric follows, then figures of the whole market, begun by "
        "`market.`, what they are held against, by `reference.`, and each varied field by its key."
    ),
    "cells": (
        "`run.cells`: one row per outcome in every cell, market and roster. The varied fields have "
        "columns of their own, by their keys."
    ),
}


def _preset_rows() -> Iterator[Sequence[str]]:
    for preset in presets():
        parent = documents.read(preset.path).get("extends")
        yield f"`{preset.name}`", f"`{parent}`" if parent else "", preset.description


def _model(path: str, model: type[BaseModel], told: set[type] | None = None) -> list[str]:
    """The fields of a model, then those of the models inside it.

    Models with a field `kind`, which serve many fields, are described where they come first.
    """
    told = set() if told is None else told
    whole = model.model_json_schema()
    required = set(whole.get("required", ()))
    rows, inner = [], []
    for name, schema in whole["properties"].items():
        field = model.model_fields[name]
        default = "" if name in required else _default(schema)
        rows.append((f"`{name}`", _spelled(schema, whole), default, field.description or ""))
        for below, place in _models_in(field.annotation):
            if below in told:
                continue
            title = f"`{f'{path}.' if path else ''}{name}{place}`"
            if "kind" in below.model_fields:
                told.add(below)
                title = f"Mappings of kind `{below.model_fields['kind'].default}`"
            inner += [
                f"### {title}",
                inspect.getdoc(below) or "",
                *_model(f"{path}.{name}{place}".lstrip("."), below, told),
            ]
    return [_table(("field", "type", "default", "meaning"), rows), *inner]


def _models_in(annotation: Any, place: str = "") -> Iterator[tuple[type[BaseModel], str]]:
    """Models inside an annotation, and what follows the field's name on the way to them."""
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        yield annotation, place
        return
    origin = getattr(annotation, "__origin__", None)
    below = place
    if isinstance(origin, type) and issubclass(origin, Mapping):
        below += ".NAME"
    elif isinstance(origin, type) and issubclass(origin, Sequence):
        below += ".N"
    for argument in get_args(annotation):
        yield from _models_in(argument, below)


def _spelled(schema: Json, whole: Json) -> str:
    """A type in words."""
    if "$ref" in schema:
        return "mapping, see below"
    if "discriminator" in schema:
        kinds = " or ".join(f"`{kind}`" for kind in sorted(schema["discriminator"]["mapping"]))
        return f"mapping of kind {kinds}"
    if "anyOf" in schema:
        return " or ".join(_spelled(each, whole) for each in schema["anyOf"])
    if "enum" in schema or "const" in schema:
        values = schema["enum"] if "enum" in schema else [schema["const"]]
        return " or ".join(f"`{value}`" for value in values)
    kind = schema.get("type")
    if kind == "null":
        return "none"
    if "prefixItems" in schema:
        return f"[{', '.join(_spelled(each, whole) for each in schema['prefixItems'])}]"
    if kind == "array":
        return f"list of {_spelled(schema.get('items', {}), whole)}"
    if kind == "object":
        of = schema.get("additionalProperties")
        return f"mapping to {_spelled(of, whole)}" if isinstance(of, dict) else "mapping"
    return f"{_WORDS.get(kind, 'anything')}{_bounds(schema)}"


def _bounds(schema: Json) -> str:
    low, high, above = (schema.get(k) for k in ("minimum", "maximum", "exclusiveMinimum"))
    if above is not None and schema["type"] == "integer":
        low, above = above + 1, None
    if above is not None:
        return f" (above {above:g}, at most {_number(high)})" if high else f" (above {above:g})"
    if low is None:
        return ""
    return f" ({low:g} to {_number(high)})" if high is not None else f" ({low:g} or more)"


def _number(value: float) -> str:
    return f"{value:g}" if value < 1e6 else f"{value:.0e}".replace("e+0", "e").replace("e+", "e")


def _default(schema: Json) -> str:
    value = schema.get("default")
    if value is None:
        return "none" if "default" in schema else "its own defaults"
    return _shown(value)


def _shown(value: Any) -> str:
    text = value if isinstance(value, str) and value else json.dumps(value, ensure_ascii=False)
    return f"`{text if len(text) <= SHOWN else text[: SHOWN - 3] + '...'}`"


def _policies(kind: EnvironmentKind, paths: Mapping[str, str]) -> list[str]:
    parts = []
    for name in sorted(paths):
        policy = policy_class(kind, name)
        parts += [f"### `{name}`", described(policy)]
        model = options_model(policy)
        if not model.model_fields:
            continue
        meaning = _option_docs(policy)
        schemas = model.model_json_schema()["properties"]
        rows = []
        for option, field in model.model_fields.items():
            default = ""
            if not field.is_required():
                value = field.get_default(call_default_factory=True)
                default = "none" if value is None else _shown(value)
            kind_words = _spelled(schemas[option], model.model_json_schema())
            rows.append((f"`{option}`", kind_words, default, meaning.get(option, "")))
        parts.append(_table(("option", "type", "default", "meaning"), rows))
    return parts


def _option_docs(policy: type) -> dict[str, str]:
    """What each option means, from the `Attributes:` of the policy and of what it derives from."""
    found: dict[str, str] = {}
    for base in reversed(policy.__mro__):
        _, _, section = inspect.cleandoc(base.__doc__ or "").partition("\nAttributes:\n")
        for name, text in re.findall(r"^ {4}(\w+): (.*(?:\n {5,}.*)*)", section, re.MULTILINE):
            found[name] = " ".join(text.split())
    return found


def _event_tables(title: str, events: Iterable[type[Event]]) -> list[str]:
    parts = [f"## {title}"]
    for event in events:
        kinds = columns(event)
        rows = [
            (f"`{name}`", f"{kinds[name][0].__name__}{' or null' if kinds[name][1] else ''}", text)
            for name, text in describe(event).items()
            if name not in KEYS
        ]
        lead = (inspect.getdoc(event) or "").partition("\nAttributes:")[0]
        parts += [f"### `{event.table}`", " ".join(lead.split())]
        parts.append(_table(("column", "type", "meaning"), rows))
    return parts


def _table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = [f"| {' | '.join(head)} |", f"|{' --- |' * len(head)}"]
    for row in rows:
        # A pipe would end the cell, and a tag would be one.
        cells = (" ".join(cell.split()).replace("|", "\\|").replace("<", "&lt;") for cell in row)
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines)


def main(arguments: Sequence[str]) -> int:
    """Write the pages; with `--check`, 1 if one of them is not what the code says."""
    stale = []
    for name, text in pages().items():
        path = DOCS / name
        if path.is_file() and path.read_text(encoding="utf-8") == text:
            continue
        stale.append(name)
        if "--check" not in arguments:
            path.write_text(text, encoding="utf-8")
    if "--check" in arguments and stale:
        print(f"{', '.join(stale)}: not what the code says; run `make docs`.", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
