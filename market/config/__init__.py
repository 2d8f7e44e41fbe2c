"""The configuration of one episode: who plays what, under which rules, and how it is run.

    config = load("arena/paper", ["rules.steps=3"], seed=7)  # whatever is wrong: one sentence
    rules(config)                                            # the environment's own model
    policy(config, config.retailers[0])                      # class and options of a policy
    recorded(config)                                         # what affects results
    resolved(config)                                         # everything; itself a configuration

A file is YAML (or JSON), may extend another or a shipped preset, and is overlaid by `--set`.
"""

from __future__ import annotations

from market.config.documents import ConfigError
from market.config.loading import configure, load
from market.config.schema import (
    Config,
    Encoder,
    Retailer,
    policy,
    recorded,
    resolved,
    rules,
    seat_ids,
)
from market.config.sources import Preset, presets

__all__ = [
    "Config",
    "ConfigError",
    "Encoder",
    "Preset",
    "Retailer",
    "configure",
    "load",
    "policy",
    "presets",
    "recorded",
    "resolved",
    "rules",
    "seat_ids",
]
