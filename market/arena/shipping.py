"""Goods moved between linked markets: what a retailer asks for, line by line, and why it is void.

    {"ship": [{"item": "item1", "from": "north", "to": "south", "quantity": 5}], ...}

A selling answer may carry such lines. They are carried out in the stated order before its prices
are read, at once and at the fee of the item per unit. As with bids, a line stands as it is written
or is void, with a reason. The fee is part of what the goods cost, as freight is.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from enum import StrEnum
from typing import Any, NamedTuple

from market.arena.auction import NAME_KEPT, whole
from market.arena.books import Books
from market.arena.linked import Roads


class ShipReason(StrEnum):
    """Why a shipment is void."""

    UNKNOWN_ITEM = "unknown item"
    UNKNOWN_MARKET = "unknown market"
    SAME_MARKET = "same market"
    NOT_POSITIVE = "not positive"
    NOT_HELD = "not held"
    OVER_BUDGET = "over budget"


class Shipment(NamedTuple):
    """One line, as written and as judged.

    Attributes:
        item: The good, cut at 64 characters.
        source: The market it is taken from, cut likewise.
        target: The market it is brought to, cut likewise.
        quantity: Units as written.
        fee: Money paid; 0 for a void line.
        reason: Why it is void; None when it was carried out.
    """

    item: str
    source: str
    target: str
    quantity: int
    fee: int
    reason: ShipReason | None


def ship(
    books: Books, seat: str, stated: Sequence[Mapping[str, Any]], roads: Roads
) -> tuple[Shipment, ...]:
    """Carry out the lines of a retailer that stand, and book them.

    Args:
        books: The books, which change.
        seat: The retailer.
        stated: Objects with `item`, `from`, `to` and `quantity`, of the decision's form.
        roads: The markets.

    Returns:
        One judged line per stated line, in the same order.
    """
    lines = []
    for line in stated:
        item, source, target = line["item"], line["from"], line["to"]
        quantity, fee = whole(line["quantity"]), 0
        reason = _fault(books, seat, (item, source, target, quantity), roads)
        if reason is None:
            fee = quantity * roads.fee(item)
            places = roads.position(item, source), roads.position(item, target)
            books.ship(seat, *places, quantity, fee)
        item, source, target = item[:NAME_KEPT], source[:NAME_KEPT], target[:NAME_KEPT]
        lines.append(Shipment(item, source, target, quantity, fee, reason))
    return tuple(lines)


def _fault(
    books: Books, seat: str, line: tuple[str, str, str, int], roads: Roads
) -> ShipReason | None:
    item, source, target, quantity = line
    if item not in roads.items:
        return ShipReason.UNKNOWN_ITEM
    if source not in roads.markets or target not in roads.markets:
        return ShipReason.UNKNOWN_MARKET
    if source == target:
        return ShipReason.SAME_MARKET
    if quantity <= 0:
        return ShipReason.NOT_POSITIVE
    account = books.accounts[seat]
    if quantity > account.units[roads.position(item, source)]:
        return ShipReason.NOT_HELD
    if quantity * roads.fee(item) > account.funds:
        return ShipReason.OVER_BUDGET
    return None
