"""Rules that contradict themselves are refused, and money has two decimals."""

from __future__ import annotations

from typing import Any

import pytest
from pydantic import ValidationError

from market.config import load
from market.vending.calendar import calendar
from market.vending.money import AmountError, cny, fen
from market.vending.rules import FORECAST, VendingRules
from tests.market.vending.operations import SMALL, paper


@pytest.mark.parametrize(
    ("amount", "whole"), [(0, 0), (35.0, 3500), (0.02, 2), (1.15, 115), (40_000, 4_000_000)]
)
def test_money_becomes_whole_fen_and_back(amount: float, whole: int) -> None:
    assert fen(amount) == whole
    assert cny(whole) == amount


@pytest.mark.parametrize("amount", [0.001, 1.005, 3.3333, 1e-9])
def test_more_than_two_decimals_are_refused(amount: float) -> None:
    with pytest.raises(AmountError):
        fen(amount)


def test_the_published_preset_is_what_the_paper_reports() -> None:
    rules = paper()
    assert (rules.days, rules.machines, rules.products) == (180, 20, 1_372)
    assert len(rules.sites) == 5
    assert len(rules.subcategories) == 18
    assert (rules.cash, rules.visit_fee, rules.fixed_fee, rules.fine) == (40_000, 35, 80, 1_000)
    assert {kind.shelf_life for kind in rules.subcategories.values()} == {30, 90}
    assert load("vending/paper").kind.name == "vending"


@pytest.mark.parametrize(
    ("changes", "where"),
    [
        ({"rent": 0.025}, "rent"),
        ({"cash": -1}, "cash"),
        ({"products": 2}, "products"),
        (
            {"lead_time": {"kind": "categorical", "values": [2.5], "probabilities": [1]}},
            "lead_time",
        ),
        ({"sites": {}}, "sites"),
        ({"weather": {"conditions": {"fog": {"probability": 0.5, "traffic": 1}}}}, "conditions"),
        ({"demand": {"dispersion": {"kind": "constant", "value": 1}}}, "above 1"),
        ({"demand": {"crowds": {"kind": "uniform", "low": -1, "high": 1}}}, "below 0"),
        ({"unknown": 1}, "unknown"),
        ({"country": "XX"}, "nobody keeps the public holidays of `XX`"),
        ({"country": "EU"}, "nobody keeps the public holidays of `EU`"),
        ({"start": "9999-12-30"}, "begin on 9999-12-15 at the latest"),
    ],
)
def test_a_mistake_is_refused_where_it_is(changes: dict[str, Any], where: str) -> None:
    with pytest.raises(ValidationError, match=where):
        VendingRules.model_validate({**SMALL, **changes})


@pytest.mark.parametrize("changes", [{"country": "DE"}, {"start": "9999-12-15"}])
def test_what_is_just_possible_can_be_played(changes: dict[str, Any]) -> None:
    rules = VendingRules.model_validate({**SMALL, **changes})
    assert len(calendar(rules, 0).days) == rules.days + FORECAST


def test_more_than_twenty_seats_of_one_episode_cannot_share_a_world() -> None:
    shared = VendingRules.model_validate({**SMALL, "operation": "shared"})
    seats = [f"s{i}" for i in range(21)]
    shared.refuse_roster(seats[1:])
    VendingRules.model_validate(SMALL).refuse_roster(seats)
    with pytest.raises(ValueError, match="operation: 21 seats share a world"):
        shared.refuse_roster(seats)
