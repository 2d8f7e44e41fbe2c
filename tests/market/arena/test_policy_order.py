"""Who earns more than whom, and what moves profit, on 30 paired seeds with the packaged encoder.

The effects are those of docs/default-market.md. Every bound leaves a wide margin below what is
measured there, so that a failure is a change of the market or of a script and not bad luck.
"""

from __future__ import annotations

from statistics import mean

import pytest

from benchmarks._measure import MIXED, PLAIN, Entry, by_policy, earned, gain, games, market
from benchmarks.default_market import CORNER, LADDER, WORDY
from market.arena.policies.slogans import GENERIC, THEMES

#: Least t-statistic of a paired difference in profit; 3.66 has a chance of 1 in 1000 for 30 pairs.
CLEAR = 10.0

rivals = pytest.mark.parametrize("others", [PLAIN, MIXED], ids=["plain", "mixed"])


@pytest.mark.parametrize("preset", ["arena/default", "arena/paper"])
def test_idle_earns_nothing_and_intelligence_pays(preset: str) -> None:
    earned_by = by_policy(games(market(LADDER, preset)), LADDER)
    assert set(earned_by["idle"]) == {0}
    for better, worse in [
        ("constrained", "unconstrained"),
        ("clearing", "constrained"),
        ("adaptive", "constrained"),
        ("adaptive", "clearing"),
    ]:
        assert gain(earned_by[better], earned_by[worse]).t > CLEAR, (better, worse)


@pytest.mark.slow
@rivals
def test_the_best_price_lies_inside_and_is_worth_finding(others: list[Entry]) -> None:
    modest = earned("markup", others, markup=0.15)
    best = earned("fixed", others, multiple=1.75)
    over = gain(best, modest)
    assert over.mean > 0.3 * mean(modest)
    assert over.t > 4
    for extreme in (1.05, 3.0):
        assert gain(best, earned("fixed", others, multiple=extreme)).t > CLEAR


@pytest.mark.slow
@rivals
def test_bids_that_learn_are_worth_more_than_the_least_bid(others: list[Entry]) -> None:
    least = earned("benchmarks.default_market:OneAboveBase", others)
    over = gain(earned("clearing", others), least)
    assert over.mean > 0.2 * mean(least)
    assert over.t > CLEAR


@pytest.mark.slow
@rivals
def test_a_slogan_that_meets_its_buyers_is_worth_a_fifth_of_profit(others: list[Entry]) -> None:
    said = {
        slogan: earned("fixed", others, multiple=WORDY, slogan=slogan)
        for slogan in (GENERIC, THEMES["hype"], "")
    }
    over = gain(said[THEMES["hype"]], said[GENERIC])
    assert over.mean > 0.2 * mean(said[GENERIC])
    assert over.t > 5
    assert gain(said[GENERIC], said[""]).t > CLEAR


@pytest.mark.slow
def test_cornering_an_item_pays_less_the_more_try_it() -> None:
    def each(count: int) -> float:
        roster: list[Entry] = [
            {"name": "corner", "policy": "tier-specialist", "count": count, "options": CORNER},
            {"name": "markup", "policy": "markup", "count": 20 - count},
        ]
        return mean(by_policy(games(market(roster)), roster)["corner"])

    alone, two, ten = each(1), each(2), each(10)
    assert alone > 1.2 * two > 2 * ten
