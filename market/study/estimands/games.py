"""Finished episodes as the estimands see them: who sat where, and what came of it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from statistics import fmean

#: Designs whose rosters treat all retailers alike.
ALIKE = frozenset({"all", "latin", "subsets", "chosen"})


@dataclass(frozen=True, slots=True)
class Game:
    """One finished episode.

    Attributes:
        episode: Its id.
        preset: The name of its market; None where there is one only.
        roster: The name of its roster.
        seed: Its seed: the block that it belongs to.
        repetition: From 1.
        players: The retailer in each seat.
        outcomes: The outcome of each seat; a seat whose outcome is undefined is not there.
        market: The outcome of the whole market, where it is one of the market and not of seats.
        design: The design that its roster was drawn by.
    """

    episode: str
    preset: str | None
    roster: str
    seed: int
    repetition: int
    players: Mapping[str, str]
    outcomes: Mapping[str, float]
    market: float | None = None
    design: str = "all"

    @property
    def whole(self) -> float | None:
        """The market's outcome: its own, or the mean over its seats; None where undefined."""
        if self.market is not None:
            return self.market
        return mean(self.outcomes.values())

    def of(self, retailer: str) -> float | None:
        """The mean outcome of a retailer's seats; None where it has none."""
        return mean(
            self.outcomes[seat]
            for seat, player in self.players.items()
            if player == retailer and seat in self.outcomes
        )

    @property
    def company(self) -> tuple[tuple[str, int], ...]:
        """Who is there, and in how many seats, whoever sits where."""
        return tuple(sorted(Counter(self.players.values()).items()))


def mean(values: Iterable[float]) -> float | None:
    """The mean; None of nothing."""
    known = list(values)
    return fmean(known) if known else None


def retailers(games: Iterable[Game]) -> list[str]:
    """Everybody who plays in some game, in the order of their first."""
    return list(dict.fromkeys(name for game in games for name in game.players.values()))


def by_market(games: Iterable[Game]) -> Iterator[tuple[dict[str, str | int], list[Game]]]:
    """The games of each market, and what names it: one says nothing of another."""
    found: dict[str | None, list[Game]] = {}
    for game in games:
        found.setdefault(game.preset, []).append(game)
    for preset, own in found.items():
        yield setting(preset), own


def comparable(games: Iterable[Game]) -> Iterator[tuple[dict[str, str | int], list[Game]]]:
    """The games of each market and design in which all retailers met alike, and what names them.

    Means over other designs compare nobody: there some met copies of themselves, or one rival.
    """
    found: dict[tuple[str | None, str], list[Game]] = {}
    for game in games:
        if game.design in ALIKE:
            found.setdefault((game.preset, game.design), []).append(game)
    for (preset, design), own in found.items():
        yield setting(preset, design), own


def setting(preset: object, design: object = None) -> dict[str, str | int]:
    """What names a market, where there are several, and a design."""
    named = {"preset": preset, "design": design}
    return {key: value for key, value in named.items() if isinstance(value, str)}
