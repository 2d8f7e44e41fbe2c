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
from math import inf

import numpy as np

from market.arena.bounds import (
    Demand,
    SeatItem,
    Uniform,
    cartel,
    competitive,
    industry_bound,
    per_seat,
    residual_supply,
    seat_bound,
)
from market.arena.buyers import NO_LIMIT, Buyers, fitted
from market.arena.events import Bid
from market.arena.rules import ArenaRules, Part
from market.arena.selling import Selling


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
    if rules.willingness_to_pay is None and rules.price_cap is None:
        return None
    steps = range(1, rules.steps + 1)
    lines: dict[tuple[int, str], list[tuple[str, int, int]]] = {}
    seats = set()
    for bid in bids:
        if bid.settling:
            # Of a line that was cut, what stood is at least what was awarded.
            units = bid.quantity if bid.reason is None else bid.awarded
            lines.setdefault((bid.step, bid.item), []).append((bid.seat, units, bid.price))
            seats.add(bid.seat)
    offers = {step: rules.offers(seed, step) for step in steps}
    worths = _worths(rules, map(Selling(rules, seed).buyers, steps))

    def bound(seat: str) -> float:
        items = []
        for item in rules.items:
            costs: list[float] = []
            for step in steps:
                others = [line[1:] for line in lines.get((step, item.item), ()) if line[0] != seat]
                costs += residual_supply(offers[step][item.item], item.base, others)
            items.append(SeatItem(worths[item.item], costs))
        return seat_bound(items)

    return {seat: bound(seat) for seat in sorted(seats)}


def _shared(parts: Sequence[Part]) -> list[Part]:
    """The parts of a mixture with weights that sum to 1."""
    total = sum(weight for weight, _, _ in parts)
    return [(weight / total, low, high) for weight, low, high in parts]


def _worths(rules: ArenaRules, steps: Iterable[Buyers]) -> dict[str, list[float]]:
    """Per item, the most that can be asked for each unit wanted in any step."""
    out: dict[str, list[float]] = {item.item: [] for item in rules.items}
    for buyers in steps:
        for index, item in enumerate(rules.items):
            cap = rules.cap(item)
            own = buyers.item == index
            for limit in np.repeat(buyers.limit[own], buyers.units[own]).tolist():
                known = [most for most in (cap, None if limit == NO_LIMIT else limit) if most]
                out[item.item].append(min(known))
    return out
