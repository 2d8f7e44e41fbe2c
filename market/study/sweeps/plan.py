"""The plan of a sweep: which episodes a study plays, and in which parts they are played and kept.

A unit is one episode: a cell, and in it a market, a roster, a seed and a repetition. Its id is the
cell's and the episode's, so that a study with more cells, seeds or rosters has the units that it
had. Units come seed by seed, each with all cells, so that what was played of an unfinished sweep
is balanced. They are cut into shards: as many as one worker plays and writes down at once. A shard
is done when its part is there, and that is all that a sweep remembers.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from market import canonical
from market.config import Config, recorded
from market.config.cells import Cell, cells
from market.config.loading import configured
from market.config.plans import EpisodePlan, PlanError, expand
from market.journal import Header
from market.study.sweeps.amendments import Amendment, stages

#: Most units of a sweep.
MOST_UNITS = 1_000_000
#: Seats of a shard's episodes together, and most episodes: some seconds of play.
SHARD_SEATS = 5_000
SHARD_UNITS = 250
#: A sweep has so many shards at least, if it has so many units.
FEWEST_SHARDS = 16


@dataclass(frozen=True, slots=True)
class Unit:
    """One episode of a study.

    Attributes:
        cell: The position of its cell.
        episode: Its id among the episodes of the cell.
        seats: Seats of its market.
    """

    cell: int
    episode: str
    seats: int


@dataclass(frozen=True, slots=True)
class Shard:
    """Units that are played together.

    Attributes:
        number: Its number, from 0.
        units: The units.
    """

    number: int
    units: tuple[Unit, ...]

    @property
    def name(self) -> str:
        """The name of its part."""
        return f"part-{self.number:05}"


@dataclass(frozen=True, slots=True)
class Sweep:
    """What a study comes to.

    Attributes:
        config: Its configuration.
        cells: Its cells, the baseline first.
        shards: Its units, cut into parts.
        amendments: How it was extended since it was begun.
    """

    config: Config
    cells: tuple[Cell, ...]
    shards: tuple[Shard, ...]
    amendments: tuple[Amendment, ...] = ()

    @property
    def units(self) -> int:
        """How many units there are."""
        return sum(len(shard.units) for shard in self.shards)


def plan(config: Config, amendments: tuple[Amendment, ...] = ()) -> Sweep:
    """The sweep of a checked configuration with a study.

    Args:
        config: The configuration.
        amendments: How the study came to it, where it was begun with another.

    Raises:
        PlanError: If it has too many units.
        market.config.ConfigError: If a cell has no configuration.
    """
    assert config.study is not None
    made = cells(config.study)
    known: set[Unit] = set()
    shards: list[Shard] = []
    for stage in stages(config, amendments):
        units = [unit for unit in _units(stage, made) if unit not in known]
        shards += _shards(units, len(shards))
        known.update(units)
    return Sweep(config, made, tuple(shards), amendments)


def plans_of(config: Config, cell: Cell) -> dict[str, EpisodePlan]:
    """The episodes of a cell by their ids."""
    return {episode.id: episode for episode in expand(configured(config, cell))}


def registered(config: Config) -> Header:
    """What a study is bound to from its first episode on, with its SHA-256 (`config_digest`).

    That is all that affects its results, and what is asked of them.
    """
    assert config.study is not None
    study: dict[str, Any] = config.study.model_dump(mode="json", exclude={"power", "published"})
    return Header.of({**recorded(config), "study": study}, config.kind.rules_version, "study")


def unit_id(cell: Cell, episode: str) -> str:
    """The id of a unit, unique in its study."""
    return f"{cell.id}.{episode}"


def _units(config: Config, made: Sequence[Cell]) -> list[Unit]:
    study = config.study
    assert study is not None
    # Unless a cell changes the retailers, all have the same episodes but for the settings.
    own = any(key.startswith("retailers") for key in study.vary)

    @lru_cache(maxsize=1)
    def shared() -> tuple[EpisodePlan, ...]:
        return expand(configured(config, made[0]))

    found: list[tuple[tuple[int, int, int, int], Unit]] = []
    for number, cell in enumerate(made):
        episodes = expand(configured(config, cell)) if own else shared()
        if len(made) * len(episodes) > MOST_UNITS or len(found) > MOST_UNITS:
            raise PlanError(("study",), f"it has more than {MOST_UNITS:,} episodes")
        order = {seed: at for at, seed in enumerate(dict.fromkeys(each.seed for each in episodes))}
        for at, each in enumerate(episodes):
            seats = sum(len(retailer.seats) for retailer in each.config.retailers)
            place = (each.repetition, order[each.seed], number, at)
            found.append((place, Unit(number, each.id, seats)))
    found.sort(key=lambda entry: entry[0])
    return [unit for _, unit in found]


def _shards(units: Sequence[Unit], first: int) -> list[Shard]:
    most = min(SHARD_UNITS, max(1, -(-len(units) // FEWEST_SHARDS)))

    def cut() -> Iterator[tuple[Unit, ...]]:
        part: list[Unit] = []
        seats = 0
        for unit in units:
            if part and (len(part) == most or seats + unit.seats > SHARD_SEATS):
                yield tuple(part)
                part, seats = [], 0
            part.append(unit)
            seats += unit.seats
        if part:
            yield tuple(part)

    return [Shard(number, part) for number, part in enumerate(cut(), first)]


def described(sweep: Sweep) -> dict[str, Any]:
    """What `study.json` holds: the question and the plan, before anything is played."""
    study = sweep.config.study
    assert study is not None
    header = registered(sweep.config)
    return {
        "name": sweep.config.name,
        "primary": study.primary,
        "exploratory": [outcome for outcome in study.told if outcome != study.primary],
        "primary_and_plan_sha256": header.config_digest,
        "units": sweep.units,
        "shards": len(sweep.shards),
        "cells": {cell.id: canonical.loads(canonical.dumps(cell.settings)) for cell in sweep.cells},
        "registered": canonical.loads(header.line),
        **({"amendments": [each.json() for each in sweep.amendments]} if sweep.amendments else {}),
    }
