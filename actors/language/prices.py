"""What models cost: the user's own prices, then litellm's table.

litellm prices what is read from a cache, and what is read beyond 200,000 tokens, otherwise than
the rest, so a price depends on the call. Prices are those of the provider's standard service. A
model that nobody prices is unknown, never free; only the packaged model is.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final

from market.config.spending import Price
from market.language import Usage

#: The packaged model.
FREE: Final = {"local": Price(input_per_million=0.0, output_per_million=0.0)}

_MILLION: Final = 1_000_000
_TIER: Final = re.compile(r"_above_(\d+)k_tokens")


class Prices:
    """Prices by the names of models as configured.

    Args:
        own: Prices that come before the table's.
        table: The price of a model for a call that reads so many tokens; None where unknown. By
            default litellm's, which is imported when it is first asked.
    """

    def __init__(
        self,
        own: Mapping[str, Price] | None = None,
        table: Callable[[str, int], Price | None] | None = None,
    ) -> None:
        self._own = {**FREE, **(own or {})}
        self._table = table or listed

    def of(self, model: str, prompt_tokens: int = 0) -> Price | None:
        """The price of a model for a call that reads so many tokens; None where unknown."""
        return self._own.get(model) or self._table(model, prompt_tokens)

    def most(self, model: str, prompt_tokens: int, completion_tokens: int) -> float | None:
        """The most US dollars that a call may cost; None where unknown."""
        price = self.of(model, prompt_tokens)
        if price is None:
            return None
        read = max(price.input_per_million, price.cached_input_per_million or 0.0)
        return (prompt_tokens * read + completion_tokens * price.output_per_million) / _MILLION

    def cost(self, model: str, usage: Usage) -> float | None:
        """What a call cost in US dollars: by the user's own price, else as it was reported."""
        price = self._own.get(model)
        if price is None or usage.cached:
            return usage.cost_usd
        if usage.prompt_tokens is None or usage.completion_tokens is None:
            return usage.cost_usd if model in FREE else None
        cached = min(usage.cached_tokens or 0, usage.prompt_tokens)
        rate = price.cached_input_per_million
        rate = price.input_per_million if rate is None else rate
        read = (usage.prompt_tokens - cached) * price.input_per_million + cached * rate
        return (read + usage.completion_tokens * price.output_per_million) / _MILLION


def listed(model: str, prompt_tokens: int = 0) -> Price | None:
    """The price in litellm's table: the dearest tier that a call of this length can reach."""
    from actors.language.litellm_transport import table_entry

    entry = table_entry(model)
    if entry is None:
        return None

    def rate(name: str) -> float | None:
        return max(_rates(entry, name, prompt_tokens), default=None)

    read, written = rate("input_cost_per_token"), rate("output_cost_per_token")
    assert read is not None
    assert written is not None
    return Price(
        input_per_million=read,
        # Where thinking has a price of its own nobody knows beforehand how much of it there is.
        output_per_million=max(written, rate("output_cost_per_reasoning_token") or 0.0),
        cached_input_per_million=rate("cache_read_input_token_cost"),
    )


def _rates(entry: Mapping[str, Any], name: str, prompt_tokens: int) -> Iterator[float]:
    """Rates of an entry under a name, per million, that may hold for a call of this length."""
    for key, value in entry.items():
        tier = _TIER.fullmatch(key.removeprefix(name)) if key.startswith(name) else None
        reached = tier is not None and prompt_tokens > int(tier[1]) * 1_000
        if (key == name or reached) and isinstance(value, int | float) and math.isfinite(value):
            yield value * _MILLION
