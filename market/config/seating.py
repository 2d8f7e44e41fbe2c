"""One seat of a configuration given to another policy: every seat keeps its id and its place.

Luck belongs to the id and answers are applied in the order of the roster, so nothing else may move.
An entry of several seats is therefore written seat by seat, each under the name of its id.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from market.config.documents import ConfigError, bounded, parse
from market.config.loading import configure
from market.config.schema import Config, resolved, seat_ids


def reseated(config: Config, seat: str, policy: str, options: Mapping[str, Any]) -> Config:
    """The configuration with one seat played by another policy.

    Args:
        config: The configuration of an episode.
        seat: The seat.
        policy: Name of the policy, or `module:Class`.
        options: Its options; the others have their defaults.

    Raises:
        ConfigError: If there is no such seat or policy, or the policy refuses the options.
    """
    refuse_unknown(seat, seat_ids(config))
    retailers: list[dict[str, Any]] = []
    for entry in config.retailers:
        if seat not in entry.seats:
            retailers.append(entry.model_dump(mode="json"))
            continue
        for own in entry.seats:
            single = entry.model_dump(mode="json") | {"name": own, "count": 1, "without": []}
            changed = {"policy": policy, "options": dict(options)} if own == seat else {}
            retailers.append(single | changed)
    return configure(resolved(config) | {"retailers": retailers}, f"the swap of {seat}")


def cast(values: Mapping[str, Any], seat: str, policy: str, options: Mapping[str, Any]) -> Config:
    """A configuration with one checked seat, in which nobody else need be playable.

    Args:
        values: The configuration as a journal records it.
        seat: The seat.
        policy: Name of the policy, or `module:Class`.
        options: Its options.

    Raises:
        ConfigError: If there is no such policy, or it refuses the options.
    """
    entry = {"name": seat, "policy": policy, "options": dict(options)}
    return configure({**values, "retailers": [entry]}, f"the swap of {seat}")


def refuse_unknown(seat: str, seats: tuple[str, ...]) -> None:
    """Raise `ConfigError` unless there is such a seat."""
    if seat not in seats:
        raise ConfigError(
            f"there is no seat `{bounded(seat)}` to swap; there are {', '.join(seats)}."
        )


def read_swap(text: str) -> tuple[str, str]:
    """Seat and policy of `seat=policy`.

    Raises:
        ConfigError: If it is not of that form.
    """
    seat, equals, policy = (part.strip() for part in text.partition("="))
    if not (seat and equals and policy):
        raise ConfigError(f"--swap {bounded(text)} is malformed; write `seat=policy`.")
    return seat, policy


def read_options(texts: list[str]) -> dict[str, Any]:
    """Options of `key=value` each, the values in YAML.

    Raises:
        ConfigError: If one is not of that form.
    """
    options = {}
    for text in texts:
        key, equals, value = text.partition("=")
        if not (key.strip() and equals):
            raise ConfigError(f"--option {bounded(text)} is malformed; write `key=value`.")
        options[key.strip()] = parse(value, f"--option {key.strip()}")
    return options
