"""References that a result is held against: what competition, a cartel or a clairvoyant would earn.

Buyers' willingness to pay is a mix of uniform distributions in multiples of the base price, so
the share S(m) of demand that still buys at multiple m is piecewise linear. Everything here is
therefore solved exactly, piece by piece: no grid, no quadrature. Prices are not held to whole
money, nor retailers to their budgets, holding or fixed costs: these are bounds.

Amounts are of one step and the whole industry; `per_seat` turns them into the reference for a
seat and an episode.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import pairwise
from math import fsum, inf

import numpy as np
from numpy.typing import ArrayLike


@dataclass(frozen=True, slots=True)
class Uniform:
    """Willingness to pay: uniform from low to high, in multiples of base, or a point."""

    low: float
    high: float

    def survival(self, multiple: float) -> float:
        """Share of these buyers who buy at a multiple; at exactly their own price they do."""
        if multiple <= self.low:
            return 1.0
        if multiple > self.high:
            return 0.0
        return (self.high - multiple) / (self.high - self.low)


@dataclass(frozen=True, slots=True)
class Demand:
    """Demand for one item in one step.

    Attributes:
        base: Base price, the cost of a unit.
        supply: Units offered per step.
        units: Units wanted per step.
        mix: (weight, distribution) per persona; weights are of units wanted and sum to 1. Empty
            when buyers take any price: then only the cap limits them.
        cap: Highest price in multiples of base, infinite for none.
    """

    base: float
    supply: float
    units: float
    mix: tuple[tuple[float, Uniform], ...]
    cap: float = inf

    def survival(self, multiple: float) -> float:
        """Share of demand that still buys at a multiple of base."""
        if multiple > self.cap:
            return 0.0
        if not self.mix:
            return 1.0
        return fsum(weight * wtp.survival(multiple) for weight, wtp in self.mix)

    def knots(self) -> list[float]:
        """Multiples from 1 up between which survival is linear: the last one sells the least."""
        ends = {end for _, wtp in self.mix for end in (wtp.low, wtp.high)} or {self.cap}
        return sorted({1.0} | {min(end, self.cap) for end in ends if end > 1})

    def sold(self, multiple: float) -> float:
        """Units sold when everybody asks the same multiple."""
        return min(self.supply, self.units * self.survival(multiple))

    def gain(self, multiple: float) -> float:
        """What is earned at a multiple by sellers who bought at base."""
        return self.base * (multiple - 1) * self.sold(multiple)


def clearing_multiple(demand: Demand) -> float | None:
    """The multiple at which demand falls to supply; 1 where supply is ample.

    None where demand never falls: more is wanted than offered, at any price.
    """
    if demand.units * demand.survival(1.0) <= demand.supply:
        return 1.0
    if demand.knots()[-1] == inf:
        return None
    return _multiple_served(demand, demand.supply / demand.units)


def competitive(demand: Demand) -> float | None:
    """Profit when units bought at base are sold at the clearing multiple; None without one."""
    multiple = clearing_multiple(demand)
    return None if multiple is None else demand.gain(multiple)


def best_multiple(demand: Demand) -> float | None:
    """The multiple that a single seller of everything would ask; None where none is best.

    Between two knots profit is a parabola in the multiple, or a rising line while supply binds,
    so the best is a knot, a vertex, or the multiple at which demand falls to supply.
    """
    knots = demand.knots()
    if knots[-1] == inf:
        return None
    options = list(knots)
    for low, high in pairwise(knots):
        top, slope = _line(demand, low, high)
        if slope > 0:
            vertex = (top / slope + low + 1) / 2
            options.append(min(max(vertex, low), high))
    clearing = clearing_multiple(demand)
    if clearing is not None:
        options.append(clearing)
    return max(options, key=demand.gain)


def cartel(demand: Demand) -> float | None:
    """Greatest profit of a single seller of everything at one price; None where unbounded."""
    multiple = best_multiple(demand)
    return None if multiple is None else demand.gain(multiple)


def industry_bound(demand: Demand) -> float | None:
    """Expected worth less base price when buyers are served by willingness to pay up to supply.

    The denominator of allocative efficiency. The cap does not bind it: a buyer's gain is a gain.
    None where buyers have no willingness to pay.
    """
    if not demand.mix or not demand.units:
        return 0.0 if demand.mix else None
    free = Demand(demand.base, demand.supply, demand.units, demand.mix)
    served = min(demand.supply / demand.units, free.survival(1.0))
    marginal = _multiple_served(free, served)
    above = fsum(weight * _area_above(wtp, marginal) for weight, wtp in demand.mix)
    return demand.base * demand.units * (served * (marginal - 1) + above)


def industry_bound_of(worths: Iterable[float], supply: int, base: float) -> float:
    """The same for buyers as drawn: `worths` is what each unit wanted is worth, in money."""
    return fsum(worth - base for worth in sorted(worths, reverse=True)[:supply] if worth > base)


def residual_supply(
    quantity: int, base: int, rivals: Iterable[tuple[int, int]], tick: int = 0
) -> list[int]:
    """What each unit of an item costs somebody who bids against recorded bids, cheapest first.

    Units that rivals leave cost the base price; the others are taken from the lowest bidder up,
    at its price plus a tick. Without a tick, as in a bound, ties are won.

    Args:
        quantity: Units offered.
        base: Base price.
        rivals: The valid (quantity, price) lines of everybody else.
        tick: What must be added to outbid.
    """
    wanted = sorted(
        (price for units, price in rivals for _ in range(min(units, quantity))), reverse=True
    )[:quantity]
    return [base] * (quantity - len(wanted)) + [price + tick for price in reversed(wanted)]


@dataclass(frozen=True, slots=True, eq=False)
class SeatItem:
    """What one seat could have bought and sold of an item, all steps pooled, in money.

    Attributes:
        worths: What each unit wanted is worth to its buyer, not above the cap.
        costs: What each unit offered would have cost (`residual_supply`).
    """

    worths: ArrayLike
    costs: ArrayLike


def seat_bound(items: Iterable[SeatItem]) -> float:
    """A profit that no seat can exceed against the recorded bids of the others.

    Per item the k-th dearest buyer is served with the k-th cheapest unit, whenever they came and
    at the buyer's own price, as long as that pays; no budget, no rival seller, no holding cost.
    """
    return fsum(map(_item_bound, items))


def _item_bound(item: SeatItem) -> float:
    worths, costs = np.sort(item.worths)[::-1], np.sort(item.costs)
    trades = min(len(worths), len(costs))
    gains = worths[:trades] - costs[:trades]
    return float(gains[gains > 0].sum())


def per_seat(amounts: Iterable[float | None], *, seats: int, steps: int) -> float | None:
    """The reference for a seat and an episode, from a step's amounts per item.

    None if one of them is: a sum with an unknown part is unknown.
    """
    known = list(amounts)
    if any(amount is None for amount in known):
        return None
    return fsum(amount for amount in known if amount is not None) * steps / seats


def _line(demand: Demand, low: float, high: float) -> tuple[float, float]:
    """Survival just above `low`, and how much of it is lost per multiple until `high`.

    Taken inside the interval, since buyers at one point make survival jump at a knot.
    """
    first, second = low + (high - low) / 4, high - (high - low) / 4
    slope = (demand.survival(first) - demand.survival(second)) / (second - first)
    return demand.survival(first) + slope * (first - low), slope


def _multiple_served(demand: Demand, share: float) -> float:
    """The largest multiple at which at least a share of demand buys."""
    knots = demand.knots()
    for low, high in zip(reversed(knots[:-1]), reversed(knots[1:]), strict=True):
        if demand.survival(high) >= share:
            return high
        top, slope = _line(demand, low, high)
        if slope > 0 and top >= share:
            return min(max(low + (top - share) / slope, low), high)
    return knots[0]


def _area_above(wtp: Uniform, multiple: float) -> float:
    """Mean of max(0, willingness - multiple) over a persona's buyers."""
    if multiple >= wtp.high:
        return 0.0
    if multiple <= wtp.low:
        return (wtp.low + wtp.high) / 2 - multiple
    return (wtp.high - multiple) ** 2 / (2 * (wtp.high - wtp.low))
