"""Journals of small games, played in this process."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from market import answers as spelling
from market import registry
from market.arena.counterfactual.scene import Scene, scenes
from market.config import load, recorded
from market.environment import OUTSIDE
from market.journal import Header, JournalWriter
from market.play import Player, scripts
from market.replay import build_environment
from tests.market.arena.games import Game, facts


def record(path: Path, preset: str, *overrides: str, seed: int | None = None) -> Path:
    """Play a configuration with its scripts and write its journal."""
    config = load(preset, overrides)
    seed = config.seed if seed is None else seed
    resolved = {**recorded(config), "seed": seed}
    return write(path, resolved, scripts(config, seed))


def record_game(path: Path, game: Game) -> Path:
    """Play a random game and write its journal."""
    resolved = {
        "environment": "arena",
        "seed": game.seed,
        "rules": game.rules.model_dump(mode="json"),
        "retailers": [{"name": seat, "policy": "idle", "count": 1} for seat in game.seats],
    }
    seats = build_environment(resolved).seats
    player = next(iter(game.players().values()))  # the same for every seat
    return write(path, resolved, dict.fromkeys(seats, player))


def write(path: Path, resolved: dict[str, Any], players: dict[str, Player]) -> Path:
    """Play a resolved configuration and write its journal."""
    version = registry.environment_kind(resolved["environment"]).rules_version
    header = Header.of(resolved, version, "one")
    environment = build_environment(header.config)
    everybody = {**players, OUTSIDE: facts}
    asked = environment.start()
    with JournalWriter.create(path, header) as journal:
        while asked:
            answers = {
                decision.seat: spelling.load(spelling.dump(everybody[decision.seat](decision)))
                for decision in asked
            }
            journal.append(asked, answers)
            asked = environment.apply(answers)
        journal.finish(environment.result)
    return path


def recorded_scenes(
    path: Path, preset: str, *overrides: str, seed: int | None = None
) -> list[Scene]:
    """The scenes of a configuration played with its scripts."""
    return list(scenes(record(path, preset, *overrides, seed=seed)))
