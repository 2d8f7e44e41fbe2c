"""Bids as written and as they stand in a small auction of two items, and its clearing."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from market.arena.auction import Clearing, ItemTerms, Line, Terms, clear, judge

ITEMS = {"a": ItemTerms(10, 40), "b": ItemTerms(20)}


def terms(**changes) -> Terms:
    return Terms(**{"items": ITEMS, "lines_per_item": 3} | changes)


def written(*lines: tuple[str, int, int]) -> list[dict]:
    return [{"item": item, "quantity": units, "price": price} for item, units, price in lines]


def judged(lines: Sequence[tuple[str, int, int]], funds: int = 10**6, **changes):
    """What stands of each line, and why not more."""
    return [(line.stands, line.reason) for line in judge(written(*lines), terms(**changes), funds)]


def standing(*lines: tuple[int, int], item: str = "a") -> tuple[Line, ...]:
    return tuple(Line(item, units, price, units) for units, price in lines)


def first_comes(*seats: str):
    """Luck that favours seats in this order, whatever the item."""
    return lambda _item, seat: seats.index(seat)


def cleared(
    bids: Mapping[str, Sequence[Line]], supply: int, *, order: str = "xyz", **changes
) -> Clearing:
    return clear(bids, {"a": supply}, terms(**changes), first_comes(*order))


def units(clearing: Clearing) -> dict[str, list[int]]:
    return {seat: [award.units for award in won] for seat, won in clearing.awards.items()}
