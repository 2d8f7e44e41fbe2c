"""CNY in configurations, tools and results; whole fen, hundredths of a CNY, in the books."""

from __future__ import annotations

from decimal import Decimal
from functools import lru_cache


class AmountError(ValueError):
    """An amount of money with more than two decimals."""


@lru_cache(maxsize=4096, typed=True)
def fen(cny: float) -> int:
    """A finite amount of CNY as fen.

    Raises:
        AmountError: If it has more than two decimals as written.
    """
    hundredths = Decimal(repr(cny)).scaleb(2)
    whole = int(hundredths)
    if whole != hundredths:
        raise AmountError("money has at most two decimals")
    return whole


def cny(fen: int) -> float:
    """An amount of fen as CNY: the nearest float, whose shortest spelling has two decimals."""
    return fen / 100
