"""Designs in which retailers of the pool play seats that are not called after them."""

from __future__ import annotations

from typing import Any

import pytest

from market.config import Config, ConfigError, configure, expand, recorded, resolved

POOL = [
    {"name": "ref", "policy": "idle", "budget": {"tokens": 5}},
    {"name": "new", "policy": "random"},
    {"name": "b", "policy": "idle", "count": 3},
]


def lemonade(*rosters: Any, seeds: int = 2) -> Config:
    return configure(
        {
            "environment": "tests.lemonade:ENVIRONMENT",
            "retailers": POOL,
            "tournament": {"rosters": list(rosters), "seeds": seeds},
        }
    )


def test_a_seat_is_played_by_another_retailer_and_everything_else_stays() -> None:
    design = {"design": "replacement", "reference": "ref", "candidates": ["new"], "size": 3}
    first, second = expand(lemonade({**design, "among": ["b"]}, seeds=1))
    assert (first.roster, first.design) == ("ref-among-2-no-1", "replacement")
    old, new = recorded(first.config), recorded(second.config)
    assert [entry["name"] for entry in old["retailers"]] == ["seat-1", "seat-2", "seat-3"]
    assert [entry["policy"] for entry in old["retailers"]] == ["idle", "idle", "idle"]
    assert (new["retailers"][0]["name"], new["retailers"][0]["policy"]) == ("seat-1", "random")
    assert {**new, "retailers": new["retailers"][1:]} == {**old, "retailers": old["retailers"][1:]}


def test_budgets_and_results_go_by_the_retailer_and_the_record_by_the_seat() -> None:
    (first, *_) = expand(lemonade("latin", seeds=1))
    seat = first.config.retailers[0]
    assert (seat.name, seat.retailer, seat.budget.tokens) == ("seat-1", "ref", 5)
    assert "plays" not in recorded(first.config)["retailers"][0]


def test_every_plan_with_neutral_seats_is_a_configuration() -> None:
    subsets = {"design": "subsets", "size": 2, "count": 3, "rotate": True}
    config = lemonade("latin", subsets, {"design": "replacement", "reference": "ref"})
    assert expand(configure(resolved(config))) == expand(config)
    for plan in expand(config):
        assert configure(resolved(plan.config)) == plan.config


def test_models_are_interleaved_in_time() -> None:
    """Nobody plays a second seed before everybody has played the first."""
    plans = expand(lemonade("latin", "self-play", {"design": "replacement", "reference": "ref"}))
    seeds = [plan.seed for plan in plans]
    assert seeds == sorted(seeds)
    rosters = [plan.roster for plan in plans]
    half = len(plans) // 2
    assert rosters[:half] == rosters[half:]
    assert len(set(rosters)) == half


@pytest.mark.parametrize(
    ("design", "told"),
    [
        ({"design": "replacement"}, "reference: the design `replacement` needs it"),
        ({"design": "replacement", "reference": "x"}, "there is no retailer `x`"),
        ({"design": "latin", "size": 3}, "size: the design `latin` does not take it"),
        ({"design": "self-play", "rotate": True}, "rotate: the design `self-play`"),
        (
            {"design": "replacement", "reference": "ref", "size": 9},
            "a subset of 8 cannot be drawn from 5",
        ),
    ],
)
def test_a_design_that_cannot_be_is_refused(design: dict[str, Any], told: str) -> None:
    with pytest.raises(ConfigError) as raised:
        lemonade(design)
    assert told in str(raised.value).replace("`tournament.rosters.0.", "").replace("`:", ":")
