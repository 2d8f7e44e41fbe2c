"""Rolling demand: what machines teach each other."""

from __future__ import annotations

import pytest

from market.vending.policies.rolling import GUESS, KEPT, Rolling

TYPES = {"M01": "office", "M02": "office", "M03": "transit"}


def test_before_any_sale_every_product_is_expected_to_sell_the_same() -> None:
    rolling = Rolling(TYPES)
    assert rolling.at("M01", "A") == pytest.approx(rolling.anywhere("B"))
    assert rolling.at("M01", "A") == pytest.approx(GUESS)


def test_a_machines_own_sales_count_most_then_its_type_then_all() -> None:
    rolling = Rolling(TYPES)
    rolling.add("M01", "A", 9, sold_out=False)
    for machine in TYPES:
        rolling.add(machine, "B", 1, sold_out=False)
    own, same, other = (rolling.at(machine, "A") for machine in TYPES)
    assert 9 > own > same > other > rolling.at("M03", "C")


def test_the_rate_of_a_product_is_the_mean_of_the_posterior() -> None:
    rolling = Rolling(TYPES)
    rolling.add("M01", "A", 6, sold_out=False)
    # All: (6 + 0.5) / (1 + 1) = 3.25 expected; then (6 + 0.7) / (1 + 0.7 / 3.25).
    assert rolling.anywhere("A") == pytest.approx(6.7 / (1 + 0.7 / 3.25))


def test_much_evidence_outweighs_what_was_expected() -> None:
    rolling = Rolling(TYPES)
    for _ in range(200):
        rolling.add("M01", "A", 4, sold_out=False)
    assert rolling.at("M01", "A") == pytest.approx(4, rel=0.01)


def test_what_sold_out_would_have_sold_more() -> None:
    enough, short = Rolling(TYPES), Rolling(TYPES)
    enough.add("M01", "A", 3, sold_out=False)
    short.add("M01", "A", 3, sold_out=True)
    assert short.at("M01", "A") > enough.at("M01", "A")


def test_older_weeks_fade() -> None:
    old, new = Rolling(TYPES), Rolling(TYPES)
    for units in (1, 9):
        old.fade()
        old.add("M01", "A", 10 - units, sold_out=False)
        new.fade()
        new.add("M01", "A", units, sold_out=False)
    assert KEPT < 1
    assert new.at("M01", "A") > old.at("M01", "A")


def test_it_knows_what_was_tried_and_what_sold() -> None:
    rolling = Rolling(TYPES)
    rolling.add("M01", "A", 0, sold_out=False)
    rolling.add("M01", "B", 1, sold_out=True)
    assert [rolling.tried(product) for product in "ABC"] == [True, True, False]
    assert [rolling.sold(product) for product in "ABC"] == [False, True, False]
