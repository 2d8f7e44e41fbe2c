"""Floor and bounds of a recorded market, seat by seat (`market.study.yardsticks`)."""

from __future__ import annotations

from collections.abc import Sequence

from market.arena.references import Stood, bounds_of
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
    bids = rows("bids")
    bids = bids[bids["settling"].astype(bool)]
    # Of a line that was cut, what stood is at least what was awarded.
    units = bids["quantity"].where(bids["reason"].isna(), bids["awarded"])
    columns = bids["seat"], bids["step"], bids["item"], units, bids["price"]
    bounds = bounds_of(rules, seed, Stood(*(column.tolist() for column in columns)))
    if bounds is None:
        return Yardsticks(floor, {}, "neither buyers nor a cap limit a price")
    return Yardsticks(floor, bounds, "it never bid")
