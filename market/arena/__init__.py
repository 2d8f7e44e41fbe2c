"""The arena: retailers bid for scarce stock, then post prices and a slogan; buyers choose.

Modelled on Market-Bench (arXiv 2604.05523). One step of the episode:

    procurement.py   the supplier offers; sealed bids in rounds, of which the last settles
    storefront.py    prices and a slogan are read
    retail side      buyers.py are drawn, attention.py picks whom they consider, retail.py settles
    books.py         funds and stock at average cost, against a ledger; settlement.py writes them
    record.py        the step as it is shown, counted and written down as rows
    metrics.py       what a retailer is judged by; indices.py and bounds.py for the whole market

`arena.py` is the environment that drives them, `rules.py` its configuration. Off unless they are
turned on: uncertain offers (supply.py), buyers who return and remember (regulars.py), prompts in
other languages (phrases.py, languages/), linked markets (linked.py, shipping.py, locality.py),
entry and exit (presence.py) and owners of several seats (seating.py).
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
    bounds="market.arena.limits:limits",
    metrics=(
        "profit",
        "net_profit_margin",
        "risk_adjusted_return",
        "fill_rate",
        "stockout_rate",
        "bid_efficiency",
        "inventory_efficiency",
        "order_stability",
        "mean_match",
        "bid_efficiency_by_value",
    ),
    indices=(
        "gini_net_worth",
        "hhi_revenue",
        "cr4_net_worth",
        "active_sold",
        "gross_margin",
        "net_margin",
        "price_dispersion",
        "slogan_convergence",
        "allocative_efficiency",
    ),
    references="market.arena.rivalry:ends",
)
