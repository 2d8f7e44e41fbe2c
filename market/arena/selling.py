"""The retail side of one step: who is open, whom buyers consider, what is sold."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from market.arena.attention import considered, sizes, weights
from market.arena.bounds import industry_bound_of
from market.arena.buyers import Buyers, draw_buyers
from market.arena.rules import ArenaRules
from market.arena.storefront import Storefront

if TYPE_CHECKING:
    from market.arena.retail import Sales


class ItemOutcome(NamedTuple):
    """What became of one offer: units asked of it and sold, and the buyers' gain."""

    asked: int
    sold: int
    surplus: int


@dataclass(frozen=True, slots=True)
class SeatOutcome:
    """What retail brought to one seat.

    Attributes:
        open: Whether it had a valid price when retail opened.
        offers: Outcome per item it priced, by position.
        attempts: Times a buyer reached it with an acceptable price.
        failed: Attempts that found no stock.
        impressions: Buyers who considered it.
        match_sum: Sum of its slogan's similarity over all buyers, in 1e-6.
        match_buyers: Buyers in that sum; 0 without a slogan.
    """

    open: bool
    offers: Mapping[int, ItemOutcome]
    attempts: int
    failed: int
    impressions: int
    match_sum: int
    match_buyers: int


@dataclass(frozen=True, slots=True)
class RetailOutcome:
    """What retail brought.

    Attributes:
        seats: Per seat.
        buyers: The buyers of the step.
        priced_out: Per item, units given up at a price above the buyer's limit.
        unserved: Per item, units for which no considered seller was left.
        limited: Whether buyers have limits.
    """

    seats: Mapping[str, SeatOutcome]
    buyers: Buyers
    priced_out: Sequence[int]
    unserved: Sequence[int]
    limited: bool

    def bound(self, rules: ArenaRules) -> float | None:
        """Greatest possible gain of the step; None where buyers have no limits."""
        if not self.limited:
            return None
        total = 0.0
        for index, item in enumerate(rules.items):
            own = self.buyers.item == index
            worths = np.repeat(self.buyers.limit[own], self.buyers.units[own]).tolist()
            total += industry_bound_of(worths, rules.quantity(item), item.base)
        return total


class Selling:
    """The retail side of an episode, step by step."""

    def __init__(self, rules: ArenaRules, seed: int) -> None:
        personas = rules.personas.values()
        willingness = rules.willingness_to_pay
        self._seed = seed
        self._position = {item.item: index for index, item in enumerate(rules.items)}
        self._sensitivities = [persona.sensitivity for persona in personas]
        self._patience = [rules.attention.rho if p.rho is None else p.rho for p in personas]
        self._attention = rules.attention
        self._limited = willingness is not None
        #: Draws the buyers of a step.
        self.buyers = partial(
            draw_buyers,
            seed,
            demand=rules.demand,
            buyers=rules.buyers,
            shares=rules.shares,
            supply=rules.supply,
            bases=[item.base for item in rules.items],
            willingness=None if willingness is None else [willingness[p] for p in rules.personas],
            affinity=rules.affinity,
            persona_draw=rules.persona_draw,
            item_draw=rules.item_draw,
        )

    def sell(
        self,
        step: int,
        fronts: Mapping[str, Storefront],
        stock: Mapping[str, Sequence[int]],
        similarities: Mapping[str, Sequence[int]],
    ) -> RetailOutcome:
        """Draw the buyers of a step and serve them.

        Args:
            step: The step.
            fronts: What each retailer posted.
            stock: Units held per item, by seat.
            similarities: Of each slogan with each persona, in 1e-6.
        """
        from market.arena import retail  # numba: only where a market is run

        buyers = self.buyers(step)
        personas, items = len(self._sensitivities), len(self._position)
        sellers = [seat for seat, front in fronts.items() if front.prices]
        sales = retail.Sales.none(items, len(sellers))
        if sellers:
            prices = np.zeros((items, len(sellers)), np.int64)
            held = np.zeros((items, len(sellers)), np.int64)
            for column, seat in enumerate(sellers):
                held[:, column] = stock[seat]
                for item, price in fronts[seat].prices.items():
                    prices[self._position[item], column] = price
            nothing = [0] * personas
            weight = weights(
                [similarities.get(fronts[seat].slogan, nothing) for seat in sellers],
                self._sensitivities,
                self._attention.tau,
            )
            size = sizes(self._patience, self._attention.k_max, len(sellers))
            luck = retail.seller_luck(self._seed, step, sellers)
            for span, seen in considered(self._seed, step, sellers, weight, size, buyers.persona):
                retail.settle(buyers.part(span), seen, prices, held, luck, sales)
        counts = np.bincount(buyers.persona, minlength=personas).tolist()
        return RetailOutcome(
            seats=_seat_outcomes(fronts, sellers, self._position, sales, similarities, counts),
            buyers=buyers,
            priced_out=sales.priced_out.tolist(),
            unserved=sales.unserved.tolist() if sellers else wanted(buyers, items),
            limited=self._limited,
        )


def wanted(buyers: Buyers, items: int) -> list[int]:
    """Units wanted per item."""
    return [int(buyers.units[buyers.item == index].sum()) for index in range(items)]


def _seat_outcomes(
    fronts: Mapping[str, Storefront],
    sellers: Sequence[str],
    position: Mapping[str, int],
    sales: Sales,
    similarities: Mapping[str, Sequence[int]],
    counts: Sequence[int],
) -> dict[str, SeatOutcome]:
    asked, sold, surplus = sales.asked.tolist(), sales.sold.tolist(), sales.surplus.tolist()
    attempts, failed = sales.attempts.tolist(), sales.failed.tolist()
    impressions = sales.impressions.tolist()
    column = {seat: index for index, seat in enumerate(sellers)}
    outcomes = {}
    for seat, front in fronts.items():
        row = similarities.get(front.slogan)
        matched = sum(n * s for n, s in zip(counts, row, strict=True)) if row else 0
        heard = sum(counts) if row else 0
        at = column.get(seat)
        if at is None:
            outcomes[seat] = SeatOutcome(False, {}, 0, 0, 0, matched, heard)
            continue
        priced = [position[item] for item in front.prices]
        offers = {i: ItemOutcome(asked[i][at], sold[i][at], surplus[i][at]) for i in priced}
        outcomes[seat] = SeatOutcome(
            True, offers, attempts[at], failed[at], impressions[at], matched, heard
        )
    return outcomes
