"""What a market would bring each retailer under competition, in a cartel, or at most.

`bounds` solves these for one item whose demand is given; here the demand is that of a
configuration. Personas differ in what they pay and in which goods they want, so each item has a
mix of buyers of its own: the table that `buyers.fitted` makes of shares, supply and affinity. A
persona whose willingness to pay is a mixture enters it as several, so that all stays exact.

With `supply_noise` a step's supply is its mean, missed deliveries included: references are those of
a market whose stock evens deliveries out. The industry bound is concave in supply, so its mean over
the drawn supplies of single steps is never above it; of competition and cartel that is not so.

`seat_bounds` is about a game that was played: what each seat could have earned at most against
what the others bid, from the buyers who came.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from math import inf

import numpy as np
from numpy.typing import NDArray

from market.arena.bounds import (
    Demand,
    SeatItem,
    Uniform,
    cartel,
    competitive,
    industry_bound,
    per_seat,
    seat_bound,
)
from market.arena.buyers import NO_LIMIT, fitted
from market.arena.events import Bid
from market.arena.rules import ArenaRules, Part
from market.arena.selling import Selling

_Integers = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class References:
    """Profit per retailer and episode. None where buyers set no limit that would define it.

    Attributes:
        competitive: Units bought at base are sold at the price at which demand meets supply.
        cartel: All retailers ask the one price per item that earns them most together.
        industry_bound: Buyers are served in the order of what they would pay, at that price.
    """

    competitive: float | None
    cartel: float | None
    industry_bound: float | None


def demands(rules: ArenaRules) -> dict[str, Demand]:
    """The expected demand for each item in one step."""
    affinity = rules.affinity or [[1.0] * len(rules.items)] * len(rules.personas)
    chances = fitted(rules.wanted_shares, rules.supply, affinity)
    out = {}
    for index, item in enumerate(rules.items):
        column = [row[index] for row in chances]
        share = sum(column)
        mix = [
            (chance / share * weight, Uniform(low, high))
            for persona, chance in zip(rules.personas, column, strict=True)
            for weight, low, high in _shared(rules.limits(persona))
        ]
        out[item.item] = Demand(
            base=item.base,
            supply=rules.expected(item),
            units=rules.demand * share,
            mix=tuple(mix),
            cap=inf if rules.price_cap is None else rules.price_cap,
        )
    return out


def references(rules: ArenaRules, retailers: int) -> References:
    """What the results of a market are held against.

    Args:
        rules: The market.
        retailers: How many share it.
    """
    items = demands(rules).values()

    def each(amount: Callable[[Demand], float | None]) -> float | None:
        return per_seat(map(amount, items), seats=retailers, steps=rules.steps)

    return References(each(competitive), each(cartel), each(industry_bound))


def seat_bounds(rules: ArenaRules, seed: int, bids: Iterable[Bid]) -> dict[str, float] | None:
    """What each seat could have earned at most in a game, by `bounds.seat_bound`.

    Args:
        rules: The market.
        seed: Seed of the game.
        bids: What everybody bid, the table `bids` of the game.

    Returns:
        Per seat that bid. None where neither buyers nor the cap limit a price.
    """
    # Of a line that was cut, what stood is at least what was awarded.
    stood = [
        (row.step, row.seat, row.item, row.awarded if row.reason else row.quantity, row.price)
        for row in bids
        if row.settling
    ]
    steps, seats, items, units, prices = zip(*stood, strict=True) if stood else ((),) * 5
    return bounds_of(rules, seed, Stood(seats, steps, items, units, prices))


@dataclass(frozen=True, slots=True)
class Stood:
    """The lines that stood when the auctions of a game settled, in columns of one length.

    Attributes:
        seats: Who bid.
        steps: In which step.
        items: For what; what is no item of the market counts for nothing.
        units: Units that stood, none below 0.
        prices: Price per unit.
    """

    seats: Sequence[str]
    steps: Sequence[int]
    items: Sequence[str]
    units: Sequence[int]
    prices: Sequence[int]


def bounds_of(rules: ArenaRules, seed: int, stood: Stood) -> dict[str, float] | None:
    """The same as `seat_bounds`, of columns."""
    if rules.willingness_to_pay is None and rules.price_cap is None:
        return None
    drawn = _drawn(rules.model_dump_json(), seed)
    book = _Book(rules, drawn.offers, stood)
    return {
        seat: seat_bound(map(SeatItem, drawn.worths, book.costs(seat)))
        for seat in sorted(set(stood.seats))
    }


class _Book:
    """What stood in all auctions of a game: dearest first within an item and step."""

    def __init__(self, rules: ArenaRules, offers: _Integers, stood: Stood) -> None:
        position = {item.item: index for index, item in enumerate(rules.items)}
        self._bases = [item.base for item in rules.items]
        self._offers = offers
        items = np.array([position.get(item, -1) for item in stood.items], np.int64)
        auctions = items * rules.steps + np.array(stood.steps, np.int64) - 1
        prices = np.array(stood.prices, np.int64)
        order = np.lexsort((-prices, auctions))
        order = order[items[order] >= 0]
        self._auctions, self._prices = auctions[order], prices[order]
        # No line takes more than there is, and sums of what was written may overflow.
        most = self._offers.ravel()[self._auctions]
        self._units = np.minimum(np.array(stood.units, np.int64)[order], most)
        self._seats = np.array(stood.seats, object)[order]

    def costs(self, seat: str) -> list[_Integers]:
        """Per item what each unit costs who bids against the others (`bounds.residual_supply`)."""
        others = self._seats != seat
        auctions, units, prices = (
            column[others] for column in (self._auctions, self._units, self._prices)
        )
        offers = self._offers.ravel()
        before = np.cumsum(units) - units
        begins = np.searchsorted(auctions, np.arange(len(offers)))
        before -= np.r_[before, 0][begins][auctions]
        taken = np.clip(offers[auctions] - before, 0, units)
        steps = self._offers.shape[1]
        left = offers - np.bincount(auctions, taken, len(offers)).astype(np.int64)
        spare = left.reshape(-1, steps).sum(axis=1)
        ends = [*begins[::steps].tolist(), len(auctions)]
        return [
            np.concatenate(
                [np.full(spare[item], base), np.repeat(prices[start:end], taken[start:end])]
            )
            for item, (base, (start, end)) in enumerate(
                zip(self._bases, pairwise(ends), strict=True)
            )
        ]


@dataclass(frozen=True, slots=True)
class _Drawn:
    """What luck brought to a market, whoever played in it.

    Attributes:
        offers: Units offered, shape (items, steps).
        worths: Per item, the most that can be asked for each unit wanted in any step, the dearest
            first.
    """

    offers: _Integers
    worths: tuple[_Integers, ...]


@lru_cache(maxsize=4)
def _drawn(rules: str, seed: int) -> _Drawn:
    """The luck of a seed under the rules of a JSON text: rosters share it."""
    market = ArenaRules.model_validate_json(rules)
    steps = range(1, market.steps + 1)
    offers = [market.offers(seed, step) for step in steps]
    drawn = [*map(Selling(market, seed).buyers, steps)]
    item, limit, units = (
        np.concatenate([getattr(each, name) for each in drawn])
        for name in ("item", "limit", "units")
    )
    worths = []
    for index, good in enumerate(market.items):
        own, cap = item == index, market.cap(good)
        most = limit[own]
        if cap is not None:
            most = np.where(most == NO_LIMIT, cap, np.minimum(most, cap))
        worths.append(np.sort(np.repeat(most, units[own]))[::-1])
    return _Drawn(
        np.array([[offer[good.item] for offer in offers] for good in market.items], np.int64),
        tuple(worths),
    )


def _shared(parts: Sequence[Part]) -> list[Part]:
    """The parts of a mixture with weights that sum to 1."""
    total = sum(weight for weight, _, _ in parts)
    return [(weight / total, low, high) for weight, low, high in parts]
