"""Ids of the seats that a roster fills.

Luck belongs to the id and not to the position, so ids are made from names alone: a roster that
drops an entry leaves every other id, and with it every other seat's luck, as it was. The same
holds for a seat that is dropped from an entry of several: it leaves a gap in the numbers.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from market.environment import OUTSIDE, Json


def seat_ids(retailers: Sequence[Mapping[str, Json]]) -> tuple[str, ...]:
    """The seats of a roster in its order.

    Args:
        retailers: Entries with a `name` and, where they are not 1 and empty, `count` and `without`.

    Raises:
        ValueError: If an entry fills no seat, two seats have one id or an id is reserved.
    """
    ids = [seat for entry in retailers for seat in entry_seats(entry)]
    taken = {OUTSIDE}
    for seat in ids:
        if seat in taken:
            raise ValueError(f"the seat `{seat}` is taken; give the retailer another name")
        taken.add(seat)
    return tuple(ids)


def entry_seats(entry: Mapping[str, Json]) -> tuple[str, ...]:
    """The seats of one entry: `name` for one, else `name-01` to `name-12`, less those without.

    Raises:
        ValueError: If the count is below 1, no seat is left or one that is not there is left out.
    """
    name, count = str(entry["name"]), int(entry.get("count", 1))
    without = {int(number) for number in entry.get("without", ())}
    if count < 1:
        raise ValueError(f"retailer `{name}` has a count of {count}; leave it out instead")
    if odd := sorted(without - set(range(1, count + 1))):
        raise ValueError(f"retailer `{name}` has no seat {odd[0]} to go without")
    if len(without) == count:
        raise ValueError(f"retailer `{name}` goes without all its seats; leave it out instead")
    return tuple(numbered(name, count, i) for i in range(1, count + 1) if i not in without)


def numbered(name: str, count: int, number: int) -> str:
    """The id of one seat of an entry, its number from 1."""
    return name if count == 1 else f"{name}-{number:0{len(str(count))}}"


def belongs(seat: str, name: str) -> bool:
    """Whether a seat is the one of a name, or one of several seats of the entry of that name."""
    entry, _, number = seat.rpartition("-")
    return seat == name or (entry == name and number.isdecimal())
