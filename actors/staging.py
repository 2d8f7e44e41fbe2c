"""Puts an episode together: the environment, the retailers in their places, the journal's chain."""

from __future__ import annotations

import importlib.util
import os
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from actors.episode import Episode, Outside, stage_of
from actors.hosts import LocalHost, ProcessHost, Spawn
from actors.retailer import Casting
from market.environment import Json
from market.replay import build_environment


@dataclass(frozen=True, slots=True)
class Script:
    """What a market actor must know to play an episode; plain data.

    Attributes:
        config: The configuration as far as it affects results.
        castings: Who plays the seats, grouped by the process that hosts them.
        begin: Where the journal's chain of digests begins.
        deadline: Seconds that a retailer's own code has for one call.
        inline: Whether the retailers live in the process of the market.
        variables: Environment variables without which the environment cannot be built.
    """

    config: Mapping[str, Json]
    castings: tuple[tuple[Casting, ...], ...]
    begin: str
    deadline: float
    inline: bool = False
    variables: Mapping[str, str] = field(default_factory=dict, repr=False)


def stage_inline(script: Script, outside: Outside) -> Episode:
    """An episode in this process."""
    os.environ.update(script.variables)
    environment = build_environment(script.config)
    stage = stage_of(environment)
    hosts = [LocalHost(group, stage) for group in script.castings]
    return Episode(environment, hosts, outside, script.begin)


def stage_processes(
    script: Script, spawn: Spawn, outside: Outside
) -> tuple[Episode, list[ProcessHost]]:
    """An episode whose retailers live in processes of their own, not yet started."""
    os.environ.update(script.variables)
    environment = build_environment(script.config)
    stage = stage_of(environment)
    hosts = [ProcessHost(group, stage, spawn, script.deadline) for group in script.castings]
    return Episode(environment, hosts, outside, script.begin), hosts


def grouped(castings: Sequence[Casting], size: int) -> tuple[tuple[Casting, ...], ...]:
    """Castings in groups of at most `size`, in order."""
    return tuple(tuple(castings[i : i + size]) for i in range(0, len(castings), size))


def is_private(policy: str) -> bool:
    """Whether a policy's module is a file that only this machine's working folder offers.

    What is installed can be imported by every process of a cluster; a file of that folder must
    travel with the class.
    """
    module = policy.partition(":")[0]
    found = sys.modules.get(module) or importlib.util.find_spec(module)
    origin = getattr(found, "__file__", None) or getattr(found, "origin", None)
    if origin is None or module.split(".")[0] in ("market", "actors", "embeddings"):
        return False
    return "site-packages" not in Path(origin).parts
