"""The episodes that a configuration asks for, each with a configuration of its own.

A tournament is markets x rosters x seeds x repetitions. Every episode has an id such as
`paper.all.seed-3.rep-1`, which depends on its own parts alone: a tournament that is extended by
seeds, rosters, markets or repetitions keeps the episodes that it had.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, Protocol, Self, runtime_checkable

from pydantic import ValidationError

from market import registry
from market.config.schema import Config, Retailer, parse
from market.config.sources import merged
from market.config.tournament import Design, Seeds, Tournament
from market.seats import seat_ids
from market.study import designs
from market.study.designs import Entry, Roster

#: Longest part of an id, in characters; longer ones are cut and told apart by a hash.
MOST_PART = 80
#: Longest id, in characters.
MOST_ID = 3 * MOST_PART
#: Most episodes of a tournament.
MOST_EPISODES = 100_000


@dataclass(frozen=True, slots=True)
class EpisodePlan:
    """One episode to be played.

    Attributes:
        id: Its id, which names its folder: unique in its tournament, at most `MOST_ID` characters,
            and the same however the tournament is extended.
        config: Its configuration: one roster, one market, one seed, no `tournament`.
        preset: The name of the market; None where the configuration has its own rules only.
        roster: The name of the roster.
        seed: The seed, which is also `config.seed`.
        repetition: 1 for the first time that this game is played.
        design: The design that the roster was drawn by.
    """

    id: str
    config: Config
    preset: str | None
    roster: str
    seed: int
    repetition: int
    design: str = "all"


class PlanError(ValueError):
    """A tournament that cannot be played.

    Attributes:
        key: The key to mend, within the configuration.
    """

    def __init__(self, key: tuple[str | int, ...], what: str) -> None:
        super().__init__(what)
        self.key = key


@runtime_checkable
class Resizable(Protocol):
    """Rules of an environment that can be had for another number of retailers."""

    def resized(self, retailers: int, nominal: int, keep: Literal["market", "share"]) -> Self:
        """The rules for so many retailers instead of the nominal number.

        Args:
            retailers: Retailers that play.
            nominal: Retailers that the rules are meant for.
            keep: `market`: the market, and each retailer's means. `share`: the market per
                retailer, and each retailer's means.

        Raises:
            pydantic.ValidationError: If no valid rules are left.
        """
        ...


def expand(config: Config) -> tuple[EpisodePlan, ...]:
    """The episodes of a checked configuration, in the order in which they are best begun.

    Seeds come one after the other, each with all markets and rosters, so that a tournament that is
    interrupted can be evaluated up to there.

    Raises:
        PlanError: If it has no such episodes; a configuration that was loaded has.
    """
    tournament = config.meetings
    if tournament is None:
        return (EpisodePlan(f"seed-{config.seed}", config, None, "all", config.seed, 1),)
    meetings = rosters(config)
    seeds = seeds_of(config, tournament)
    rules_of = markets(config)
    if len(rules_of) * len(meetings) * len(seeds) * tournament.repetitions > MOST_EPISODES:
        raise PlanError((_section(config),), f"it has more than {MOST_EPISODES:,} episodes")
    games = [
        (preset, roster, _game(config, tournament, roster, rules))
        for preset, rules in rules_of.items()
        for roster in meetings
    ]
    plans = tuple(
        EpisodePlan(
            id=_id(preset, roster.label, seed, repetition),
            config=_played(game, seed, repetition),
            preset=preset,
            roster=roster.label,
            seed=seed,
            repetition=repetition,
            design=roster.design,
        )
        for repetition in range(1, tournament.repetitions + 1)
        for seed in seeds
        for preset, roster, game in games
    )
    if len({plan.id for plan in plans}) < len(plans):
        raise PlanError(
            (_section(config),),
            "two episodes have one id; give rosters and presets names without dots",
        )
    return plans


def markets(config: Config) -> dict[str | None, dict[str, Any]]:
    """The rules that are played, by the name of their market; None names the configuration's own.

    `rules` of the configuration are laid over those of each preset.
    """
    presets = config.meetings.presets if config.meetings else None
    if presets is None:
        return {None: config.rules}
    assert isinstance(presets, dict), "presets are resolved where a configuration is loaded"
    return {name: merged(market.rules, config.rules) for name, market in presets.items()}


def rosters(config: Config) -> tuple[Roster, ...]:
    """Who meets: the rosters of a tournament, or the one of an episode.

    Raises:
        PlanError: If a design asks for what the retailers cannot give.
    """
    pool = tuple(Entry(each.name, each.count, tuple(each.without)) for each in config.retailers)
    if config.meetings is None:
        return (designs.together(pool),)
    size = _nominal(config, config.meetings)
    made: list[Roster] = []
    labels: set[str] = set()
    for index, asked in enumerate(config.meetings.rosters):
        key = (_section(config), "rosters", index)
        design = Design(design=asked) if isinstance(asked, str) else asked
        try:
            drawn = tuple(
                replace(roster, design=design.design)
                for roster in _named(design, _designed(design, pool, size))
            )
            for roster in drawn:
                seat_ids([_entry(entry) for entry in roster.entries])
        except ValueError as error:
            raise PlanError(key, str(error)) from error
        for roster in drawn:
            if roster.label in labels:
                raise PlanError(
                    key, f"there is a roster `{roster.label}` already; give this one a `name`"
                )
            labels.add(roster.label)
        made += drawn
    return tuple(made)


def _designed(design: Design, pool: tuple[Entry, ...], nominal: int) -> tuple[Roster, ...]:
    whole, size = design.of == "retailers", design.size or nominal
    match design.design:
        case "all":
            return (designs.together(pool),)
        case "leave-one-out":
            return designs.leave_one_out(pool, whole)
        case "subsets":
            drawn = designs.subsets(pool, size, design.count or 1, design.seed, whole)
            return designs.seated(drawn) if design.rotate else drawn
        case "self-play":
            return designs.self_play(pool, size)
        case "one-among-many":
            return designs.one_among_many(pool, size, design.among, design.both_ways)
        case "latin":
            return designs.latin(pool)
        case "replacement":
            return designs.replacement(
                pool,
                design.reference or "",
                design.candidates,
                size=size,
                count=design.count or 1,
                seed=design.seed,
                among=design.among,
            )
        case "chosen":
            return (designs.chosen(pool, design.retailers, design.name or ""),)


def _named(design: Design, made: tuple[Roster, ...]) -> tuple[Roster, ...]:
    name = design.name
    if name is None:
        return made
    if design.design in ("all", "chosen"):
        return tuple(replace(roster, label=name) for roster in made)
    return tuple(replace(roster, label=f"{name}-{roster.label}") for roster in made)


def _game(config: Config, tournament: Tournament, roster: Roster, rules: dict[str, Any]) -> Config:
    """A roster in a market."""
    known = {retailer.name: retailer for retailer in config.retailers}
    retailers = [_retailer(known[entry.retailer], entry) for entry in roster.entries]
    model = parse(registry.load(config.kind.rules), rules)
    nominal, size = _nominal(config, tournament), len(roster.seats)
    if size != nominal and tournament.keep != "nothing":
        if isinstance(model, Resizable):
            try:
                model = model.resized(size, nominal, tournament.keep)
            except ValidationError as error:
                what = error.errors(include_url=False)[0]["msg"].removeprefix("Value error, ")
                raise PlanError(
                    (_section(config), "keep"), f"for the roster `{roster.label}` {what}"
                ) from error
        elif tournament.keep == "share":
            raise PlanError(
                (_section(config), "keep"),
                f"the environment `{config.environment}` has no rules for another number of "
                "retailers; write `market` or `nothing`",
            )
    update = {
        "rules": model.model_dump(mode="json", by_alias=True),
        "retailers": retailers,
        "tournament": None,
        "study": None,
    }
    return config.model_copy(update=update)


def _played(game: Config, seed: int, repetition: int) -> Config:
    """A game with the luck of one episode."""
    update: dict[str, Any] = {"seed": seed}
    if game.fork is not None:
        update["fork"] = game.fork.repeated(repetition)
    return game.model_copy(update=update)


def _retailer(known: Retailer, entry: Entry) -> Retailer:
    return known.model_copy(
        update={
            "name": entry.name,
            "count": entry.count,
            "without": list(entry.without),
            "plays": entry.plays,
        }
    )


def _entry(entry: Entry) -> dict[str, Any]:
    return {"name": entry.name, "count": entry.count, "without": list(entry.without)}


def _section(config: Config) -> str:
    """The key under which its markets, rosters and seeds stand."""
    return "study" if config.study else "tournament"


def _nominal(config: Config, tournament: Tournament) -> int:
    return tournament.nominal or sum(len(retailer.seats) for retailer in config.retailers)


def seeds_of(config: Config, tournament: Tournament) -> Sequence[int]:
    """The seeds that a tournament of a configuration plays, in order."""
    match tournament.seeds:
        case int(count):
            return range(config.seed, config.seed + count)
        case Seeds(first=first, count=count):
            start = config.seed if first is None else first
            return range(start, start + count)
        case listed:
            return listed


def _id(preset: str | None, roster: str, seed: int, repetition: int) -> str:
    parts = [_short(roster), _short(f"seed-{seed}"), f"rep-{repetition}"]
    return ".".join(parts if preset is None else [preset, *parts])


def _short(part: str) -> str:
    if len(part) <= MOST_PART:
        return part
    told = hashlib.blake2b(part.encode(), digest_size=6).hexdigest()
    return f"{part[: MOST_PART - len(told) - 1]}-{told}"
