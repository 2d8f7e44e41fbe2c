"""The configuration of an episode or of a tournament: who plays what, how, and under which rules.

    config = load("arena/paper", ["rules.steps=3"], seed=7)  # whatever is wrong: one sentence
    rules(config)                                            # the environment's own model
    policy(config, config.retailers[0])                      # class and options of a policy
    recorded(config)                                         # what affects results
    resolved(config)                                         # everything; itself a configuration
    expand(config)                                           # the episodes of a tournament

A file is YAML (or JSON), may extend another or a shipped preset, and is overlaid by `--set`.
"""

from __future__ import annotations

from market.config.documents import ConfigError
from market.config.loading import configure, load
from market.config.plans import EpisodePlan, expand
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
    "EpisodePlan",
    "Preset",
    "Retailer",
    "configure",
    "expand",
    "load",
    "policy",
    "presets",
    "recorded",
    "resolved",
    "rules",
    "seat_ids",
]
