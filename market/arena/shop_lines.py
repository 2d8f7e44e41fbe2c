"""Tells how the market stood: one line per retailer, oneself first, then by revenue.

All retailers of a step are told the same market, again in each later step, and only the first line
differs among them. So the lines of a market are spelled once in a process, and put in order for
each who is told them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from market.arena.phrases import words
from market.environment import Decision
from market.policies.untrusted import clean, number, quote

#: Characters shown of the name of an item or a retailer.
NAME_LIMIT = 40

#: Markets whose lines are kept.
KEPT = 32

_Object = Mapping[str, Any]


@dataclass(frozen=True, slots=True, eq=False)
class _Same:
    """A mapping that is compared by identity: what was shown is never changed."""

    mapping: _Object

    def __hash__(self) -> int:
        return id(self.mapping)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Same) and other.mapping is self.mapping


def shop_lines(after: Decision) -> list[str]:
    """One line per retailer of the last step, as a seat is told them.

    Args:
        after: A decision of the step after it, whose public view has a `market`.
    """
    own, observation = after.observation.private["name"], after.observation
    lines = _spelled(_Same(observation.public["market"]), _Same(observation.rules))
    if own not in lines:
        return list(lines.values())
    name, goods = clean(own, NAME_LIMIT), lines[own]
    you = words("told", observation.rules)("you")
    first = f"{name}{you}{goods[len(name) :]}"
    return [first, *(line for name, line in lines.items() if name != own)]


@lru_cache(maxsize=KEPT)
def _spelled(market: _Same, rules: _Same) -> Mapping[str, str]:
    """The lines of a market by retailer, in the order of revenue."""
    say = words("told", rules.mapping)
    known = {item["item"] for item in rules.mapping["items"]}
    rows = []
    for name, shop in market.mapping["retailers"].items():
        offers = {item: price for item, price in shop["prices"].items() if item in known}
        revenue = sum(price * shop["sold"].get(item, 0) for item, price in offers.items())
        goods = ", ".join(
            f"{item} {number(price)}/{shop['sold'].get(item, 0)}" for item, price in offers.items()
        )
        slogan = f" {quote(shop['slogan'])}" if shop["slogan"] else ""
        line = f"{clean(name, NAME_LIMIT)}: {goods or say('no_offer')}{slogan}"
        rows.append((-revenue, name, line))
    return {name: line for _, name, line in sorted(rows)}
