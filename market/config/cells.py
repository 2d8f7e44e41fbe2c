"""The cells of a study: the settings that its fields take, and what a configuration becomes by one.

The id of a cell depends on its own settings and on the names of the fields alone, so that a study
with more values or more seeds calls the same cells the same.
"""

from __future__ import annotations

import copy
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from math import prod
from typing import Any

from market import canonical
from market.config.overrides import put
from market.config.plans import PlanError
from market.config.study import Range, Scale, Study
from market.rng import draws

#: Most cells of a study.
MOST_CELLS = 100_000
#: Longest id of a cell, in characters.
MOST_ID = 80
#: The only cell of a study that varies nothing.
BASELINE = "base"

#: What the study itself decides in every cell.
_RESERVED = {
    "seed": "write `study.seeds`",
    "study": "a study cannot vary itself",
    "tournament": "rosters, presets and seeds stand in `study`",
    "extends": "name presets in `study.presets`",
    "name": "cells have names of their own",
    "fork": "an episode is forked by `market fork`",
}
#: An id ends in so much of a hash where its settings alone would not tell it from others.
_HASH = 6


@dataclass(frozen=True, slots=True)
class Cell:
    """One setting of the fields that a study varies.

    Attributes:
        id: Its name, fit for a folder.
        settings: By dotted key, the value; of `Scale` the factor.
    """

    id: str
    settings: Mapping[str, Any]


def cells(study: Study) -> tuple[Cell, ...]:
    """The cells of a study, the baseline first.

    Raises:
        PlanError: If there are too many, two are the same, or a field cannot be varied.
    """
    for key in study.vary:
        first = key.partition(".")[0]
        if first in _RESERVED or not all(key.split(".")):
            told = _RESERVED.get(first, "a dotted key has no empty part")
            raise PlanError(("study", "vary", key), f"it cannot be varied; {told}")
    short = _short_names(list(study.vary))
    drawn = _sampled(study) if study.design == "sample" else _combined(study)
    made = tuple(Cell(_id(short, settings), settings) for settings in drawn)
    if len({cell.id for cell in made}) < len(made):
        raise PlanError(("study", "vary"), "two cells have the same settings")
    return made


def laid(values: Mapping[str, Any], study: Study, cell: Cell) -> dict[str, Any]:
    """A configuration with the settings of a cell; what was given stays as it is.

    Raises:
        market.config.documents.ConfigError: If a key leads nowhere.
    """
    out: dict[str, Any] = copy.deepcopy(dict(values))
    for key, value in cell.settings.items():
        origin = f"study.vary.{key}"
        for path in _places(out, key.split("."), origin):
            put(out, path, _value(out, path, study.vary[key], value, origin), origin)
    return out


def representative(made: Sequence[Cell], most: int) -> Sequence[Cell]:
    """Cells that show what can be wrong with any: each value once, and some spread over all.

    Args:
        made: The cells of a study, the baseline first.
        most: Take all of them up to this number.
    """
    if len(made) <= most:
        return made
    base = made[0].settings
    alone = [
        cell for cell in made if sum(base[key] != value for key, value in cell.settings.items()) < 2
    ]
    return [*alone[:most], *made[:: -(-len(made) // most)]]


def _combined(study: Study) -> Iterator[dict[str, Any]]:
    levels = {key: _levels(values) for key, values in study.vary.items()}
    count = prod(map(len, levels.values()))
    if count > MOST_CELLS:
        raise PlanError(("study", "vary"), f"its grid has {count:,} cells; {MOST_CELLS:,} at most")
    for chosen in product(*levels.values()):
        yield dict(zip(levels, chosen, strict=True))


def _sampled(study: Study) -> Iterator[dict[str, Any]]:
    """A Latin hypercube (McKay, Beckman and Conover 1979), each field from a stream of its own."""
    count = study.samples or 1
    columns: dict[str, list[Any]] = {}
    for key, values in study.vary.items():
        stream = draws(study.sample_seed, "study", key)
        parts = stream.shuffled(range(count))
        columns[key] = [_at(values, (part + stream.uniform()) / count) for part in parts]
    for row in range(count):
        yield {key: column[row] for key, column in columns.items()}


def _levels(values: list[Any] | Range | Scale) -> list[Any]:
    match values:
        case Range(levels=levels):
            assert levels is not None
            found = [values.at(step / (levels - 1)) for step in range(levels)]
            return list(dict.fromkeys(found))
        case Scale(scale=factors):
            return list(factors)
        case listed:
            return listed


def _at(values: list[Any] | Range | Scale, share: float) -> Any:
    """The value at a share, from 0 to below 1, of the way."""
    if isinstance(values, Range):
        return values.at(share)
    options = _levels(values)
    return options[int(share * len(options))]


def _value(data: Any, path: Sequence[str], values: Any, value: Any, origin: str) -> Any:
    if not isinstance(values, Scale):
        return value
    found = data
    for part in path:
        found = found[int(part)] if isinstance(found, list) else found.get(part)
        if found is None:
            break
    if isinstance(found, bool) or not isinstance(found, int | float):
        raise PlanError(
            ("study", "vary", origin.removeprefix("study.vary.")),
            f"`{'.'.join(path)}` is no number that could be scaled",
        )
    scaled = found * value
    return round(scaled) if isinstance(found, int) else float(f"{scaled:.6g}")


def _places(data: Any, path: Sequence[str], origin: str) -> list[list[str]]:
    """The paths that a path means: `*` is every name of a mapping, or position of a list."""
    if "*" not in path:
        return [list(path)]
    at = path.index("*")
    node = data
    for part in path[:at]:
        if isinstance(node, list):
            node = node[int(part)] if part.isdigit() and int(part) < len(node) else None
        else:
            node = node.get(part) if isinstance(node, dict) else None
    names = list(map(str, range(len(node)))) if isinstance(node, list) else node
    if not isinstance(names, list | dict) or not names:
        raise PlanError(
            ("study", "vary", origin.removeprefix("study.vary.")),
            f"there is nothing at `{'.'.join(path[:at])}` for `*` to stand for",
        )
    return [
        deeper
        for name in names
        for deeper in _places(data, [*path[:at], name, *path[at + 1 :]], origin)
    ]


def _short_names(keys: Sequence[str]) -> dict[str, str]:
    """The last part of each key, or as many as tell it from the others."""
    parts = {key: key.split(".") for key in keys}
    longest = max((len(part) for part in parts.values()), default=0)
    names: dict[str, str] = {}
    for key in keys:
        for length in range(1, longest + 1):
            end = parts[key][-length:]
            if sum(other[-length:] == end for other in parts.values()) == 1:
                break
        names[key] = "-".join(end)
    return names


def _id(short: Mapping[str, str], settings: Mapping[str, Any]) -> str:
    if not settings:
        return BASELINE
    spelled = canonical.dumps(settings)
    plain = [(short[key], _text(value)) for key, value in settings.items()]
    told = "_".join(f"{_slug(name)}-{_slug(text)}" for name, text in plain)
    faithful = all(text == _slug(text) for _, text in plain)
    if faithful and len(told) <= MOST_ID:
        return told
    return f"{told[: MOST_ID - _HASH - 1]}-{canonical.digest(spelled)[:_HASH]}"


def _text(value: Any) -> str:
    return value if isinstance(value, str) else canonical.dumps(value)


def _slug(text: str) -> str:
    return re.sub(r"[^A-Za-z0-9.-]+", "-", text).strip("-.") or "x"
