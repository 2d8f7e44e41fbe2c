"""Names of models under `caps` and `prices` that nobody asks: a slip that nothing else would show.

It is told and not refused: a table of prices may serve many configurations, and a policy of one's
own may ask models that its options do not name.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from market.config.options import asks_a_model, policy_class
from market.config.schema import Config
from market.config.sources import suggestion


def unasked(config: Config) -> list[str]:
    """A sentence for each name under `caps` or `prices` that no retailer asks, in any cell."""
    if any(_of_ones_own(config, retailer.policy) for retailer in config.retailers):
        return []
    options = [retailer.options for retailer in config.retailers]
    varied = [] if config.study is None else [config.study.model_dump(mode="json")["vary"]]
    known = set(_texts([options, varied]))
    asked = {options["model"] for options in options if isinstance(options.get("model"), str)}
    return [
        f"`{key}`: no retailer asks a model `{name}`; {suggestion(name, asked)}."
        for key, names in (("caps", [*config.caps]), ("prices", [*config.prices]))
        for name in names
        if name not in known
    ]


def _of_ones_own(config: Config, policy: str) -> bool:
    return ":" in policy and asks_a_model(policy_class(config.kind, policy))


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict | list):
        for each in value.values() if isinstance(value, dict) else value:
            yield from _texts(each)
