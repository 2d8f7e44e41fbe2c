"""Whom buyers consider where markets are linked: retailers with a price in the buyer's own market.

Attention is drawn market by market, from the retailers open there. Their times belong to buyer and
retailer, so a market draws as it would if it were alone with its retailers.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
from numpy.typing import NDArray

#: Runs of buyers, and who considers whom in them.
Runs = Iterator[tuple[slice, NDArray[np.bool_]]]


def considered_at_home(
    draw: Callable[[NDArray[np.intp]], Runs], offered: NDArray[np.bool_], home: NDArray[np.integer]
) -> Runs:
    """Draw the sets that buyers consider, a run of buyers at a time.

    Args:
        draw: Gives the sets of all buyers among some sellers, by their positions; in the same runs
            for any sellers.
        offered: Who has a price in which market, shape (markets, sellers).
        home: The market of each buyer, in order of arrival.

    Yields:
        As `attention.considered`: a run, and for it an array of shape (sellers, buyers of the run).
    """
    present = [np.flatnonzero(row) for row in offered]
    for parts in zip(*(draw(sellers) for sellers in present), strict=True):
        span = parts[0][0]
        seen = np.zeros((offered.shape[1], span.stop - span.start), np.bool_)
        for market, (sellers, (_, part)) in enumerate(zip(present, parts, strict=True)):
            seen[sellers] |= part & (home[span] == market)
        yield span, seen
