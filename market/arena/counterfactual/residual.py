"""What the rivals leave to one seat: retail as `market.arena.retail` settles it, seen from a seat.

Buyers go from cheap to dear. So what a seat asks and holds changes only what dearer sellers sell,
and what reaches it at a price, its rivals' cheaper offers taken first, does not depend on its own
stock: units sold = min(stock, units asked). One pass over the buyers without the seat therefore
tells what it would be asked for at *every* price between two rivals' prices. At exactly a rival's
price the two share buyers in drawn order, one running dry sends buyers to the other, and the pass
has to be made with the seat in it (`sold_at`).

Buyers of one item never meet those of another, hence everything here is of a single item. Whom a
buyer considers is known by keys: a rival is considered if its key is at most the buyer's bar. In
which order it goes to them, cheap before dear and among equals by its word, hangs on nothing that
the seat does: these *tours* are found once, and every price and stock is tried along them.

Imports numba, like `retail`, whose word order of equally cheap sellers it shares; that both settle
alike is tested on random markets.
"""

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import NDArray

from market.arena.retail import mixed

_Integers = NDArray[np.int64]
_Floats = NDArray[np.float64]


@njit(cache=True)
def bars(keys: _Floats, seat: int, size: _Integers, inner: _Floats, outer: _Floats) -> None:
    """Find the bars of every buyer: the (n-1)-th and n-th smallest key among the rivals.

    A seat whose key is at most the outer bar is considered, and then so are the rivals up to the
    inner one; else the rivals up to the outer one are.

    Args:
        keys: Shape (redraws, buyers, sellers); infinite for a seller who is closed.
        seat: The seat, which is no rival.
        size: Sellers considered, shape (redraws, buyers).
        inner: Where to write, shape (redraws, buyers); minus infinity where n is 1.
        outer: Where to write; infinite where there are fewer than n rivals.
    """
    redraws, buyers, sellers = keys.shape
    least = np.empty(sellers + 1)
    for redraw in range(redraws):
        for buyer in range(buyers):
            most = size[redraw, buyer]
            found = 0
            for rival in range(sellers):
                if rival == seat:
                    continue
                key = keys[redraw, buyer, rival]
                if found == most and key >= least[found - 1]:
                    continue
                place = found if found < most else found - 1
                while place > 0 and least[place - 1] > key:
                    least[place] = least[place - 1]
                    place -= 1
                least[place] = key
                found = min(found + 1, most)
            outer[redraw, buyer] = least[most - 1] if found == most else np.inf
            if most == 1:
                inner[redraw, buyer] = -np.inf
            else:
                inner[redraw, buyer] = least[most - 2] if found >= most - 1 else np.inf


@njit(cache=True)
def tours(
    starts: _Integers,
    places: _Integers,
    lucks: NDArray[np.uint64],
    keys: _Floats,
    inner: _Floats,
    outer: _Floats,
    ladder: _Integers,
    rungs: _Integers,
    words: NDArray[np.uint64],
    tour: NDArray[np.int16],
    count: NDArray[np.int16],
) -> None:
    """Put the rivals that each buyer of an item may consider into the order in which it goes.

    Args:
        starts: First buyer of each redraw, and one past the last, shape (redraws + 1,).
        places: Position of each buyer among those of all items and redraws.
        lucks: Word of each buyer.
        keys: Shape (buyers of all items and redraws, sellers).
        inner: Highest key that is considered beside the seat.
        outer: Highest key that is considered without it.
        ladder: Rivals that price the item, cheapest first.
        rungs: Their prices.
        words: Word of each seller, shape (redraws, sellers).
        tour: Where to write, shape (buyers, rivals): a rival, or its complement (-1 less it) where
            it is not considered beside the seat.
        count: Where to write how many there are.
    """
    rank = np.empty(len(ladder), np.uint64)
    for redraw in range(len(starts) - 1):
        for buyer in range(starts[redraw], starts[redraw + 1]):
            place = places[buyer]
            found, level = 0, 0
            for rung in range(len(ladder)):
                if rung and rungs[rung] != rungs[rung - 1]:
                    level = found
                rival = ladder[rung]
                key = keys[place, rival]
                if key > outer[place]:
                    continue
                word = mixed(lucks[buyer] + words[redraw, rival])
                at = found
                while at > level and rank[at - 1] > word:
                    rank[at] = rank[at - 1]
                    tour[buyer, at] = tour[buyer, at - 1]
                    at -= 1
                rank[at] = word
                tour[buyer, at] = rival if key <= inner[place] else ~rival
                found += 1
            count[buyer] = found


