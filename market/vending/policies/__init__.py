"""The vending operation's scripted policies, by the names that configurations use.

Each is one module, which a retailer's process imports alone. They use the tools that any agent has.
"""

from __future__ import annotations

from collections.abc import Mapping

_HERE = "market.vending.policies"

POLICIES: Mapping[str, str] = {
    "planner": f"{_HERE}.planner:Planner",
    "random": f"{_HERE}.random:Random",
    "rule-based": f"{_HERE}.rule_based:RuleBased",
}
