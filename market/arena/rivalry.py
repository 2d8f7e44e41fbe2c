"""The ends between which rivalry puts a market: competition and a cartel, by name, for studies."""

from __future__ import annotations

from dataclasses import asdict

from market.arena.references import references
from market.arena.rules import ArenaRules


def ends(rules: ArenaRules, retailers: int) -> dict[str, float | None]:
    """Profit per retailer and episode under competition, in a cartel and at most.

    None each where there is no retail, since redeeming stock knows no price of sale, and where
    markets are linked.

    Args:
        rules: The market.
        retailers: How many share it.
    """
    found = asdict(references(rules, retailers))
    known = rules.retail == "market" and rules.markets is None
    return found if known else dict.fromkeys(found)
