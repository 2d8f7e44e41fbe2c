"""The retail side of one step: who is open, whom buyers consider, what is sold."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from market.arena import linked
from market.arena.attention import considered, sizes, weights
from market.arena.bounds import industry_bound_of
from market.arena.buyers import Buyers, draw_buyers, draw_personas
from market.arena.locality import Runs, considered_at_home
from market.arena.regulars import Arrivals, Clientele, Regulars
from market.arena.rules import ArenaRules
from market.arena.storefront import Storefront

if TYPE_CHECKING:
    from market.arena.retail import Sales


class ItemOutcome(NamedTuple):
    """What became of one offer: units asked of it and sold, and the buyers' gain."""

    asked: int
    sold: int
    surplus: int


#: Makes an `ItemOutcome` of a tuple of its fields, at half the cost of calling the class.
_new = tuple.__new__


class SeatOutcome(NamedTuple):
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
        repeats: Where buyers remember, purchases made where one of before was remembered well, and
            all purchases; one is a buyer at a retailer, whatever the units.
    """

    seats: Mapping[str, SeatOutcome]
    buyers: Buyers
    priced_out: Sequence[int]
    unserved: Sequence[int]
    limited: bool
    repeats: tuple[int, int] | None = None

    def bound(self, rules: ArenaRules, offers: Mapping[str, int]) -> float | None:
        """Greatest possible gain of a step with these offers; None where buyers have no limits."""
        if not self.limited:
            return None
        total = 0.0
        for index, item in enumerate(rules.items):
            own = self.buyers.item == index
            worths = np.repeat(self.buyers.limit[own], self.buyers.units[own]).tolist()
            total += industry_bound_of(worths, offers[item.item], item.base)
        return total


class Selling:
    """The retail side of an episode, step by step.

    Args:
        rules: The market.
        seed: Seed of the episode.
        clientele: Where buyers remember, their places after an earlier step; none before the first.

    Attributes:
        clientele: Where buyers remember, their places after the last step that was sold.
    """

    def __init__(self, rules: ArenaRules, seed: int, clientele: Clientele | None = None) -> None:
        personas = rules.personas.values()
        willingness = rules.willingness_to_pay
        self._seed = seed
        goods = linked.goods(rules)
        self._position = {item.item: index for index, item in enumerate(goods)}
        self._homes = None if rules.markets is None else linked.homes(rules)
        self._sensitivities = [persona.sensitivity for persona in personas]
        self._patience = [rules.attention.rho if p.rho is None else p.rho for p in personas]
        self._attention = rules.attention
        self._limited = willingness is not None
        self._draw = partial(
            draw_buyers,
            seed,
            demand=rules.demand,
            buyers=rules.buyers,
            shares=rules.shares,
            supply=rules.supply,
            bases=[item.base for item in goods],
            willingness=None if willingness is None else [willingness[p] for p in rules.personas],
            affinity=rules.affinity,
            persona_draw=rules.persona_draw,
            item_draw=rules.item_draw,
            appetites=rules.appetites,
            homes=self._homes,
        )
        self.clientele = clientele
        self._regulars: Regulars | None = None
        if rules.buyer_memory is not None:
            newcomers = partial(draw_personas, seed, buyers=rules.buyers, shares=rules.shares)
            self._regulars = Regulars(rules.buyer_memory, seed, rules.buyers, newcomers)
            self.clientele = clientele or self._regulars.opening()

    def buyers(self, step: int) -> Buyers:
        """The buyers of a step."""
        return self._come(step)[0]

    def prepare(self) -> None:
        """Load now what the first `sell` would hold everybody up for."""
        from market.arena import retail  # numba: only where a market is run

        retail.load()

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

        buyers, arrivals = self._come(step)
        personas, items = len(self._sensitivities), len(self._position)
        sellers = [seat for seat, front in fronts.items() if front.prices]
        sales = retail.Sales.none(items, len(sellers))
        met_at: dict[str, NDArray[np.int8]] = {}
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
            favour, visits = self._remembered(arrivals, sellers)
            runs = (
                considered(self._seed, step, sellers, weight, size, buyers.persona, favour=favour)
                if self._homes is None
                else self._at_home(step, sellers, weight, prices, buyers)
            )
            for span, seen in runs:
                met = None if visits is None else visits[span]
                retail.settle(buyers.part(span), seen, prices, held, luck, sales, met)
            if visits is not None:
                met_at = dict(zip(sellers, visits.T, strict=True))
        repeats = self._remember(arrivals, buyers, met_at)
        counts = np.bincount(buyers.persona, minlength=personas).tolist()
        return RetailOutcome(
            seats=_seat_outcomes(fronts, sellers, self._position, sales, similarities, counts),
            buyers=buyers,
            priced_out=sales.priced_out.tolist(),
            unserved=sales.unserved.tolist() if sellers else wanted(buyers, items),
            limited=self._limited,
            repeats=repeats,
        )

    def _at_home(
        self,
        step: int,
        sellers: Sequence[str],
        weight: NDArray[np.float64],
        prices: NDArray[np.int64],
        buyers: Buyers,
    ) -> Runs:
        """Whom buyers consider in their own markets."""
        markets = len(self._homes or ())

        def draw(among: NDArray[np.intp]) -> Runs:
            size = sizes(self._patience, self._attention.k_max, len(among))
            own = [sellers[index] for index in among]
            return considered(self._seed, step, own, weight[among], size, buyers.persona)

        offered: NDArray[np.bool_] = prices.reshape(-1, markets, len(sellers)).max(axis=0) > 0
        return considered_at_home(draw, offered, buyers.item % markets)

    def before(self, step: int) -> Clientele | None:
        """Where buyers remember, their places as a step finds them."""
        if self._regulars is not None and self.clientele is not None:
            self.clientele = self._regulars.before(self.clientele, step)
        return self.clientele

    def meet(self, step: int, sellers: Sequence[str]) -> tuple[Buyers, NDArray[np.float64] | None]:
        """The buyers of a step and what they think of sellers, as a factor on their weights.

        Returns:
            The buyers, and factors of shape (sellers, buyers); None where nobody remembers.
        """
        buyers, arrivals = self._come(step)
        return buyers, self._remembered(arrivals, sellers)[0]

    def _come(self, step: int) -> tuple[Buyers, Arrivals | None]:
        """The buyers of a step and, where they remember, which of them return."""
        clientele = self.before(step)
        if self._regulars is None or clientele is None:
            return self._draw(step), None
        arrivals = self._regulars.arrivals(clientele, step)
        personas = self._regulars.personas(clientele, arrivals)
        return self._draw(step, personas=personas), arrivals

    def _remembered(
        self, arrivals: Arrivals | None, sellers: Sequence[str]
    ) -> tuple[NDArray[np.float64] | None, NDArray[np.int8] | None]:
        """What buyers think of sellers, and where to write what they meet; None for strangers."""
        if self._regulars is None or self.clientele is None or arrivals is None:
            return None, None
        favour = self._regulars.favour(self.clientele, arrivals, sellers)
        return favour, np.zeros((favour.shape[1], len(sellers)), np.int8)

    def _remember(
        self,
        arrivals: Arrivals | None,
        buyers: Buyers,
        visits: Mapping[str, NDArray[np.int8]],
    ) -> tuple[int, int] | None:
        """Keep what buyers who may return met; gives `RetailOutcome.repeats`."""
        if self._regulars is None or self.clientele is None or arrivals is None:
            return None
        repeats = self._regulars.repeats(self.clientele, arrivals, visits)
        self.clientele = self._regulars.after(self.clientele, arrivals, buyers.persona, visits)
        return repeats


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
    everybody = sum(counts)
    asked, sold, surplus = sales.asked.tolist(), sales.sold.tolist(), sales.surplus.tolist()
    attempts, failed = sales.attempts.tolist(), sales.failed.tolist()
    impressions = sales.impressions.tolist()
    column = {seat: index for index, seat in enumerate(sellers)}
    outcomes = {}
    for seat, front in fronts.items():
        row = similarities.get(front.slogan)
        matched = sum(n * s for n, s in zip(counts, row, strict=True)) if row else 0
        heard = everybody if row else 0
        at = column.get(seat)
        if at is None:
            outcomes[seat] = SeatOutcome(False, {}, 0, 0, 0, matched, heard)
            continue
        priced = [position[item] for item in front.prices]
        offers = {i: _new(ItemOutcome, (asked[i][at], sold[i][at], surplus[i][at])) for i in priced}
        outcomes[seat] = SeatOutcome(
            True, offers, attempts[at], failed[at], impressions[at], matched, heard
        )
    return outcomes
