"""The planner at work."""

from __future__ import annotations

import subprocess
import sys

import pytest

from market.play import Played
from market.registry import environment_kind
from market.testing import policy_test
from market.vending.policies.planner import Planner
from tests.market.vending.operations import PUNCTUAL, SMALL, Game, paper, playing

TOLD = {"informed": ["a", "b"]}


def test_it_keeps_what_is_asked_of_every_policy() -> None:
    kind = environment_kind("vending")
    policy_test(Planner, kind, {**SMALL, **TOLD, "days": 12}, ("a", "b"), seed=0)


def test_it_says_what_is_missing_where_it_is_told_nothing() -> None:
    with pytest.raises(ValueError, match=r"rules\.informed must name a"):
        Planner("a", 0).act(Game().decision)


@pytest.fixture(scope="module")
def forty_days() -> Played:
    of = paper(days=40, **TOLD, **PUNCTUAL)
    return playing(of, {"a": Planner("a", 0).act}, events=True)


def test_machines_are_empty_only_until_the_first_delivery(forty_days: Played) -> None:
    metrics = forty_days.environment.result.seats["a"].metrics
    assert metrics["empty_machine_days"] == 3 / 40


def test_its_prices_leave_next_to_no_regret_and_its_products_are_nearly_the_best(
    forty_days: Played,
) -> None:
    metrics = forty_days.environment.result.seats["a"].metrics
    assert metrics["pricing_regret"] < 0.1
    assert metrics["assortment"] > 0.75


def test_machines_are_visited_every_few_days_until_the_end_is_near(forty_days: Played) -> None:
    visits = [row.step for row in forty_days.rows("visits")]
    assert 3 < 20 * 36 / sum(step > 4 for step in visits) < 10
    assert sum(step >= 39 for step in visits) <= 5


def test_it_is_refused_nothing_and_fined_nothing() -> None:
    bread = {"bread": {"shelf_life": 9, "reference": {"kind": "uniform", "low": 2, "high": 5}}}
    of = paper(days=25, subcategories=bread, **TOLD)
    played = playing(of, {"a": Planner("a", 0).act}, events=True)
    metrics = played.environment.result.seats["a"].metrics
    assert played.rows("expired")
    assert metrics["rejected"] == metrics["fines"] == 0


def test_its_module_is_light_to_import() -> None:
    code = (
        "import sys, market.vending.policies.planner, market.vending.policies.rule_based;"
        "assert not {'numpy', 'pydantic', 'scipy'} & sys.modules.keys()"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
