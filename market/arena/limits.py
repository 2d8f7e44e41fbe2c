"""Floor and bounds of a recorded market, seat by seat (`market.study.yardsticks`)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields

from market.arena.events import Bid
from market.arena.references import seat_bounds
from market.arena.rules import ArenaRules
from market.study.yardsticks import Rows, Yardsticks


def limits(rules: ArenaRules, seats: Sequence[str], seed: int, rows: Rows) -> Yardsticks:
    """What each seat could have had at least and at most.

    Doing nothing earns nothing, or loses the fixed costs as far as there are funds to pay them.

    Args:
        rules: The market.
        seats: Who played.
        seed: Its luck.
        rows: Its tables.
    """
    floor = float(-min(rules.funds(len(seats)), rules.fixed_cost * rules.steps))
    if rules.retail != "market":
        return Yardsticks(floor, {}, "stock is redeemed at private values, which no price bounds")
    if rules.markets is not None:
        return Yardsticks(floor, {}, "goods can be moved between markets, which no bound knows of")
    names = [field.name for field in fields(Bid)]
    bids = [Bid(**{name: row[name] for name in names}) for row in rows("bids")]
    bounds = seat_bounds(rules, seed, bids)
    if bounds is None:
        return Yardsticks(floor, {}, "neither buyers nor a cap limit a price")
    return Yardsticks(floor, bounds, "it never bid")
