"""The rule-based operator at work."""

from __future__ import annotations

from collections import Counter

import pytest

from market.play import Played
from market.registry import environment_kind
from market.testing import policy_test
from market.vending.policies.rule_based import RuleBased
from tests.market.vending.operations import PUNCTUAL, SMALL, paper, playing


def test_it_keeps_what_is_asked_of_every_policy() -> None:
    kind = environment_kind("vending")
    policy_test(RuleBased, kind, {**SMALL, "days": 27}, ("a", "b"), seed=0)


@pytest.mark.parametrize("option", ["trials", "spread", "least"])
def test_options_without_sense_are_refused(option: str) -> None:
    with pytest.raises(ValueError, match="must be at least"):
        RuleBased("a", 0, **{option: -1})


@pytest.fixture(scope="module")
def seventy_days() -> tuple[RuleBased, Played]:
    policy = RuleBased("a", 1)
    return policy, playing(paper(days=70), {"a": policy.act}, events=True)


def test_it_visits_weekly_and_orders_in_time_for_a_late_delivery(
    seventy_days: tuple[RuleBased, Played],
) -> None:
    _, played = seventy_days
    rounds = set(range(4, 68, 7))
    visits = Counter(row.step for row in played.rows("visits"))
    assert {step for step, machines in visits.items() if machines == 20} == rounds
    # Promised after 3 days and 2 days late, what is ordered on day 13 is there for day 18.
    ordered = {row.step for row in played.rows("orders")}
    assert {1, 13, 20, 27} <= ordered
    assert {step % 7 for step in ordered - {1}} == {13 % 7}


def test_it_stays_within_its_calls_and_its_cash_and_never_sells_what_has_expired(
    seventy_days: tuple[RuleBased, Played],
) -> None:
    _, played = seventy_days
    assert not [row.error for row in played.rows("tool_calls") if row.error]
    assert played.rows("expired")
    assert not played.rows("fines")
    metrics = played.environment.result.seats["a"].metrics
    assert metrics["rejected"] < metrics["units_sold"] / 50


def test_what_sells_comes_to_stand_in_more_machines(
    seventy_days: tuple[RuleBased, Played],
) -> None:
    environment = seventy_days[1].environment
    places = (environment.operators["a"].machines.prices > 0).sum(axis=0)
    popularity = environment.world.popularity
    assert popularity[places >= 8].mean() > 3 * popularity[places == 1].mean()


def test_it_tries_other_price_levels(seventy_days: tuple[RuleBased, Played]) -> None:
    policy, played = seventy_days
    assert len({row.step for row in played.rows("prices") if row.before}) >= 4
    assert len({trial.level for trial in policy._prices.values()}) > 1


def test_it_copes_with_few_calls() -> None:
    of = paper(days=20, calls_per_day=12)
    played = playing(of, {"a": RuleBased("a", 0).act})
    assert played.environment.result.seats["a"].metrics["fines"] == 0


def test_a_world_with_fewer_products_than_slots_is_no_trouble() -> None:
    of = paper(days=20, products=30, lead_time=PUNCTUAL["lead_time"])
    played = playing(of, {"a": RuleBased("a", 0).act})
    assert played.environment.result.seats["a"].metrics["units_sold"] > 0
