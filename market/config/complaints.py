"""Words for what is wrong in a configuration: the source, the key and what mends it."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any

from pydantic import BaseModel, ValidationError
from pydantic.errors import PydanticInvalidForJsonSchema
from pydantic_core import ErrorDetails

from market.config.documents import ConfigError
from market.config.model import PATTERNS
from market.config.sources import Layer, suggestion

#: Where a value stands: names of mappings, positions in lists.
Key = tuple[str | int, ...]

_NOISE = re.compile(r"^\w+ (?=should )| after validation, not \d+$")
_UNKNOWN_KEY = {"extra_forbidden", "unexpected_keyword_argument"}
_MISSING = {"missing", "missing_argument", "missing_keyword_only_argument"}


def complaint(sources: Sequence[Layer], key: Key, what: str) -> ConfigError:
    """A mistake at a key, ascribed to the source that has the last word on it.

    Args:
        sources: Files and options, later ones over earlier ones.
        key: Where the mistake is.
        what: What is wrong and what mends it, without the full stop.
    """
    files = [source for source in sources if not source.path]
    said = [source for source in sources if _says(source, key)]
    origin = (said or files or sources)[-1].origin
    where = f" `{dotted(key)}`:" if key else ""
    return ConfigError(f"{origin}:{where} {' '.join(what.split()).rstrip('.')}.")


def invalid(
    error: ValidationError, model: type[BaseModel], data: Any, key: Key, sources: Sequence[Layer]
) -> ConfigError:
    """What pydantic found, as one complaint about the first key that is wrong.

    Args:
        error: What pydantic found.
        model: The model that found it.
        data: What was checked.
        key: Where the data stands in the configuration.
        sources: Files and options.
    """
    details = error.errors(include_url=False)
    # The alternatives of a union each complain. Those that came furthest know best what was meant,
    # and together they say what is possible.
    first = _position(details[0], data)
    first = max(
        (at for at in (_position(each, data) for each in details) if at[: len(first)] == first),
        key=len,
    )
    same = [each for each in details if _position(each, data) == first]
    # An alternative that knew all keys and still refuses says more than one of another type.
    telling = [each for each in same if each["type"] in {*_UNKNOWN_KEY, "value_error"}]
    detail = (telling or same)[0]
    if detail["type"] in _UNKNOWN_KEY:
        known = _known_keys(model, first[:-1])
        return complaint(
            sources, key + first, f"is no key here; {suggestion(str(first[-1]), known)}"
        )
    if detail["type"] in _MISSING:
        return complaint(sources, key + first, "is missing; add it")
    if detail["type"] == "value_error":
        # A check of several keys names the one to mend: `items: two items have the same name`.
        what = str(detail["ctx"]["error"])
        if named := re.match(r"([A-Za-z_][\w.-]*): ", what):
            first += tuple(named[1].split("."))
            what = what[named.end() :]
        return complaint(sources, key + first, what)
    wanted = dict.fromkeys(map(_wanted, same))
    return complaint(sources, key + first, f"{', or '.join(wanted)}, not {shown(detail['input'])}")


def unknown(
    sources: Sequence[Layer], key: Key, name: str, known: Mapping[str, str], error: Exception
) -> ConfigError:
    """A name that nothing answers to, with the one that was probably meant."""
    if ":" in name or name in known:
        return complaint(sources, key, str(error))
    return complaint(sources, key, f"there is no {key[-1]} `{name}`; {suggestion(name, known)}")


def dotted(key: Key) -> str:
    """A key as `--set` takes it."""
    return ".".join(map(str, key))


def shown(value: Any) -> str:
    """A value as it stands in a file, bounded."""
    text = json.dumps(value, ensure_ascii=True, default=str)
    return text if len(text) <= 60 else f"{text[:57]}..."


def _wanted(detail: ErrorDetails) -> str:
    pattern = detail.get("ctx", {}).get("pattern")
    return f"should {PATTERNS[pattern]}" if pattern in PATTERNS else _NOISE.sub("", detail["msg"])


def _says(source: Layer, key: Key) -> bool:
    if source.path:
        texts = tuple(map(str, key))
        length = min(len(texts), len(source.path))
        return texts[:length] == source.path[:length]
    data: Any = source.data
    for part in key:
        if not _holds(data, part):
            return False
        data = data[part]
    return True


def _holds(data: Any, part: str | int) -> bool:
    if isinstance(part, int):
        return isinstance(data, list) and part < len(data)
    return isinstance(data, Mapping) and part in data


def _position(detail: ErrorDetails, data: Any) -> Key:
    """Where in the data an error is; pydantic's own location also names alternatives of unions."""
    position: list[str | int] = []
    for part in detail["loc"]:
        if _holds(data, part):
            data = data[part]
        elif not (detail["type"] in _MISSING and part == detail["loc"][-1]):
            continue
        position.append(part)
    return tuple(position)


def _known_keys(model: type[BaseModel], key: Key) -> list[str]:
    """The keys that a model takes at a position."""
    try:
        root = model.model_json_schema()
    except PydanticInvalidForJsonSchema:
        return []
    nodes = _alternatives(root, root)
    for part in key:
        below = []
        for node in nodes:
            child = node.get("items") if isinstance(part, int) else None
            child = child or node.get("properties", {}).get(part, node.get("additionalProperties"))
            below += _alternatives(child, root) if isinstance(child, dict) else []
        nodes = below
    return sorted({name for node in nodes for name in node.get("properties", {})})


def _alternatives(node: dict[str, Any], root: dict[str, Any]) -> list[dict[str, Any]]:
    if "$ref" in node:
        node = root["$defs"][node["$ref"].rsplit("/", 1)[-1]]
    if "anyOf" in node:
        return [each for child in node["anyOf"] for each in _alternatives(child, root)]
    return [node]
