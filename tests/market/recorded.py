"""Recorded games of lemonade, for the tests of whatever reads or writes recordings."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from market import answers as spelling
from market.environment import Answer, Cause, Decision, Json, NoAction
from market.journal import Header, JournalWriter
from market.policies.random import Random
from market.replay import build_environment
from market.rng import draws

LEMONADE = "tests.lemonade:ENVIRONMENT"


def config(seed: int = 0, seats: int = 2, **rules: int) -> dict[str, Json]:
    """The part of a configuration that a header records."""
    return {
        "environment": LEMONADE,
        "seed": seed,
        "rules": rules,
        "retailers": [{"name": "stand", "policy": "random", "count": seats, "options": {}}],
        "encoder": {},
    }


def header(settings: Mapping[str, Json] | None = None, episode: str = "e1") -> Header:
    return Header.of(settings or config(), rules_version=1, episode=episode)


def answer(decision: Decision) -> Answer | NoAction:
    """What a random seat answers: sometimes nothing, and with a remark of any language."""
    chance = draws(1, "recorded", decision.step, decision.turn, decision.seat)
    if chance.uniform() < 0.2:
        return NoAction(chance.choice(tuple(Cause)))
    drawn = Random(decision.seat, 1).act(decision).action
    calls = [call for call in drawn if call["tool"] != "end_day" or chance.uniform() < 0.2]
    said = {"note": 'zitron\u2028"\u00e9\n'} if chance.uniform() < 0.5 else None
    return spelling.load(spelling.dump(Answer(calls, said)))


def record(
    path: Path, settings: Mapping[str, Json] | None = None, batches: int | None = None
) -> Path:
    """Play and record a game, or only its first batches."""
    first = header(settings, episode=path.parent.name)
    environment = build_environment(first.config)
    asked = environment.start()
    played = 0
    with JournalWriter.create(path, first) as journal:
        while asked and played != batches:
            given = {decision.seat: answer(decision) for decision in asked}
            journal.append(asked, given)
            asked = environment.apply(given)
            played += 1
        if not asked:
            journal.finish(environment.result)
    return path
