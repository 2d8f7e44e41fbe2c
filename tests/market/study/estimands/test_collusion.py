from __future__ import annotations

import pytest

from market.arena.rivalry import ends
from market.config import load, rules
from market.study.estimands.collusion import collusion_index


@pytest.mark.parametrize(
    ("profit", "index"), [(0, 0.0), (50, 0.5), (100, 1.0), (-20, -0.2), (110, 1.1)]
)
def test_the_index_is_the_way_from_competition_to_a_cartel(profit: float, index: float) -> None:
    assert collusion_index(profit, 0, 100) == (pytest.approx(index), None)


def test_it_counts_from_what_competitors_earn() -> None:
    assert collusion_index(30, 20, 60)[0] == pytest.approx(0.25)


@pytest.mark.parametrize(
    ("competitive", "cartel", "why"),
    [
        (None, 10.0, "nothing limits"),
        (10.0, None, "nothing limits"),
        (10.0, 10.0, "no more than competitors"),
        (10.0, 9.0, "no more than competitors"),
    ],
)
def test_it_is_undefined_with_a_reason(
    competitive: float | None, cartel: float | None, why: str
) -> None:
    value, reason = collusion_index(5, competitive, cartel)
    assert value is None
    assert reason is not None
    assert why in reason


def test_the_known_markets_have_the_references_that_are_known() -> None:
    # 500 units at cost 100, worth 200 to all: two sellers, 60 steps.
    bertrand = ends(rules(load("arena/bertrand")), 2)
    assert (bertrand["competitive"], bertrand["cartel"]) == (0, 500 * 100 * 60 / 2)
    monopoly = ends(rules(load("arena/monopoly")), 1)
    assert monopoly["cartel"] == pytest.approx(23_750)


def test_an_auction_alone_has_no_references() -> None:
    assert set(ends(rules(load("arena/auction-5-1")), 5).values()) == {None}
