"""Holds rosters against rules that name seats, or that only so many seats can play."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Protocol, runtime_checkable

from market import registry
from market.config import plans
from market.config.complaints import complaint
from market.config.schema import Config, parse
from market.config.sources import Layer
from market.registry import EnvironmentKind
from market.study.designs import Roster


@runtime_checkable
class Seated(Protocol):
    """Rules of an environment that name seats."""

    def refuse_seats(self, seats: Sequence[str]) -> None:
        """Hold the names against all seats that a roster may have.

        Raises:
            ValueError: If a name is wrong, as `key: words`.
        """
        ...


@runtime_checkable
class Limited(Protocol):
    """Rules of an environment that only so many seats can play."""

    def refuse_roster(self, seats: Sequence[str]) -> None:
        """Hold the seats of one episode against how many there may be.

        Raises:
            ValueError: If there are too many, as `key: words`.
        """
        ...


def check_rosters(
    config: Config,
    kind: EnvironmentKind,
    rosters: Iterable[Roster],
    possible: Sequence[str],
    sources: Sequence[Layer],
) -> None:
    """Check seats against each market's rules.

    Args:
        config: The configuration, its rules checked.
        kind: Its environment.
        rosters: Who meets in one episode.
        possible: All seats that a roster may have.
        sources: Where values were said.

    Raises:
        market.config.documents.ConfigError: If rules refuse them.
    """
    by_number = {len(roster.seats): roster.seats for roster in rosters}
    for rules in plans.markets(config).values():
        model = parse(registry.load(kind.rules), rules)
        try:
            if isinstance(model, Seated):
                model.refuse_seats(possible)
            if isinstance(model, Limited):
                for seats in by_number.values():
                    model.refuse_roster(seats)
        except ValueError as error:
            key, _, what = str(error).partition(": ")
            raise complaint(sources, ("rules", *key.split(".")), what) from error
