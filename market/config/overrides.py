"""`--set key=value`: one value of a configuration replaced from the command line."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from typing import Any

from market.config import documents
from market.config.documents import ConfigError
from market.config.sources import Layer


def override(data: dict[str, Any], text: str) -> tuple[Layer, dict[str, Any]]:
    """Replace one value.

    Args:
        data: The configuration so far; it is left as it is.
        text: `key=value`, with a dotted key in which numbers are positions of a list, and a YAML
            value. Mappings on the way that are not there yet are made.

    Returns:
        What the option says, as a layer whose keys are all text, and the changed configuration.

    Raises:
        ConfigError: If the text is malformed or the key leads nowhere.
    """
    key, equals, written = text.partition("=")
    path = key.strip().split(".")
    origin = f"--set {key.strip()}"
    if not equals or not all(path):
        raise ConfigError(f"--set {documents.bounded(key)} is malformed; write `key=value`.")
    if path[0] == "extends":
        raise ConfigError(f"{origin}: `extends` stands in a file only; name that preset instead.")
    value = documents.parse(written, origin)
    said = value
    for part in reversed(path):
        said = {part: said}
    changed = copy.deepcopy(data)
    put(changed, path, value, origin)
    return Layer(origin, said, path=tuple(path)), changed


def put(data: dict[str, Any], path: Sequence[str], value: Any, origin: str) -> None:
    """Put a value where a path leads, into the data itself.

    Raises:
        ConfigError: If it leads nowhere; `origin` says who wanted that.
    """
    node: Any = data
    for depth, part in enumerate(path):
        where = ".".join(path[:depth])
        at: int | str = part
        if isinstance(node, list):
            positions = [str(position) for position in range(len(node))]
            if part not in positions:
                last = f"; its positions are 0 to {len(node) - 1}" if node else ""
                raise ConfigError(f"{origin}: `{where}` is a list of {len(node)}{last}.")
            at = int(part)
        elif not isinstance(node, dict):
            raise ConfigError(f"{origin}: `{where}` is a single value; set it as a whole.")
        if depth == len(path) - 1:
            node[at] = value
            return
        if isinstance(node, dict) and node.get(part) is None:
            node[part] = {}
        node = node[at]
