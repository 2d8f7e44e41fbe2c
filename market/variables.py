"""Environment variables without which an episode cannot be built, such as the salt of its world.

An environment names them (`EnvironmentKind.variables`). They are asked for before anything is
written, in one sentence. Their values are in no configuration, journal, table or log: whoever
builds an episode in another process hands them over in memory, and whoever plays a journal again
sets them anew.
"""

from __future__ import annotations

import os
from collections.abc import Mapping

from market import registry
from market.environment import Json
from market.registry import EnvironmentKind


def needed(kind: EnvironmentKind, rules: Mapping[str, Json]) -> Mapping[str, str]:
    """The variables that an episode needs by name, and what each holds.

    Args:
        kind: The environment.
        rules: Its rules, checked before.
    """
    if not kind.variables:
        return {}
    model = registry.load(kind.rules).model_validate(rules)
    found: Mapping[str, str] = registry.load(kind.variables)(model)
    return found


def problem(kind: EnvironmentKind, rules: Mapping[str, Json]) -> str | None:
    """What is missing, in one sentence; None where nothing is."""
    for name, holds in needed(kind, rules).items():
        if not os.environ.get(name):
            return f"The environment variable {name} is not set; it holds {holds}."
    return None


def held(kind: EnvironmentKind, rules: Mapping[str, Json]) -> dict[str, str]:
    """The values of those that are set, for another process of this run."""
    names = needed(kind, rules)
    return {name: os.environ[name] for name in names if os.environ.get(name)}
