from __future__ import annotations

from typing import Any

import pytest
from pydantic import BaseModel

from market import canonical
from market.arena.rules import ArenaRules, Persona
from market.config import configure, load, recorded
from market.config.schema import parse
from market.extensions import extension, is_extension


class Noise(BaseModel):
    size: float = 0.1
    kind: str = extension("even")


class Rules(BaseModel):
    steps: int = 6
    noise: Noise | None = extension()
    weight: float = extension(1.0)


def test_a_field_at_its_default_is_left_out_of_the_record() -> None:
    assert Rules().model_dump() == {"steps": 6}
    assert Rules(weight=1).model_dump(mode="json") == {"steps": 6}


def test_a_field_that_is_used_is_recorded_with_every_default_but_those_of_later_ones() -> None:
    assert Rules(noise=Noise(), weight=2).model_dump(mode="json") == {
        "steps": 6,
        "noise": {"size": 0.1},
        "weight": 2.0,
    }


@pytest.mark.parametrize("rules", [Rules(), Rules(noise=Noise(kind="odd")), Rules(weight=0.5)])
def test_what_was_left_out_is_read_as_the_default(rules: Rules) -> None:
    assert Rules.model_validate(rules.model_dump(mode="json")) == rules


def test_the_extensions_of_a_model_can_be_told() -> None:
    assert [name for name, field in Rules.model_fields.items() if is_extension(field)] == [
        "noise",
        "weight",
    ]


#: Beginnings of the digests of recorded configurations before the arena had its first extension.
DIGESTS = {
    "arena/paper": "64e9f1ba5224fea6",
    "arena/default": "0fab3d3d282b95a9",
    "arena/default-mix": "02e936730d5f6387",
    "arena/auction-5-1": "98190de47b4f6e50",
    "arena/auction-20-8": "b40d41351500dbca",
    "arena/bertrand": "7cb15a5c80b7a3cd",
}


@pytest.mark.parametrize("preset", DIGESTS)
def test_a_market_without_extensions_has_the_header_that_it_always_had(preset: str) -> None:
    assert canonical.digest(canonical.dumps(recorded(load(preset))))[:16] == DIGESTS[preset]


ARENA = [name for name, field in ArenaRules.model_fields.items() if is_extension(field)]


def test_no_extension_of_the_arena_is_in_the_record_of_the_default_market() -> None:
    assert {"supply_noise", "buyer_memory", "language", "texts"} <= set(ARENA)
    assert is_extension(Persona.model_fields["demand"])
    rules = recorded(load("arena/default"))["rules"]
    assert not set(ARENA) & set(rules)
    assert "demand" not in rules["personas"]["Hype"]


def test_a_recorded_market_with_extensions_is_itself_again() -> None:
    changes = ["rules.supply_noise={variation: 0.5}", "rules.personas.Hype.demand=2.0"]
    config = load("arena/default", changes)
    held: dict[str, Any] = canonical.loads(canonical.dumps(recorded(config)))
    assert held["rules"]["supply_noise"] == {"variation": 0.5, "shock": 0.0}
    assert recorded(configure(held)) == recorded(config)
    assert parse(ArenaRules, held["rules"]).supply_noise is not None
