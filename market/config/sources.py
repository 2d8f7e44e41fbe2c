"""Configurations by name: the files shipped in `configs/`, and how one builds on another.

A file may say `extends:` a preset's name or a path beside itself. What it says is laid over what it
extends, mapping by mapping; anything else, lists included, is replaced.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from importlib import resources
from pathlib import Path
from typing import Any

from market.config import documents
from market.config.documents import ConfigError

#: What files of configurations end in.
_ENDINGS = frozenset({".yaml", ".yml", ".json"})

#: A folder of `configs/` that holds manifests for clusters, and no configurations.
MANIFESTS = "cluster"


@dataclass(frozen=True, slots=True)
class Preset:
    """A shipped configuration.

    Attributes:
        name: Its path within `configs/` without the ending, such as `arena/paper`.
        description: The first comment line of its file.
        path: The file.
    """

    name: str
    description: str
    path: Path


@dataclass(frozen=True, slots=True)
class Layer:
    """What one source says, later ones over earlier ones.

    Attributes:
        origin: The file or option, for messages.
        data: What it says.
        path: The one key that an option of the command line sets; empty for a file.
    """

    origin: str
    data: Mapping[str, Any]
    path: tuple[str, ...] = ()


def presets() -> list[Preset]:
    """The shipped configurations, sorted by name."""
    folder = _folder()
    return [
        Preset(path.relative_to(folder).with_suffix("").as_posix(), _description(path), path)
        for path in sorted(folder.rglob("*.yaml"))
        if path.parent != folder / MANIFESTS
    ]


def find(reference: str, beside: Path | None = None) -> Path:
    """The file a reference means: a path first, else the name of a preset.

    Args:
        reference: A path or a preset's name.
        beside: Folder in which a relative path is looked up; the working folder when None.

    Raises:
        ConfigError: If there is neither.
    """
    path, folder = (beside or Path()) / reference, False
    try:
        if path.is_file():
            return path
        folder = path.is_dir()
    except (OSError, ValueError):
        pass
    named = {preset.name: preset.path for preset in presets()}
    if reference in named:
        return named[reference]
    within = [name for name in named if name.startswith(f"{reference.rstrip('/')}/")]
    bare = reference.removesuffix(path.suffix)
    if folder and not within:
        raise ConfigError(f"`{reference}` is a folder; name a file in it, or a preset.")
    if within:
        what = f"those that begin so are {', '.join(f'`{name}`' for name in within)}"
    elif bare in named:
        what = f"did you mean `{bare}`"
    elif path.suffix in _ENDINGS or reference.startswith((".", "/", "~")):
        what = "look for it where the path leads, or name a preset that `market list` shows"
    else:
        what = suggestion(reference, named)
    raise ConfigError(f"There is no file and no preset `{reference}`; {what}.")


def layers(path: Path) -> list[Layer]:
    """What a file extends, furthest first, and what it says itself; `extends` is taken out.

    Raises:
        ConfigError: If a file cannot be read or extends itself.
    """
    chain: list[Layer] = []
    seen: set[Path] = set()
    following: Path | None = path
    while following is not None:
        if following.resolve() in seen:
            raise ConfigError(f"{following}: `extends` leads back to this file; remove it.")
        seen.add(following.resolve())
        data = documents.read(following)
        parent = data.pop("extends", None)
        chain.append(Layer(str(following), data))
        if parent is None:
            break
        if not isinstance(parent, str) or not parent:
            raise ConfigError(f"{following}: `extends` must be a preset's name or a path.")
        try:
            following = find(parent, following.parent)
        except ConfigError as error:
            raise ConfigError(f"{following}: `extends`: {error}") from error
    return chain[::-1]


def merged(below: Mapping[str, Any], above: Mapping[str, Any]) -> dict[str, Any]:
    """Lay one mapping over another, mapping by mapping; anything else is replaced."""
    out = dict(below)
    for key, value in above.items():
        if isinstance(value, Mapping):
            under = out.get(key)
            out[key] = merged(under if isinstance(under, Mapping) else {}, value)
        else:
            out[key] = value
    return out


def suggestion(name: str, known: Iterable[str]) -> str:
    """`did you mean ...?` for a name that is close to a known one, else what there is."""
    names = sorted(known)
    close = difflib.get_close_matches(name, names, n=1)
    if close:
        return f"did you mean `{close[0]}`"
    return f"there are {', '.join(f'`{each}`' for each in names)}" if names else "none is known"


def _folder() -> Path:
    """`configs/` in the installed package, or beside the package in a checkout."""
    package = Path(str(resources.files("market")))
    shipped = package / "configs"
    return shipped if shipped.is_dir() else package.parent / "configs"


def _description(path: Path) -> str:
    with path.open(encoding="utf-8") as lines:
        for line in lines:
            if line.startswith("#"):
                return line.lstrip("#").strip()
            if line.strip():
                break
    return ""
