"""What the arena asks, and when."""

from __future__ import annotations

import pytest

from market.arena import ENVIRONMENT
from market.arena.arena import Arena
from market.config import load
from market.environment import OUTSIDE, Answer, ContractError, NoAction
from market.play import drive
from market.testing.compliance import environment_test
from tests.market.arena.games import facts
from tests.market.arena.tea_market import (
    SEED,
    SILENT,
    episode,
    market,
    name_of,
    says,
    seen,
    standing,
    two,
)


def test_a_step_asks_bids_in_rounds_then_prices_then_what_the_words_mean() -> None:
    rules = market(
        steps=1, bidding_rounds=3, attention={"rho": 1.0, "k_max": 20, "similarity": "encoder"}
    )
    shop = {1: (15, "Tea")}
    bids = {(1, 3): [(1, 10)]}
    played = episode(rules, ann=says(bids, shop), bob=says(bids, shop))
    asked = [(decision.turn, decision.kind, decision.seat) for decision, _ in played.history]
    assert asked == [
        *((turn, "bid", seat) for turn in range(3) for seat in ("ann", "bob")),
        (3, "sell", "ann"),
        (3, "sell", "bob"),
        (4, "similarities", OUTSIDE),
    ]


def test_words_are_asked_about_once() -> None:
    rules = market(steps=5, attention={"rho": 1.0, "k_max": 20, "similarity": "encoder"})
    ann = {1: (15, "Tea"), 2: (15, "Tea"), 3: (15, "Tea"), 4: (15, "Good tea"), 5: (15, "Tea")}
    bob = {1: (15, "Tee"), 2: (15, "Tee"), 3: (15, "Tea"), 4: (15, ""), 5: (15, "Tee")}
    bids = {step: [(1, 10)] for step in range(1, 6)}
    played = episode(rules, ann=says(bids, ann), bob=says(bids, bob))
    asked = {
        decision.step: decision.observation.private
        for decision, _ in played.history
        if decision.seat == OUTSIDE
    }
    # Step 2 repeats step 1; step 3 brings a new crowd of known words; step 5 is step 1 again.
    assert {step: view["texts"] for step, view in asked.items()} == {
        1: ["Tea", "Tee"],
        3: [],
        4: ["Good tea"],
    }
    assert asked[1]["crowd"] == ["Tea", "Tee"]
    assert asked[3]["crowd"] == ["Tea", "Tea"]
    assert asked[4]["crowd"] == ["Good tea"]
    assert asked[1]["references"] == ["a hidden theme"]


def test_nobody_is_asked_about_words_that_have_no_meaning_or_were_not_said() -> None:
    assert not [d for d, _ in two().history if d.seat == OUTSIDE]
    rules = market(attention={"rho": 1.0, "k_max": 20, "similarity": "encoder"})
    mute = episode(rules, ann=says({1: [(1, 10)]}, {1: (15, "")}))
    assert not [d for d, _ in mute.history if d.seat == OUTSIDE]


def test_only_the_last_round_settles_and_an_earlier_bid_does_not_stand_in() -> None:
    played = episode(
        market(steps=1, bidding_rounds=2),
        ann=says({(1, 1): [(5, 12)]}),
        bob=says({(1, 1): [(4, 11)], (1, 2): [(3, 10)]}),
    )
    provisional = seen(played, "ann", 1, turn=1)
    assert provisional.private["bids"][0]["awarded"] == 5
    assert provisional.private["funds"] == 200
    assert (standing(played, "ann", 1).won, standing(played, "ann", 1).spend) == (0, 0)
    assert (standing(played, "bob", 1).won, standing(played, "bob", 1).spend) == (3, 30)


def test_a_later_round_may_not_retreat_where_the_rule_says_so() -> None:
    bids = {(1, 1): [(5, 12)], (1, 2): [(5, 11)]}
    won = {
        rule: standing(
            episode(market(steps=1, bidding_rounds=2, round_rule=rule), ann=says(bids)), "ann", 1
        ).won
        for rule in ("free", "monotone")
    }
    assert won == {"free": 5, "monotone": 0}


def test_who_says_nothing_neither_bids_nor_sells_and_keeps_its_stock() -> None:
    played = episode(market(), ann=says({1: [(4, 10)]}), bob=says())
    assert standing(played, "ann", 2).stock == 4
    assert played.rows("offers") == []
    shops = seen(played, "bob", 2).public["market"]["retailers"]
    assert shops == {
        name: {"slogan": "", "prices": {}, "sold": {}}
        for name in sorted(name_of(played, seat) for seat in ("ann", "bob"))
    }


def test_the_order_of_calls_is_held_to_the_contract() -> None:
    arena = Arena(market(steps=1), ("ann",), SEED)
    with pytest.raises(ContractError, match="not started"):
        arena.apply({})
    arena.start()
    with pytest.raises(ContractError, match="starts once"):
        arena.start()
    with pytest.raises(ContractError, match="missing for"):
        arena.apply({})
    with pytest.raises(ContractError, match="not over"):
        _ = arena.result
    arena.apply({"ann": SILENT})
    assert arena.apply({"ann": SILENT}) == ()
    with pytest.raises(ContractError, match="or over"):
        arena.apply({})
    assert arena.result.seats["ann"].score == 0


@pytest.mark.parametrize(
    "answer",
    [
        SILENT,
        Answer({"similarities": [], "convergence": None}),
        Answer({"similarities": [[1, 2]], "convergence": None}),
    ],
)
def test_facts_that_do_not_fit_the_question_are_refused(answer: Answer | NoAction) -> None:
    rules = market(attention={"rho": 1.0, "k_max": 20, "similarity": "encoder"})
    ann = says({1: [(1, 10)]}, {1: (15, "Tea")})
    arena = Arena(rules, ("ann",), SEED)
    with pytest.raises(ContractError, match="outside"):
        drive(arena, {"ann": ann}, outside=lambda decision: answer)


@pytest.mark.parametrize("preset", ["arena/paper", "arena/default"])
def test_the_presets_keep_the_contract(preset: str) -> None:
    environment_test(ENVIRONMENT, load(preset).rules, ("a", "b", "c"), 0, facts)
