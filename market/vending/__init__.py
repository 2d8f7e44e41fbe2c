"""Vending operations: machines, a warehouse, lead times, paid visits, expiry and hidden demand.

Modelled on AutoVend (arXiv 2610.36980). One day of the episode:

    operator.py    the business of one seat, its mornings and evenings
    mutations.py   what it can do, item by item; views.py what it can look at
    tools.py       the tools with their schemas; report.py what is told each morning
    record.py      a day's shelves as rows of tables; metrics.py running sums of the same
    demand.py      the mean sales of every product on a shelf, sales.py the luck
    accounts.py    money and units against a ledger
    prompts.py     all of it in words: telling.py what is seen, tabular.py tables, examples.py calls

`vending.py` is the environment that drives them, `rules.py` its configuration, `world.py`,
`catalogue.py` and `calendar.py` what is drawn before the first day, `fitted.py` a world that is
given. `choices.py` holds what was chosen against the best, `bound.py` what could be had, `pages.py`
shows it, and `calibration` fits worlds to real sales.
"""

from __future__ import annotations

from market.registry import EnvironmentKind
from market.vending.policies import POLICIES

ENVIRONMENT = EnvironmentKind(
    name="vending",
    rules_version=2,
    rules="market.vending.rules:VendingRules",
    environment="market.vending.vending:Vending",
    policies=POLICIES,
    prompts="market.vending.prompts:VendingPrompts",
    events="market.vending.events:EVENTS",
    bounds="market.vending.limits:limits",
    metrics=(
        "net_assets",
        "asset_growth",
        "assortment",
        "pricing_regret",
        "reassignment_gap",
        "visit_cycle_contribution",
        "waste_rate",
        "shelf_utilisation",
        "capital_efficiency",
        "empty_machine_days",
        "units_sold",
        "visits",
        "fines",
        "tool_calls",
        "rejected",
        "growth_early",
        "growth_late",
    ),
    indices=("units_sold",),
    pages="market.vending.pages:sections",
    gain="asset_growth",
    variables="market.vending.world:variables",
    facts=False,
)
