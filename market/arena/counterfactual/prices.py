"""The best price of an item, rivals' answers and stock being given.

For each luck, what a seat takes in is its price times a step function of it, which falls only where
the price passes a rival's price or a buyer's limit. So the mean over redraws is highest at a limit
of one of their buyers, at a rival's price, one tick below one, or at the cap, and all of these are
tried: no grid and no bins. Items separate (`seat`), hence so does the choice.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from market.arena.counterfactual.board import Row
from market.arena.counterfactual.seat import Lot, Seat


@dataclass(frozen=True, slots=True, eq=False)
class Candidates:
    """The prices one of which is best, all of them valid.

    They are of all redraws, so the halves of a cross-fit choose among the same ones.

    Attributes:
        prices: Ascending and distinct.
        ties: Those that a rival asks too, with the position of the price one tick below; None
            where that is a rival's as well, or no valid price.
    """

    prices: NDArray[np.int64]
    ties: tuple[tuple[int, int | None], ...]


def candidates(seat: Seat, item: int) -> Candidates:
    """The prices to try for an item."""
    board = seat.board
    tick, cap = board.rules.tick, board.rules.cap(board.rules.items[item])
    limits = [
        board.limits[row, start:end] for row, (start, end) in enumerate(board.spans[item].tolist())
    ]
    _, rungs = seat.ladder(item)
    tried = np.unique(
        np.concatenate(
            [
                *(limit[limit > 0] // tick * tick for limit in limits),
                rungs,
                rungs - tick,
                [board.prices[seat.column][item]],
                [] if cap is None else [cap],
            ]
        ).astype(np.int64)
    )
    tried = tried[(tried > 0) & (tried <= (tried.max() if cap is None else cap))]
    place = {price: position for position, price in enumerate(tried.tolist())}
    asked = set(rungs.tolist())
    return Candidates(
        tried,
        tuple(
            (tie, None if tie - tick in asked else place.get(tie - tick))
            for tie in sorted(asked & place.keys())
        ),
    )


def best_price(
    seat: Seat, item: int, lot: Lot, said: Row, rows: slice, tried: Candidates
) -> tuple[int, NDArray[np.int64]]:
    """The price that brings most on average over some rows; 0 where none beats not selling.

    With it comes what would be asked for at it, per row, as far as it is held.

    Args:
        seat: Who asks it.
        item: Position of the item.
        lot: What is held of it.
        said: Similarities of the slogan.
        rows: The redraws.
        tried: From `candidates`.
    """
    prices = tried.prices
    nothing: NDArray[np.int64] = np.zeros(len(lot.stocks[rows]), np.int64)
    if not lot.held or not len(prices):
        return 0, nothing
    asked = seat.curve(item, prices, lot.stocks, said, rows)
    served = np.minimum(asked, lot.held)
    units = served.sum(axis=0)
    gains = (prices - lot.rest) * units
    place = int(gains.argmax())
    best, price, sales = float(gains[place]), int(prices[place]), served[:, place]
    for tie, below in tried.ties:
        # One tick below a rival nobody who would buy here is lost: what sells there is a bound.
        if tie <= lot.rest or (below is not None and (tie - lot.rest) * units[below] <= best):
            continue
        sold = seat.sold(item, tie, lot.held, lot.stocks, said, rows)
        gain = float((tie - lot.rest) * sold.sum())
        if gain > best:
            best, price, sales = gain, tie, sold
    return (price, sales) if best > 0 else (0, nothing)
