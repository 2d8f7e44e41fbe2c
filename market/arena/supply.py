"""What the supplier offers in a step: the same quantities each time, or drawn ones.

With `supply_noise` a quantity q of an item becomes

    floor(q x F + U),  F = exp(s z - s^2 / 2),  s^2 = ln(1 + v^2)

where z is standard normal, v the coefficient of variation and U uniform on [0, 1): a lognormal
factor of mean 1, rounded so that the mean of the quantity is exactly q. With the chance of a shock
the delivery is missed instead, and nothing of the item is offered in the step.

The three uniforms of an item and step come from the stream (seed, "supply", step, item). All three
are drawn always, so that equal seeds meet equal luck whatever the noise is, and nobody's bid moves
it. Demand stays what the rules say. F is rounded to 1e-9, as it goes through logarithms that are
not spelled alike on every machine.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from statistics import NormalDist
from typing import Annotated

from pydantic import Field

from market.arena.fields import Model, Share
from market.rng import draws

#: The least uniform above 0 there is; its normal quantile ends the tail of a factor.
LEAST_UNIFORM = 2.0**-53


class SupplyNoise(Model):
    """How far the supplier's offers depart from the quantities of `items`."""

    variation: Annotated[float, Field(ge=0, le=3, allow_inf_nan=False)] = 0.0
    """Coefficient of variation of a lognormal factor of mean 1, drawn per step and item."""
    shock: Share = 0.0
    """Chance that the delivery of an item is missed in a step."""

    def factor(self, uniform: float) -> float:
        """The factor at a quantile, rounded to 1e-9."""
        spread = math.sqrt(math.log1p(self.variation**2))
        z = NormalDist().inv_cdf(max(uniform, LEAST_UNIFORM))
        return round(math.exp(spread * z - spread**2 / 2), 9)

    @property
    def most(self) -> float:
        """No factor is higher."""
        return self.factor(1 - LEAST_UNIFORM)


def drawn(noise: SupplyNoise, seed: int, step: int, item: str, quantity: int) -> int:
    """Units of an item offered in a step.

    Args:
        noise: How they vary.
        seed: Seed of the episode.
        step: The step.
        item: Name of the item.
        quantity: Units offered on average by deliveries that are made.
    """
    luck = draws(seed, "supply", step, item)
    missed, quantile, rounding = luck.uniform(), luck.uniform(), luck.uniform()
    if missed < noise.shock:
        return 0
    return math.floor(quantity * noise.factor(quantile) + rounding)


def offered(
    noise: SupplyNoise | None, seed: int, step: int, quantities: Mapping[str, int]
) -> Mapping[str, int]:
    """Units of every item offered in a step; the quantities themselves without noise."""
    if noise is None:
        return quantities
    return {item: drawn(noise, seed, step, item, units) for item, units in quantities.items()}
