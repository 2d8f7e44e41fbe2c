"""Who plays an episode, seat by seat, as the configuration says."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from actors.retailer import Casting
from market.config import Config, policy
from market.config.options import asks_a_model, policy_class
from market.language import ModelSettings
from market.replay import luck


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


def roster(config: Config) -> list[Seat]:
    """Who plays, seat by seat."""
    seats = []
    seed = luck(config.seed, config.fork.model_dump() if config.fork else None)
    for retailer in config.retailers:
        path, options = policy(config, retailer)
        kind = policy_class(config.kind, retailer.policy)
        settings = None
        if asks_a_model(kind):
            options = {"prompts": config.kind.prompts} | {
                k: v for k, v in options.items() if v != ""
            }
            settings = _model_settings(options)
        for seat in retailer.seats:
            since = config.fork.step if config.fork and seat in config.fork.taken else 0
            casting = Casting(seat, path, options, seed, since)
            model = settings.model if settings else None
            seats.append(Seat(casting, retailer.policy, model, settings))
    return seats


def _model_settings(options: dict[str, Any]) -> ModelSettings:
    fields = ModelSettings.__dataclass_fields__
    return ModelSettings(**{name: value for name, value in options.items() if name in fields})


def may_cost(seats: Sequence[Seat]) -> bool:
    """Whether any answer may have cost money, so that its record must survive a power cut."""
    return any(seat.model not in (None, "local") for seat in seats)


def distinct_models(seats: Sequence[Seat]) -> list[ModelSettings]:
    """How models are asked, each way once."""
    distinct: list[ModelSettings] = []
    for seat in seats:
        if seat.settings is not None and seat.settings not in distinct:
            distinct.append(seat.settings)
    return distinct
