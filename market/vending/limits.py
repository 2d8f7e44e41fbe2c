"""Floor and bounds of recorded operations, seat by seat (`market.study.yardsticks`)."""

from __future__ import annotations

from collections.abc import Sequence

from market.study.yardsticks import Rows, Yardsticks
from market.vending.bound import net_assets
from market.vending.rules import VendingRules


def limits(rules: VendingRules, seats: Sequence[str], seed: int, rows: Rows) -> Yardsticks:
    """What each seat could have had at least and, on average over worlds, at most.

    Doing nothing costs the fixed fee of every day. The bound is the same for all seats, since one
    that shares the world with others cannot expect more than alone.

    Args:
        rules: The rules.
        seats: Who played.
        seed: Its luck.
        rows: Its tables, which are not needed.
    """
    del rows
    floor = float(rules.cash - rules.fixed_fee * rules.days)
    bound = net_assets(rules, seed)
    return Yardsticks(floor, dict.fromkeys(seats, bound), "")