@njit(cache=True)
def asked_curve(
    starts: _Integers,
    places: _Integers,
    units: _Integers,
    limits: _Integers,
    tour: NDArray[np.int16],
    count: NDArray[np.int16],
    inside: NDArray[np.bool_],
    prices: _Integers,
    stocks: _Integers,
    candidates: _Integers,
    asked: _Integers,
) -> None:
    """Find what a seat would be asked for at every candidate price that no rival asks.

    Args:
        starts: First buyer of each redraw, and one past the last, shape (redraws + 1,).
        places: Position of each buyer among those of all items and redraws.
        units: Units wanted.
        limits: Highest acceptable price, negative for none.
        tour: From `tours`.
        count: From `tours`.
        inside: Whether a buyer considers the seat, of all items and redraws.
        prices: Price of each rival that is in a tour.
        stocks: Units of the item, shape (redraws, sellers).
        candidates: Prices, ascending and distinct.
        asked: Where to write, shape (redraws, candidates); 0 at a price in `prices`.
    """
    most = len(candidates)
    below = np.searchsorted(candidates, prices, "left")
    above = np.searchsorted(candidates, prices, "right")
    step = np.empty(most + 1, np.int64)
    for redraw in range(len(starts) - 1):
        step[:] = 0
        stock = stocks[redraw].copy()
        for buyer in range(starts[redraw], starts[redraw + 1]):
            limit, wanted = limits[buyer], units[buyer]
            here = inside[places[buyer]]
            first, last = 0, most
            if limit >= 0:
                last = np.searchsorted(candidates, limit, "right")
            for stop in range(count[buyer]):
                rival = tour[buyer, stop]
                if rival < 0:
                    if here:
                        continue
                    rival = ~rival
                if 0 <= limit < prices[rival]:
                    break
                if here and first < below[rival]:
                    step[first] += wanted
                    step[below[rival]] -= wanted
                first = above[rival]
                taken = min(wanted, stock[rival])
                stock[rival] -= taken
                wanted -= taken
                if wanted == 0:
                    break
            if here and wanted > 0 and first < last:
                step[first] += wanted
                step[last] -= wanted
        total = 0
        for candidate in range(most):
            total += step[candidate]
            asked[redraw, candidate] = total
        for seller in range(len(prices)):
            if below[seller] < above[seller]:
                asked[redraw, below[seller]] = 0


@njit(cache=True)
def sold_at(
    starts: _Integers,
    places: _Integers,
    units: _Integers,
    limits: _Integers,
    tour: NDArray[np.int16],
    count: NDArray[np.int16],
    inside: NDArray[np.bool_],
    prices: _Integers,
    stocks: _Integers,
    lucks: NDArray[np.uint64],
    words: NDArray[np.uint64],
    seat: int,
    price: int,
    held: int,
    sold: _Integers,
) -> None:
    """Find what a seat sells at a price, which may be that of rivals.

    Arguments are those of `asked_curve` and `tours`; `held` are the seat's own units, and what it
    sells is written to `sold`, of shape (redraws,).
    """
    for redraw in range(len(starts) - 1):
        stock = stocks[redraw].copy()
        own = held
        for buyer in range(starts[redraw], starts[redraw + 1]):
            if own == 0:
                break
            limit, wanted = limits[buyer], units[buyer]
            here = inside[places[buyer]]
            ahead = here and not 0 <= limit < price
            for stop in range(count[buyer]):
                rival = tour[buyer, stop]
                if rival < 0:
                    if here:
                        continue
                    rival = ~rival
                now = prices[rival]
                if now > price or 0 <= limit < now:
                    break
                if now == price and ahead:
                    luck = lucks[buyer]
                    if mixed(luck + words[redraw, seat]) < mixed(luck + words[redraw, rival]):
                        taken = min(wanted, own)
                        own -= taken
                        wanted -= taken
                        ahead = False
                        if wanted == 0:
                            break
                taken = min(wanted, stock[rival])
                stock[rival] -= taken
                wanted -= taken
                if wanted == 0:
                    break
            if ahead:
                own -= min(wanted, own)
        sold[redraw] = held - own
