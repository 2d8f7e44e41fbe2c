"""Retail: buyers arrive one after the other and buy from the cheapest seller they consider.

Exactly sequential, because a buyer finds the stock that earlier buyers left, and compiled, because
there may be millions of them. Integers only: no rounding, no order of summation.

A buyer goes through the considered sellers that price its item, cheapest first, and takes what
stock there is until it has its units. Each seller reached while units are wanted is an *attempt*,
which asks for the units still wanted and fails if there is no stock. The first price above the
buyer's limit ends the tour: the units left are *priced out*. Units left when the sellers are
exhausted are *unserved*. Per item, demand = sold + priced out + unserved.

Equally cheap sellers are ordered by a hash of the buyer's word with the seller's: the order differs
between buyers, and a seller that leaves does not change the order of the rest.

This module alone imports numba: import it where a market is run, not where one is described.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

import numpy as np
from numba import njit
from numpy.typing import NDArray

from market.arena.buyers import Buyers
from market.arena.regulars import BOUGHT, LET_DOWN
from market.rng import keys

_Integers = NDArray[np.int64]

_DEAREST = np.iinfo(np.int64).max

_FIRST_FACTOR = np.uint64(0xBF58476D1CE4E5B9)
_SECOND_FACTOR = np.uint64(0x94D049BB133111EB)
_FIRST_SHIFT = np.uint64(30)
_SECOND_SHIFT = np.uint64(27)
_THIRD_SHIFT = np.uint64(31)


@dataclass(frozen=True, slots=True, eq=False)
class Sales:
    """What has been sold so far in a step; `settle` adds to it.

    Attributes:
        sold: Units sold, shape (items, sellers).
        asked: Units asked in attempts, shape (items, sellers).
        surplus: Units x (limit - price) of buyers with a limit, in money, shape (items, sellers).
        attempts: Attempts per seller.
        failed: Attempts that met no stock, per seller.
        impressions: Buyers that considered the seller.
        priced_out: Units given up because the next price was too high, per item.
        unserved: Units left when no seller was left, per item.
    """

    sold: NDArray[np.int64]
    asked: NDArray[np.int64]
    surplus: NDArray[np.int64]
    attempts: NDArray[np.int64]
    failed: NDArray[np.int64]
    impressions: NDArray[np.int64]
    priced_out: NDArray[np.int64]
    unserved: NDArray[np.int64]

    @classmethod
    def none(cls, items: int, sellers: int) -> Sales:
        """Nothing sold yet."""
        grid, seller, item = (items, sellers), (sellers,), (items,)
        shapes = (grid, grid, grid, seller, seller, seller, item, item)
        return cls(*(np.zeros(shape, np.int64) for shape in shapes))


def seller_luck(seed: int, step: int, sellers: Sequence[str]) -> NDArray[np.uint64]:
    """The word of each seller that orders it among equally cheap ones."""
    of = keys(seed, "ties", step)
    return np.array([of(seat) % 2**64 for seat in sellers], np.uint64)


def settle(
    buyers: Buyers,
    considered: NDArray[np.bool_],
    prices: NDArray[np.int64],
    stock: NDArray[np.int64],
    luck: NDArray[np.uint64],
    sales: Sales,
    visits: NDArray[np.int8] | None = None,
) -> None:
    """Serve a run of buyers. `stock` and `sales` change; runs follow one another in arrival order.

    Args:
        buyers: The run.
        considered: Who considers whom, shape (sellers, buyers of the run).
        prices: Price per unit, shape (items, sellers); 0 where there is no offer.
        stock: Units held, shape (items, sellers).
        luck: Word of each seller, from `seller_luck`.
        sales: Where to add.
        visits: Where to write what each buyer met at each seller (`regulars`), of shape (buyers of
            the run, sellers), for buyers who remember.
    """
    offered = prices > 0
    ladder = np.argsort(np.where(offered, prices, _DEAREST), axis=1, kind="stable")
    sales.impressions[:] += np.count_nonzero(considered, axis=1)
    _serve(
        buyers.item,
        buyers.units,
        buyers.limit,
        buyers.luck,
        considered,
        prices,
        ladder,
        offered.sum(axis=1),
        luck,
        stock,
        sales.sold,
        sales.asked,
        sales.surplus,
        sales.attempts,
        sales.failed,
        sales.priced_out,
        sales.unserved,
        visits,
    )


@cache
def load() -> None:
    """Load what is compiled, by serving nobody: the first call takes most of a second."""
    small, large = np.zeros(0, np.int16), np.zeros(0, np.int64)
    nobody = Buyers(small, small, large, large, np.zeros(0, np.uint64))
    grid = np.zeros((1, 1), np.int64)
    luck = np.zeros(1, np.uint64)
    settle(nobody, np.zeros((1, 0), np.bool_), grid, grid.copy(), luck, Sales.none(1, 1))


@njit(cache=True)
def mixed(word: np.uint64) -> np.uint64:
    """SplitMix64's finaliser (Steele, Lea and Flood 2014): one to one, so words never collide."""
    word = (word ^ (word >> _FIRST_SHIFT)) * _FIRST_FACTOR
    word = (word ^ (word >> _SECOND_SHIFT)) * _SECOND_FACTOR
    return word ^ (word >> _THIRD_SHIFT)


