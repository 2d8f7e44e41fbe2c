"""Best prices under the logit by the textbook's steps, against which faster ways are held."""

from __future__ import annotations

import numpy as np

from market.vending.pricing import Offers
from market.vending.world import Floats

#: l no longer grows once a step adds less than this share of it.
SETTLED = 1e-13


def together(offers: Offers) -> tuple[Floats, float]:
    """The best prices of all products at once, and the gross profit per visit."""
    value, prices = 0.0, offers.prices_at(0.0)
    while True:
        pull = offers.attraction(prices)
        reached = float(np.sum(pull * (prices - offers.cost)) / (offers.outside + np.sum(pull)))
        if reached <= value * (1 + SETTLED):
            return prices, value
        value, prices = reached, offers.prices_at(reached)


def alone(offers: Offers, prices: Floats) -> tuple[Floats, Floats]:
    """The best price of each product with all others as posted, and the profit per visit with it.

    Args:
        offers: The products.
        prices: Posted prices.
    """
    pull = offers.attraction(prices)
    others = np.sum(pull * (prices - offers.cost)) - pull * (prices - offers.cost)
    room = offers.outside + np.sum(pull) - pull
    # What a visit is worth without the product: its best price is above cost and this.
    value = others / room
    best = offers.prices_at(value)
    while True:
        pull = offers.attraction(best)
        reached = (others + pull * (best - offers.cost)) / (room + pull)
        if np.all(reached <= value + SETTLED * np.abs(value)):
            return best, value
        value = np.maximum(value, reached)
        best = offers.prices_at(value)
