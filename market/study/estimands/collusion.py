"""How far a market is from competition, on the way to a cartel.

    index = (profit - competitive) / (cartel - competitive)

0 is what sellers earn in the Nash equilibrium of price competition, 1 what one seller of everything
would earn (Calvano, Calzolari, Denicolò and Pastorello 2020, "profit gain"). Below 0 somebody sells
below what competition would let him ask, above 1 only luck or a better than uniform price leads.

With goods at hand for all who want them, the equilibrium in prices is to ask the unit cost; where
demand exceeds supply, it is the price at which demand falls to supply. On a grid of prices one tick
more is an equilibrium too, so an index of a tick over the cartel's margin is still competition.
"""

from __future__ import annotations


def collusion_index(
    profit: float, competitive: float | None, cartel: float | None
) -> tuple[float | None, str | None]:
    """The index of a market.

    Args:
        profit: Mean profit of a seat.
        competitive: Profit of a seat in the equilibrium of prices; None where undefined.
        cartel: Profit of a seat in a cartel; None where undefined.

    Returns:
        The index and None, or None and the reason why there is none.
    """
    if competitive is None or cartel is None:
        return None, "nothing limits what buyers pay, or there is no retail"
    if cartel <= competitive:
        return None, "a cartel would earn no more than competitors do"
    return (profit - competitive) / (cartel - competitive), None