@njit(cache=True)
def _serve(
    item: NDArray[np.int16],
    units: _Integers,
    limit: _Integers,
    buyer_luck: NDArray[np.uint64],
    considered: NDArray[np.bool_],
    prices: _Integers,
    ladder: _Integers,
    rungs: _Integers,
    seller_luck: NDArray[np.uint64],
    stock: _Integers,
    sold: _Integers,
    asked: _Integers,
    surplus: _Integers,
    attempts: _Integers,
    failed: _Integers,
    priced_out: _Integers,
    unserved: _Integers,
    visits: NDArray[np.int8] | None,
) -> None:
    """Serve buyers in order; `ladder` holds each item's sellers by price, `rungs` how many."""
    equal = np.empty(considered.shape[0], np.int64)
    rank = np.empty(considered.shape[0], np.uint64)
    for buyer in range(len(item)):
        good = item[buyer]
        wanted = units[buyer]
        rung = 0
        while wanted > 0 and rung < rungs[good]:
            price = prices[good, ladder[good, rung]]
            tied = 0
            while rung < rungs[good] and prices[good, ladder[good, rung]] == price:
                seller = ladder[good, rung]
                if considered[seller, buyer]:
                    equal[tied] = seller
                    tied += 1
                rung += 1
            if tied == 0:
                continue
            if 0 <= limit[buyer] < price:
                priced_out[good] += wanted
                wanted = 0
                if visits is not None:
                    for i in range(tied):
                        visits[buyer, equal[i]] = LET_DOWN
                break
            if tied > 1:
                for i in range(tied):
                    rank[i] = mixed(buyer_luck[buyer] + seller_luck[equal[i]])
            # Picking the next one at a time beats sorting: most buyers need one seller.
            while tied > 0 and wanted > 0:
                best = 0
                for i in range(1, tied):
                    if rank[i] < rank[best]:
                        best = i
                seller = equal[best]
                tied -= 1
                equal[best] = equal[tied]
                rank[best] = rank[tied]
                attempts[seller] += 1
                asked[good, seller] += wanted
                taken = min(wanted, stock[good, seller])
                if taken == 0:
                    failed[seller] += 1
                    if visits is not None:
                        visits[buyer, seller] = LET_DOWN
                    continue
                stock[good, seller] -= taken
                sold[good, seller] += taken
                wanted -= taken
                if visits is not None:
                    visits[buyer, seller] = BOUGHT
                if limit[buyer] >= 0:
                    surplus[good, seller] += taken * (limit[buyer] - price)
        unserved[good] += wanted
