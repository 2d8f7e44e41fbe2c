"""Linked markets: the same goods in several places, with goods moved between them at a cost.

A good in a market is a thing of its own, called `item1@north`. It has its own offer, auction, base
price, cap and stock, and all that is done item by item is done pair by pair: `apart` makes the
rules of the pairs from the rules as they are written, and nothing else knows of the difference but
the buyers, who live in one market and buy there, and the shipments (`shipping`).

Buyers are those of the market without links, drawn from the whole supply; where each lives is one
draw more. A retailer has one slogan, read in every market. Whom a buyer considers is drawn from the
retailers with a valid price in the buyer's own market, with the times that belong to buyer and
retailer wherever they are.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from market.arena.fields import Model, PositiveFactor, Share, exact, round_half_up

if TYPE_CHECKING:
    from market.arena.rules import ArenaRules, Item

#: Stands between a good and its market.
AT = "@"
#: Longest name of a pair, in characters: as of an item.
MOST_NAME = 64


class LinkedMarket(Model):
    """One of several linked markets."""

    supply: Share
    """Share of every item's supply that is offered there (half up, one unit at least)."""
    buyers: Share
    """Chance that a buyer lives there; all chances add up to 1."""
    base: PositiveFactor = 1.0
    """Base prices there, in multiples of those of `items` (half up)."""


@dataclass(frozen=True, slots=True)
class Roads:
    """The markets of an episode and the ways between them.

    Attributes:
        items: The goods, by the names that they have in the rules as written.
        markets: The markets.
        bases: Base price of each good as written, whole money.
        fees: What it costs to move a unit of each good, whole money.
    """

    items: tuple[str, ...]
    markets: tuple[str, ...]
    bases: tuple[int, ...]
    fees: tuple[int, ...]

    def position(self, item: str, market: str) -> int:
        """Where a good in a market stands among the pairs."""
        return self.items.index(item) * len(self.markets) + self.markets.index(market)

    def fee(self, item: str) -> int:
        """Cost of moving a unit."""
        return self.fees[self.items.index(item)]


def roads(rules: ArenaRules) -> Roads | None:
    """The markets of rules as written; None where there is one market."""
    if rules.markets is None:
        return None
    return Roads(
        items=tuple(item.item for item in rules.items),
        markets=tuple(rules.markets),
        bases=tuple(item.base for item in rules.items),
        fees=tuple(round_half_up(item.base * exact(rules.transport)) for item in rules.items),
    )


def goods(rules: ArenaRules) -> tuple[Item, ...]:
    """What is bid for and sold: every item in every market, or the items themselves."""
    if rules.markets is None:
        return rules.items
    return tuple(
        item.model_copy(
            update={
                "item": f"{item.item}{AT}{name}",
                "quantity": max(1, round_half_up(rules.quantity(item) * exact(market.supply))),
                "base": max(1, round_half_up(item.base * exact(market.base))),
            }
        )
        for item in rules.items
        for name, market in rules.markets.items()
    )


def homes(rules: ArenaRules) -> list[float]:
    """Chance of each market that a buyer lives there."""
    return [market.buyers for market in (rules.markets or {}).values()]


def apart(rules: ArenaRules) -> ArenaRules:
    """The rules of one market whose items are the pairs; the same rules where there is one."""
    if rules.markets is None:
        return rules
    alone = {"items": goods(rules), "supply_scale": 1.0, "markets": None}
    return rules.model_copy(update=alone)


def check(rules: ArenaRules) -> None:
    """Hold what the rules say of markets against the rest of them.

    Raises:
        ValueError: If they do not go together.
    """
    markets = rules.markets
    if markets is None:
        if rules.transport:
            raise ValueError("transport: goods are moved between `markets`, and there are none")
        return
    if len(markets) < 2:
        raise ValueError("markets: a link has two ends; give two markets or more, or null for one")
    for share in ("supply", "buyers"):
        total = sum(getattr(market, share) for market in markets.values())
        if abs(total - 1) > 1e-9:
            raise ValueError(f"markets: the shares of {share} add up to {total:.6g}, not to 1")
    if rules.retail != "market":
        raise ValueError("markets: stock that is redeemed has no market; take `retail: market`")
    if rules.buyer_memory is not None:
        raise ValueError("markets: buyers of linked markets do not remember; drop `buyer_memory`")
    for item in rules.items:
        for market in markets:
            if AT in item.item or AT in market:
                raise ValueError(f"markets: `{AT}` joins an item and a market, and is in no name")
            if len(item.item) + len(AT) + len(market) > MOST_NAME:
                raise ValueError(
                    f"markets: `{item.item}{AT}{market}` is longer than {MOST_NAME} characters"
                )


def price_gap(roads: Roads, revenue: Sequence[int], sold: Sequence[int]) -> dict[str, float | None]:
    """By good, how far what is paid for it lies apart: highest less lowest mean price of a market.

    In multiples of the base price as written. None where fewer than two markets sold it.

    Args:
        roads: The markets.
        revenue: Money taken, by pair.
        sold: Units sold, by pair.
    """
    gaps: dict[str, float | None] = {}
    for index, (item, base) in enumerate(zip(roads.items, roads.bases, strict=True)):
        span = range(index * len(roads.markets), (index + 1) * len(roads.markets))
        paid = [revenue[pair] / sold[pair] for pair in span if sold[pair]]
        gaps[item] = (max(paid) - min(paid)) / base if len(paid) > 1 else None
    return gaps


def told(roads: Roads) -> Mapping[str, object]:
    """What the rules tell retailers of it."""
    return {
        "markets": list(roads.markets),
        "transport": dict(zip(roads.items, roads.fees, strict=True)),
    }
