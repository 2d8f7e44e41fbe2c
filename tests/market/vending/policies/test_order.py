"""Who earns more than whom on the published world."""

from __future__ import annotations

import pytest

from benchmarks.vending_policies import POLICIES, worlds


@pytest.mark.slow
def test_idle_rule_based_planner_and_bound_are_in_this_order() -> None:
    found = worlds(range(3), days=60)
    for world in found:
        assert world["idle"] == 40_000 - 60 * 80
        assert world["planner"] < world["bound"]
    assert {*POLICIES, "bound"} == found[0].keys()
    assert all(world["planner"] > world["rule-based"] + 20_000 for world in found)
    gained = sum(world["rule-based"] - world["idle"] for world in found)
    assert gained > 0
