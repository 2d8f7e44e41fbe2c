"""Figures that a market has besides `indices` where it has owners, linked markets or entry.

Shares of the market are put together by owner: the concentration of whoever decides, beside that of
shops (`hhi_owners_revenue` beside `hhi_revenue`). A market without the extension has none of its
figures.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import fsum

from market.arena.indices import ItemStep, MarketStep, Row, concentration
from market.arena.linked import Roads, price_gap
from market.arena.seating import shares


def owner_figures(
    owned: Mapping[str, Sequence[str]], seats: Sequence[str], step: MarketStep
) -> Row:
    """Concentration of revenue and net worth over owners; a seat that is nobody's is its own.

    Args:
        owned: The seats of each owner.
        seats: All seats, in the order of the step's arrays.
        step: The step.
    """
    found: Row = {}
    for name, values in (("revenue", step.revenue), ("net_worth", step.net_worth)):
        together = shares(owned, dict(zip(seats, values, strict=True)))
        found |= concentration(together, f"_owners_{name}")
    return found


def gaps(roads: Roads, items: Sequence[ItemStep]) -> Row:
    """The price gap of each good (`linked.price_gap`)."""
    revenue = [sum(pair.revenue) for pair in items]
    return dict(price_gap(roads, revenue, [sum(pair.sold) for pair in items]))


def gap(roads: Roads, items: Sequence[ItemStep]) -> float | None:
    """The mean price gap of goods that have one; None where no good has."""
    known = [value for value in gaps(roads, items).values() if value is not None]
    return fsum(known) / len(known) if known else None


def market_figures(roads: Roads, items: Sequence[ItemStep]) -> dict[str, Row]:
    """Figures of each of several linked markets over all goods, by `@` and its name.

    `sellers` are the retailers with a price there, `paid` is the mean multiple of its base prices
    that was paid, weighted by value at base price.
    """
    rows = {}
    for place, name in enumerate(roads.markets):
        pairs = items[place :: len(roads.markets)]
        revenue = [sum(money) for money in zip(*(pair.revenue for pair in pairs), strict=True)]
        asked = zip(*(pair.prices for pair in pairs), strict=True)
        value = sum(sum(pair.sold) * pair.base for pair in pairs)
        rows[f"@{name}"] = {
            **concentration(revenue, "_revenue"),
            "sellers": sum(any(price is not None for price in prices) for prices in asked),
            "sold": sum(sum(pair.sold) for pair in pairs),
            "paid": sum(revenue) / value if value else None,
        }
    return rows
