"""The first line of a journal, and what may be wrong with a journal."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from pathlib import Path

from market import canonical
from market.environment import Json

#: Version of the file's format.
FORMAT = 1

_ABSENT = object()


class JournalError(RuntimeError):
    """A journal that cannot be read or written; one sentence that names file and line."""


class ConfigChangedError(JournalError):
    """A journal was begun with another configuration.

    Attributes:
        keys: Where they differ, such as `rules.steps` or `retailers[2].policy`.
    """

    def __init__(self, path: Path, keys: tuple[str, ...], hint: str = "") -> None:
        mend = f"; {hint}" if hint else ""
        super().__init__(f"{path} was begun with other values of {', '.join(keys)}{mend}")
        self.keys = keys


@dataclass(frozen=True, slots=True)
class Header:
    """The first line: everything the game is a function of, besides the answers.

    Attributes:
        config: The configuration as far as it affects results, defaults filled in.
        config_digest: SHA-256 of its canonical spelling.
        environment: The environment's name.
        episode: Id of the episode.
        rules_version: The environment's rules version.
        seed: Seed of the episode.
        format: Version of the file's format.
    """

    config: Mapping[str, Json]
    config_digest: str
    environment: str
    episode: str
    rules_version: int
    seed: int
    format: int = FORMAT

    @classmethod
    def of(cls, config: Mapping[str, Json], rules_version: int, episode: str) -> Header:
        """The header of an episode's configuration (`environment`, `seed`, `rules`, ...)."""
        text = canonical.dumps(config)
        return cls(
            config=canonical.loads(text),
            config_digest=canonical.digest(text),
            environment=str(config["environment"]),
            episode=episode,
            rules_version=rules_version,
            seed=int(config["seed"]),
        )

    @property
    def digest(self) -> str:
        """SHA-256 of the header's spelling: where the chain of digests begins."""
        return canonical.digest(self.line)

    @property
    def line(self) -> str:
        """The header's spelling, which is the journal's first line but for its witness."""
        return canonical.dumps({field.name: getattr(self, field.name) for field in fields(self)})

    def differences(self, other: Header) -> tuple[str, ...]:
        """The keys whose values differ, those of the configuration as dotted paths."""
        mine, theirs = asdict(self), asdict(other)
        own = [k for k in mine if k not in ("config", "config_digest") and mine[k] != theirs[k]]
        in_config = _differences("", self.config, other.config)
        return tuple(dict.fromkeys([*in_config, *own]))


def _differences(path: str, mine: Json, theirs: Json) -> list[str]:
    if isinstance(mine, dict) and isinstance(theirs, dict):
        prefix = f"{path}." if path else ""
        return [
            found
            for key in sorted(mine.keys() | theirs.keys())
            for found in _differences(
                f"{prefix}{key}", mine.get(key, _ABSENT), theirs.get(key, _ABSENT)
            )
        ]
    if isinstance(mine, list) and isinstance(theirs, list) and len(mine) == len(theirs):
        return [
            found
            for index, pair in enumerate(zip(mine, theirs, strict=True))
            for found in _differences(f"{path}[{index}]", *pair)
        ]
    return [] if type(mine) is type(theirs) and mine == theirs else [path]
