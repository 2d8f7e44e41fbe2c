"""How far a change of cost reaches the price.

*Pass-through* is the least-squares slope, with an intercept, of the change of a price on the change
of the average cost of the units behind it, both in multiples of base, from one step to the next in
which the same seat prices the same item. It is 1 where a rise in cost is added to the price, 1 + m
for a fixed mark-up of m on cost, and 0 where prices do not heed costs.

Read are the tables `bids` and `offers`, with the arena's columns; an environment without them has
no lines. The average cost when retail opens is rebuilt from what was paid, held and sold. Where the
units do not add up, since stock was sold to pay costs, no cost is known until all is sold once.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any, NamedTuple

from market.study.estimands.finding import Finding, over_seeds
from market.study.estimands.games import mean, setting

if TYPE_CHECKING:
    import pandas as pd

    from market.study.recording import Run

#: Everybody together, as a retailer; none can be called so.
EVERYBODY = "*"

#: Change of cost and change of price.
Point = tuple[float, float]
#: Episode, seat and item.
Shelf = tuple[str, str, str]

_KEYS = ("episode", "seat", "item", "step")


@dataclass(frozen=True, slots=True)
class Price:
    """A price that was asked: step, base price, price, and average cost per unit, in money."""

    step: int
    base: int
    price: int
    cost: float


class _Posted(NamedTuple):
    """A row of the table `offers`."""

    base: int
    price: int
    stock: int
    sold: int
    cost: int


def pass_through(run: Run, episodes: Iterable[str]) -> Iterator[Finding]:
    """The slope of price changes on cost changes, of each retailer, and as `*` of all together.

    Args:
        run: The recording.
        episodes: Ids of the episodes that count.
    """
    if not {"offers", "bids"} <= set(run.tables):
        return
    counted = set(episodes)
    bids = run.table("bids", [*_KEYS, "settling", "awarded", "paid"])
    offers = run.table("offers", [*_KEYS, *_Posted._fields])
    points: dict[tuple[str | None, str, str], dict[int, list[Point]]] = {}
    for (episode, seat, _), line in prices(bids, offers).items():
        if episode not in counted:
            continue
        seating = run.seatings[episode]
        for name in (EVERYBODY, seating.names[seat]):
            by_seed = points.setdefault((seating.preset, seating.design, name), {})
            by_seed.setdefault(seating.seed, []).extend(changes(line))
    for (preset, design, name), by_seed in points.items():
        slopes = [value for own in by_seed.values() if (value := slope(own)) is not None]
        spare = len(by_seed) - len(slopes)
        yield Finding(
            "pass-through", "slope of price on cost", "",
            {**setting(preset, design), "retailer": name},
            over_seeds(slopes, "costs changed in no seed"), "money per money",
            "Change of price per change of average unit cost, both in multiples of base."
            + (f" No cost changed in {spare} of {len(by_seed)} seeds." if spare else ""),
        )  # fmt: skip


def prices(bids: pd.DataFrame, offers: pd.DataFrame) -> dict[Shelf, list[Price]]:
    """The prices asked, in order of steps, with average unit costs where they are known."""
    won: dict[Shelf, dict[int, tuple[int, int]]] = {}
    settled = bids[bids["settling"].astype(bool) & (bids["awarded"] > 0)]
    for episode, seat, item, step, awarded, paid in _rows(settled, *_KEYS, "awarded", "paid"):
        steps = won.setdefault((episode, seat, item), {})
        units, money = steps.get(step, (0, 0))
        steps[step] = units + awarded, money + paid
    posted: dict[Shelf, dict[int, _Posted]] = {}
    for episode, seat, item, step, *row in _rows(offers, *_KEYS, *_Posted._fields):
        posted.setdefault((episode, seat, item), {})[step] = _Posted(*row)
    return {shelf: list(_costed(won.get(shelf, {}), own)) for shelf, own in posted.items()}


def changes(line: Sequence[Price]) -> list[Point]:
    """Changes of (cost, price) between successive steps, in multiples of base."""
    return [
        ((new.cost - old.cost) / new.base, (new.price - old.price) / new.base)
        for old, new in pairwise(line)
        if new.step == old.step + 1
    ]


def slope(points: Sequence[Point]) -> float | None:
    """The least-squares slope of the second on the first; None where the first is constant."""
    x, y = mean(cost for cost, _ in points), mean(price for _, price in points)
    if x is None or y is None:
        return None
    spread = sum((cost - x) ** 2 for cost, _ in points)
    together = sum((cost - x) * (price - y) for cost, price in points)
    # Costs that differ by rounding alone do not differ.
    return together / spread if spread > 1e-18 * len(points) else None


def _rows(frame: pd.DataFrame, *columns: str) -> Iterator[tuple[Any, ...]]:
    return zip(*(frame[column].tolist() for column in columns), strict=True)


def _costed(won: Mapping[int, tuple[int, int]], posted: Mapping[int, _Posted]) -> Iterator[Price]:
    """Follow the stock of one item and give each price the average cost behind it."""
    units = pool = 0
    known = True
    for step in sorted({*won, *posted}):
        bought, paid = won.get(step, (0, 0))
        units, pool = units + bought, pool + paid
        if step not in posted:
            continue
        row = posted[step]
        known = known and units == row.stock
        if known and units:
            yield Price(step, row.base, row.price, pool / units)
        units, pool = row.stock - row.sold, pool - row.cost
        if not units:
            pool, known = 0, True
