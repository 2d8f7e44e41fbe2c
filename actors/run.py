"""Runs one episode from a checked configuration to a folder of results."""

from __future__ import annotations

import asyncio
import importlib
import json
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from actors.driver import Market, Played, drive
from actors.errors import UserError
from actors.retailer import Casting
from actors.staging import Script, grouped, is_private, stage_inline
from actors.summary import summarise
from actors.watch import Plan, Watcher
from market import registry
from market.calls import CallLog
from market.config import Config, policy, recorded, resolved, rules, seat_ids
from market.config.options import asks_a_model, policy_class
from market.environment import Json
from market.journal import Header, JournalWriter
from market.language import ModelSettings

#: Model calls in flight at once, over all retailers.
CALLS_AT_ONCE = 1_000


@dataclass(frozen=True, slots=True)
class RunOutcome:
    """What a run left.

    Attributes:
        folder: Where.
        summary: What `summary.json` holds; None when the episode is owed.
        owed: Why the episode could not go on; None when it is finished.
    """

    folder: Path
    summary: dict[str, Json] | None
    owed: str | None


@dataclass(frozen=True, slots=True)
class Seat:
    """One seat of the roster.

    Attributes:
        casting: Who plays it.
        policy: The policy's name in the configuration.
        model: The language model it asks; None if it asks none.
        settings: How that model is asked.
    """

    casting: Casting
    policy: str
    model: str | None
    settings: ModelSettings | None


def run(config: Config, out: Path, watcher: Watcher) -> RunOutcome:
    """Play the episode of a configuration and write its results.

    Args:
        config: The configuration.
        out: Folder for the results, new or empty.
        watcher: Who is told.

    Raises:
        UserError: If something of the user's cannot work, before anything is written.
    """
    began = time.monotonic()
    seats = roster(config)
    header = Header.of(recorded(config), config.kind.rules_version, f"seed-{config.seed}")
    groups = grouped([seat.casting for seat in seats], config.retailers_per_actor)
    script = Script(
        config=header.config,
        castings=groups,
        begin=header.digest,
        deadline=config.deadline_seconds,
        suspend=config.on_provider_failure == "suspend",
    )
    steps = int(getattr(rules(config), "steps", 0))
    folder = out / "episodes" / header.episode
    place = _inline if config.inline else _on_ray
    with ExitStack() as stack:
        market = stack.enter_context(place(config, script, seats))
        folder.mkdir(parents=True)
        _write_json(out / "config.json", resolved(config))
        journal = stack.enter_context(
            JournalWriter.create(folder / "journal.jsonl", header, durable=_costs(seats))
        )
        calls = stack.enter_context(CallLog(folder / "calls.jsonl"))
        watcher.started(
            Plan(
                config.name,
                config.environment,
                tuple((seat.casting.seat, seat.policy, seat.model) for seat in seats),
                steps,
            )
        )
        played: Played = asyncio.run(drive(market, journal, calls, watcher, steps))
    if played.result is None:
        return RunOutcome(out, None, played.owed)
    return RunOutcome(out, _conclude(config, out, seats, time.monotonic() - began, watcher), None)


def roster(config: Config) -> list[Seat]:
    """Who plays, seat by seat."""
    seats = []
    ids = iter(seat_ids(config))
    for retailer in config.retailers:
        path, options = policy(config, retailer)
        kind = policy_class(config.kind, retailer.policy)
        settings = None
        if asks_a_model(kind):
            options = {"prompts": config.kind.prompts} | {
                k: v for k, v in options.items() if v != ""
            }
            settings = _model_settings(options)
        for _ in range(retailer.count):
            casting = Casting(next(ids), path, options, config.seed)
            model = settings.model if settings else None
            seats.append(Seat(casting, retailer.policy, model, settings))
    return seats


def _model_settings(options: dict[str, Any]) -> ModelSettings:
    fields = ModelSettings.__dataclass_fields__
    return ModelSettings(**{name: value for name, value in options.items() if name in fields})


def _costs(seats: Sequence[Seat]) -> bool:
    """Whether any answer may have cost money, so that its record must survive a power cut."""
    return any(seat.model not in (None, "local") for seat in seats)


@contextmanager
def _inline(config: Config, script: Script, seats: Sequence[Seat]) -> Iterator[Market]:
    from actors.language.client import LanguageClient
    from actors.outside import EncodedFacts

    client = LanguageClient()
    facts = EncodedFacts(config.encoder.model)
    _refuse(facts.problem())
    for settings in _distinct(seats):
        _refuse(client.check(settings))
    try:
        yield stage_inline(script, client, facts)
    finally:
        asyncio.run(client.close())


@contextmanager
def _on_ray(config: Config, script: Script, seats: Sequence[Seat]) -> Iterator[Market]:
    from actors.cluster import connected

    if len(script.castings) > config.actors_per_node:
        needed = -(-len(seats) // config.actors_per_node)
        raise UserError(
            f"{len(script.castings)} retailer actors are more than actors_per_node "
            f"({config.actors_per_node}) allows; set retailers_per_actor={needed} or more."
        )
    with connected(config.address):
        import ray

        from actors import ray_actors

        encoder = ray_actors.start(ray_actors.EncoderActor, config.encoder.model)
        language = None
        if _distinct(seats):
            language = ray_actors.start(ray_actors.LanguageActor, at_once=CALLS_AT_ONCE)
        checks = [encoder.problem.remote()]
        if language is not None:
            checks += [language.check.remote(settings) for settings in _distinct(seats)]
        for check in checks:
            problem: str | None = ray.get(check)
            _refuse(problem)
        handle = ray_actors.start(ray_actors.MarketActor, _portable(script), language, encoder)
        try:
            yield ray_actors.RemoteMarket(handle)
        finally:
            if language is not None:
                ray.get(language.close.remote(), timeout=10)


def _portable(script: Script) -> Script:
    """The script with classes instead of names for policies that only this machine can import."""
    from ray import cloudpickle

    def portable(casting: Casting) -> Casting:
        if not isinstance(casting.policy, str) or not is_private(casting.policy):
            return casting
        module = importlib.import_module(casting.policy.partition(":")[0])
        cloudpickle.register_pickle_by_value(module)  # type: ignore[no-untyped-call]
        found = registry.load(casting.policy)
        return Casting(casting.seat, found, casting.options, casting.seed)

    groups = tuple(tuple(portable(casting) for casting in group) for group in script.castings)
    return Script(script.config, groups, script.begin, script.deadline, script.suspend)


def _distinct(seats: Sequence[Seat]) -> list[ModelSettings]:
    distinct: list[ModelSettings] = []
    for seat in seats:
        if seat.settings is not None and seat.settings not in distinct:
            distinct.append(seat.settings)
    return distinct


def _refuse(problem: str | None) -> None:
    if problem is not None:
        raise UserError(problem)


def _conclude(
    config: Config, out: Path, seats: Sequence[Seat], seconds: float, watcher: Watcher
) -> dict[str, Json]:
    from market.study.report import write_report
    from market.tables import write_tables

    write_tables(out)
    described = [
        {"seat": seat.casting.seat, "policy": seat.policy, "model": seat.model} for seat in seats
    ]
    summary = summarise(out, config, described, seconds)
    _write_json(out / "summary.json", summary)
    write_report(out)
    watcher.finished(summary)
    return summary


def _write_json(path: Path, data: Json) -> None:
    path.write_text(json.dumps(data, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
