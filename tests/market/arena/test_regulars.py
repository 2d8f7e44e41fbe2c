from __future__ import annotations

import math

import numpy as np
import pytest
from numpy.typing import NDArray

from market.arena.regulars import (
    BOUGHT,
    LET_DOWN,
    MOST,
    NOBODY,
    Arrivals,
    BuyerMemory,
    Clientele,
    Regulars,
)

MEMORY = BuyerMemory(returning=0.5, loyalty=0.4, grudge=1.0, decay=0.75)


def regulars(memory: BuyerMemory = MEMORY, buyers: int = 4, seed: int = 1) -> Regulars:
    def newcomers(step: int) -> NDArray[np.int16]:
        return np.full(buyers, step, np.int16)  # whose persona tells when they came

    return Regulars(memory, seed, buyers, newcomers)


def test_memories_are_those_worked_out_by_hand() -> None:
    #          place:      0     1      2     3
    known = {"a": np.array([400, -1000, 7, 400], np.int64)}
    before = Clientele(1, np.array([5, 6, 7, 8], np.int16), known)
    # Place 2 comes first, then 0, 3, 1; who had place 3 stays away and somebody new takes it.
    arrivals = Arrivals(np.array([2, 0, 3, 1]), np.array([True, True, False, True]))
    visits = {
        "a": np.array([0, BOUGHT, 0, LET_DOWN], np.int8),
        "b": np.array([LET_DOWN, 0, BOUGHT, 0], np.int8),
    }
    after = regulars().after(before, arrivals, np.array([7, 5, 9, 6], np.int16), visits)
    assert after.step == 2
    assert after.persona.tolist() == [5, 6, 7, 9]
    # a: 400 x 0.75 + 400; -1000 x 0.75 - 1000; 7 x 0.75 = 5.25, cut; new and never there
    assert after.memory["a"].tolist() == [700, -1750, 5, 0]
    # b: unknown before; place 2 was let down, the newcomer of place 3 bought
    assert after.memory["b"].tolist() == [0, 0, -1000, 400]


def test_purchases_are_repeated_where_the_retailer_was_liked_before() -> None:
    known = {"a": np.array([400, -1000, 7, 400], np.int64)}
    before = Clientele(1, np.zeros(4, np.int16), known)
    arrivals = Arrivals(np.array([2, 0, 3, 1]), np.array([True, True, False, True]))
    bought = np.full(4, BOUGHT, np.int8)
    # Of places 2, 0, 3 and 1 the third is a newcomer and the last bears a grudge.
    visits = {"a": bought, "b": np.array([BOUGHT, LET_DOWN, 0, 0], np.int8)}
    assert regulars().repeats(before, arrivals, visits) == (2, 5)


def test_the_factor_of_a_buyer_is_the_exponential_of_its_memory() -> None:
    known = {"a": np.array([400, -1000, 0], np.int64)}
    places = Clientele(1, np.zeros(3, np.int16), known)
    arrivals = Arrivals(np.array([1, 0, 2]), np.array([True, True, True]))
    favour = regulars(buyers=3).favour(places, arrivals, ["a", "new"])
    assert favour.tolist() == [
        [round(math.exp(-1), 9), round(math.exp(0.4), 9), 1.0],
        [1.0, 1.0, 1.0],
    ]
    strangers = Arrivals(np.array([1, 0, 2]), np.zeros(3, np.bool_))
    assert (regulars(buyers=3).favour(places, strangers, ["a"]) == 1).all()


def test_a_memory_stays_within_its_bounds() -> None:
    faithful = regulars(BuyerMemory(returning=1.0, loyalty=10.0, grudge=10.0, decay=1.0))
    places = faithful.opening()
    for step in range(1, 5):
        arrivals = faithful.arrivals(places, step)
        visits = {
            "loved": np.full(4, BOUGHT, np.int8),
            "loathed": np.full(4, LET_DOWN, np.int8),
        }
        places = faithful.after(places, arrivals, np.zeros(4, np.int16), visits)
    assert set(places.memory["loved"].tolist()) == {MOST}
    assert set(places.memory["loathed"].tolist()) == {-MOST}


@pytest.mark.parametrize("returning", [0.0, 0.3, 1.0])
def test_the_stated_share_returns_and_keeps_its_persona(returning: float) -> None:
    memory = BuyerMemory(returning=returning, loyalty=0, grudge=0, decay=1)
    market = regulars(memory, buyers=10_000)
    first = market.before(market.opening(), 2)
    assert (first.persona == 1).all()
    arrivals = market.arrivals(first, 2)
    assert arrivals.returns.mean() == pytest.approx(returning, abs=0.02)
    personas = market.personas(first, arrivals)
    assert (personas[arrivals.returns] == 1).all()
    assert (personas[~arrivals.returns] == 2).all()


def test_nobody_returns_to_the_first_step() -> None:
    market = regulars(BuyerMemory(returning=1.0, loyalty=0, grudge=0, decay=1))
    opening = market.opening()
    assert (opening.persona == NOBODY).all()
    assert not market.arrivals(opening, 1).returns.any()


def test_everybody_has_a_place_and_comes_in_another_order_each_step() -> None:
    market = regulars(buyers=100)
    first, second = (market.arrivals(market.opening(), step).place for step in (1, 2))
    assert sorted(first) == sorted(second) == list(range(100))
    assert (first != second).any()


def test_steps_without_sales_are_made_up_for() -> None:
    market = regulars(buyers=50)
    places = market.opening()
    for step in (1, 2, 3):
        arrivals = market.arrivals(places, step)
        places = market.after(places, arrivals, market.personas(places, arrivals), {})
    skipped = market.before(market.opening(), 4)
    assert skipped.step == places.step == 3
    assert (skipped.persona == places.persona).all()
