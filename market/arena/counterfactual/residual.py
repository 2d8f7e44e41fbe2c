"""What the rivals leave to one seat: retail as `market.arena.retail` settles it, seen from a seat.

Buyers go from cheap to dear. So what a seat asks and holds changes only what dearer sellers sell,
and what reaches it at a price, its rivals' cheaper offers taken first, does not depend on its own
stock: units sold = min(stock, units asked). One pass over the buyers without the seat therefore
tells what it would be asked for at *every* price between two rivals' prices. At exactly a rival's
price the two share buyers in drawn order, one running dry sends buyers to the other, and the pass
has to be made with the seat in it (`sold_at`).

Buyers of one item never meet those of another, hence everything here is of a single item. Whom a
buyer considers is known by keys: a rival is considered if its key is at most the buyer's bar.

Imports numba, like `retail`, whose word order of equally cheap sellers it shares; that both settle
alike is tested on random markets.
"""

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import NDArray

from market.arena.retail import _mixed

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
def asked_curve(
    spans: _Integers,
    units: _Integers,
    limits: _Integers,
    lucks: NDArray[np.uint64],
    keys: _Floats,
    bar: _Floats,
    inside: NDArray[np.bool_],
    ladder: _Integers,
    rungs: _Integers,
    words: NDArray[np.uint64],
    stocks: _Integers,
    candidates: _Integers,
    asked: _Integers,
) -> None:
    """Find what a seat would be asked for at every candidate price that no rival asks.

    Args:
        spans: First buyer and the one past the last of the item, shape (redraws, 2).
        units: Units wanted, shape (redraws, buyers).
        limits: Highest acceptable price, negative for none.
        lucks: Word of each buyer.
        keys: Shape (redraws, buyers, sellers).
        bar: Bar of each buyer.
        inside: Whether the buyer considers the seat.
        ladder: Rivals that price the item, cheapest first.
        rungs: Their prices.
        words: Word of each seller, shape (redraws, sellers).
        stocks: Units of the item, shape (redraws, sellers).
        candidates: Prices, ascending and distinct.
        asked: Where to write, shape (redraws, candidates); 0 at a rival's price.
    """
    count = len(candidates)
    below = np.searchsorted(candidates, rungs, "left")
    above = np.searchsorted(candidates, rungs, "right")
    step = np.empty(count + 1, np.int64)
    equal = np.empty(len(words[0]), np.int64)
    rank = np.empty(len(words[0]), np.uint64)
    for redraw in range(len(spans)):
        step[:] = 0
        stock = stocks[redraw].copy()
        for buyer in range(spans[redraw, 0], spans[redraw, 1]):
            limit = limits[redraw, buyer]
            most = count if limit < 0 else np.searchsorted(candidates, limit, "right")
            wanted = units[redraw, buyer]
            rung, first = 0, 0
            while True:
                end = below[rung] if rung < len(ladder) else count
                end = min(end, most)
                if inside[redraw, buyer] and first < end:
                    step[first] += wanted
                    step[end] -= wanted
                if rung == len(ladder) or 0 <= limit < rungs[rung]:
                    break
                price = rungs[rung]
                first = above[rung]
                tied = 0
                while rung < len(ladder) and rungs[rung] == price:
                    if keys[redraw, buyer, ladder[rung]] <= bar[redraw, buyer]:
                        equal[tied] = ladder[rung]
                        tied += 1
                    rung += 1
                wanted, _ = _taken(
                    wanted, tied, equal, rank, lucks[redraw, buyer], words[redraw], stock, -1
                )
                if wanted == 0:
                    break
        total = 0
        for candidate in range(count):
            total += step[candidate]
            asked[redraw, candidate] = total


@njit(cache=True)
def sold_at(
    spans: _Integers,
    units: _Integers,
    limits: _Integers,
    lucks: NDArray[np.uint64],
    keys: _Floats,
    bar: _Floats,
    inside: NDArray[np.bool_],
    ladder: _Integers,
    rungs: _Integers,
    words: NDArray[np.uint64],
    stocks: _Integers,
    seat: int,
    price: int,
    sold: _Integers,
) -> None:
    """Find what a seat sells at a price, which may be that of rivals.

    Arguments are those of `asked_curve`; the seat's own units are in `stocks`, and what it sells is
    written to `sold`, of shape (redraws,).
    """
    equal = np.empty(len(words[0]), np.int64)
    rank = np.empty(len(words[0]), np.uint64)
    for redraw in range(len(spans)):
        stock = stocks[redraw].copy()
        total = 0
        for buyer in range(spans[redraw, 0], spans[redraw, 1]):
            limit = limits[redraw, buyer]
            wanted = units[redraw, buyer]
            rung = 0
            while wanted > 0:
                now = rungs[rung] if rung < len(ladder) else price
                now = min(now, price)
                if 0 <= limit < now:
                    break
                tied = 0
                if now == price and inside[redraw, buyer]:
                    equal[0] = seat
                    tied = 1
                while rung < len(ladder) and rungs[rung] == now:
                    if keys[redraw, buyer, ladder[rung]] <= bar[redraw, buyer]:
                        equal[tied] = ladder[rung]
                        tied += 1
                    rung += 1
                wanted, own = _taken(
                    wanted, tied, equal, rank, lucks[redraw, buyer], words[redraw], stock, seat
                )
                total += own
                if now == price:
                    break
        sold[redraw] = total


@njit(cache=True)
def _taken(
    wanted: int,
    tied: int,
    equal: _Integers,
    rank: NDArray[np.uint64],
    luck: np.uint64,
    words: NDArray[np.uint64],
    stock: _Integers,
    seat: int,
) -> tuple[int, int]:
    """Let a buyer take from equally cheap sellers; returns units still wanted, and the seat's."""
    own = 0
    if tied > 1:
        for i in range(tied):
            rank[i] = _mixed(luck + words[equal[i]])
    while tied > 0 and wanted > 0:
        best = 0
        for i in range(1, tied):
            if rank[i] < rank[best]:
                best = i
        seller = equal[best]
        tied -= 1
        equal[best] = equal[tied]
        rank[best] = rank[tied]
        taken = min(wanted, stock[seller])
        stock[seller] -= taken
        wanted -= taken
        if seller == seat:
            own += taken
    return wanted, own
