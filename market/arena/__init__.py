"""The arena: retailers bid for scarce stock, then post prices and a slogan; buyers choose.

Modelled on Market-Bench (arXiv 2604.05523). One step of the episode:

    procurement.py   the supplier offers; sealed bids in rounds, of which the last settles
    storefront.py    prices and a slogan are read
    retail side      buyers.py are drawn, attention.py picks whom they consider, retail.py settles
    books.py         funds and stock at average cost, against a ledger
    metrics.py       what a retailer is judged by; indices.py and bounds.py for the whole market

`arena.py` is the environment that drives them, `rules.py` its configuration.
"""

from __future__ import annotations

from market.arena.policies import POLICIES
from market.registry import EnvironmentKind

ENVIRONMENT = EnvironmentKind(
    name="arena",
    rules_version=1,
    rules="market.arena.rules:ArenaRules",
    environment="market.arena.arena:Arena",
    policies=POLICIES,
    prompts="market.arena.prompts:ArenaPrompts",
    events="market.arena.events:EVENTS",
)
