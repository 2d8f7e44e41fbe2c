"""Ids of the seats that a roster fills.

Luck belongs to the id and not to the position, so ids are made from names alone: a roster that
drops an entry leaves every other id, and with it every other seat's luck, as it was.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from market.environment import OUTSIDE, Json


def seat_ids(retailers: Sequence[Mapping[str, Json]]) -> tuple[str, ...]:
    """The seats of a roster in its order: `name` for one retailer, `name-01` to `name-12` for 12.

    Args:
        retailers: Entries with a `name` and, where it is not 1, a `count`.

    Raises:
        ValueError: If a count is below 1, two seats have one id or an id is reserved.
    """
    ids: list[str] = []
    for entry in retailers:
        name, count = str(entry["name"]), int(entry.get("count", 1))
        if count < 1:
            raise ValueError(f"retailer `{name}` has a count of {count}; leave it out instead")
        width = len(str(count))
        ids += [name] if count == 1 else [f"{name}-{i:0{width}}" for i in range(1, count + 1)]
    taken = {OUTSIDE}
    for seat in ids:
        if seat in taken:
            raise ValueError(f"the seat `{seat}` is taken; give the retailer another name")
        taken.add(seat)
    return tuple(ids)
