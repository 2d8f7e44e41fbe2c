"""Plays an episode in this process: no actors, no journal, no encoder.

    arena = play("arena/bertrand", ["rules.steps=10"], seed=3).environment

The environment is built as a run builds it; its policies are asked directly. A market in which
words matter needs somebody who knows what they mean (`outside`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from market import registry
from market.config import Config, load, recorded
from market.config import policy as policy_of
from market.environment import OUTSIDE, Answer, Decision, Event, NoAction
from market.replay import build_environment

#: Answers a decision.
Player = Callable[[Decision], Answer | NoAction]


@dataclass(frozen=True, slots=True)
class Played:
    """An episode that is over.

    Attributes:
        environment: The environment.
        history: What was asked and answered, in order.
        events: Everything that happened, if it was asked for.
    """

    environment: Any
    history: list[tuple[Decision, Answer | NoAction]]
    events: list[Event] = field(default_factory=list)

    @property
    def scores(self) -> dict[str, int | float]:
        """The score of each seat."""
        return {seat: result.score for seat, result in self.environment.result.seats.items()}

    def rows(self, table: str) -> list[Any]:
        """The events of one table."""
        return [event for event in self.events if event.table == table]


def play(
    config: Config | str,
    overrides: Sequence[str] = (),
    seed: int | None = None,
    *,
    outside: Player | None = None,
    events: bool = False,
) -> Played:
    """Play a configuration with the scripts of its roster.

    Args:
        config: A configuration or a preset's name.
        overrides: `key=value`, for a preset.
        seed: Instead of the configuration's.
        outside: Answers the seat `OUTSIDE`.
        events: Whether to keep what happened.
    """
    if isinstance(config, str):
        config = load(config, overrides)
    seed = config.seed if seed is None else seed
    environment = build_environment({**recorded(config), "seed": seed})
    return drive(environment, scripts(config, seed), outside=outside, events=events)


def scripts(config: Config, seed: int) -> dict[str, Player]:
    """Who plays each seat of a roster."""
    players: dict[str, Player] = {}
    for retailer in config.retailers:
        path, options = policy_of(config, retailer)
        for seat in retailer.seats:
            # A policy that asks a model cannot play here; its request is no answer.
            policy: Any = registry.load(path)(seat=seat, seed=seed, **options)
            players[seat] = policy.act
    return players


def drive(
    environment: Any,
    players: Mapping[str, Player],
    *,
    outside: Player | None = None,
    events: bool = False,
) -> Played:
    """Play an environment to its end.

    Args:
        environment: Not yet started.
        players: Who answers for each seat.
        outside: Who answers for the seat `OUTSIDE`.
        events: Whether to keep what happened.
    """
    everybody = {**players, OUTSIDE: outside} if outside else players
    history: list[tuple[Decision, Answer | NoAction]] = []
    kept: list[Event] = []
    asked = environment.start()
    if events:
        kept += environment.events
    while asked:
        answers = {decision.seat: everybody[decision.seat](decision) for decision in asked}
        history += [(decision, answers[decision.seat]) for decision in asked]
        asked = environment.apply(answers)
        if events:
            kept += environment.events
    return Played(environment, history, kept)
