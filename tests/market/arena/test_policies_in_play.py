"""Scripted policies in the real market: who earns more than whom, and the known answers."""

from __future__ import annotations

from collections import Counter
from statistics import mean
from typing import Any

import pytest

from market import registry
from market.arena import ENVIRONMENT
from market.arena.arena import Arena
from market.arena.rules import ArenaRules
from market.config import load
from market.config.schema import rules as rules_of
from market.environment import Answer, Decision
from market.policies.policy import Policy
from market.seats import seat_ids

SEEDS = range(3)
UNIFORM = {"All": {"share": 1.0, "sensitivity": 0.0, "theme": "anything"}}


def preset(name: str, *changes: str) -> ArenaRules:
    """A preset in which words have no meaning, so that no encoder is needed."""
    loaded: ArenaRules = rules_of(load(name, ["rules.attention.similarity=none", *changes]))
    return loaded


def roster(*entries: tuple[str, int, dict[str, Any]]) -> dict[str, tuple[str, dict[str, Any]]]:
    """Seat to policy and options."""
    seats = iter(seat_ids([{"name": name, "count": count} for name, count, _ in entries]))
    return {next(seats): (name, options) for name, count, options in entries for _ in range(count)}


def play(
    rules: ArenaRules, seats: dict[str, tuple[str, dict[str, Any]]], seed: int
) -> tuple[Arena, list[tuple[Decision, Answer]]]:
    """Play an episode; return the environment and what was asked and answered."""
    policies: dict[str, Policy] = {
        seat: registry.load(registry.policy_path(ENVIRONMENT, name))(seat, seed, **options)
        for seat, (name, options) in seats.items()
    }
    arena = Arena(rules, tuple(seats), seed)
    history = []
    asked = arena.start()
    while asked:
        answers = {}
        for decision in asked:
            answer = policies[decision.seat].act(decision)
            assert isinstance(answer, Answer)
            answers[decision.seat] = answer
            history.append((decision, answer))
        asked = arena.apply(answers)
    return arena, history


def profits(rules: ArenaRules, *entries: tuple[str, int]) -> dict[str, float]:
    """Mean profit per policy."""
    seats = roster(*((name, count, {}) for name, count in entries))
    total: Counter[str] = Counter()
    for seed in SEEDS:
        arena, _ = play(rules, seats, seed)
        for seat, result in arena.result.seats.items():
            total[seats[seat][0]] += int(result.score)
    return {name: total[name] / (count * len(SEEDS)) for name, count in entries}


@pytest.mark.parametrize("name", ["arena/default", "arena/paper"])
def test_adaptive_earns_more_than_constrained_and_that_more_than_unconstrained(name: str) -> None:
    earned = profits(
        preset(name), ("adaptive", 4), ("zi-constrained", 6), ("zi-unconstrained", 6), ("markup", 4)
    )
    assert earned["adaptive"] > 1.5 * max(0.0, earned["zi-constrained"])
    assert earned["adaptive"] > earned["markup"]
    assert earned["zi-constrained"] > earned["zi-unconstrained"] + 5_000
    assert earned["zi-unconstrained"] < 0


@pytest.mark.parametrize(
    ("name", "changes"),
    [
        ("arena/default", ()),
        ("arena/paper", ()),
        ("arena/default", ("rules.round_rule=monotone", "rules.bidding_rounds=3")),
        ("arena/default", ("rules.bid_feedback=own", "rules.price_cap=null", "rules.tick=10")),
        ("arena/default", ("rules.pricing=uniform", "rules.initial_funds=3000")),
        ("arena/linked", ("rules.transport=0.02", "rules.initial_funds=5000")),
    ],
)
def test_no_line_and_no_price_of_a_script_is_ever_refused(
    name: str, changes: tuple[str, ...]
) -> None:
    names = sorted(set(ENVIRONMENT.policies) - {"induced", "zi-induced", "bertrand"})
    _, history = play(preset(name, *changes), roster(*((n, 2, {}) for n in names)), 5)
    for decision, _ in history:
        private = decision.observation.private
        assert [line["reason"] for line in private.get("bids", ()) if line["reason"]] == []
        last = private.get("last") or {"refused": []}
        assert last["refused"] == []
        assert [line for line in last.get("shipped", ()) if line["reason"]] == []


@pytest.mark.parametrize("market", ["arena/default", "arena/linked"])
def test_a_recorded_history_is_recalled_by_every_script(market: str) -> None:
    names = sorted(set(ENVIRONMENT.policies) - {"induced", "zi-induced"})
    seats = roster(*((n, 1, {}) for n in names))
    _, history = play(preset(market), seats, 2)
    for seat, (name, options) in seats.items():
        own = [(d, a) for d, a in history if d.seat == seat]
        fresh = registry.load(registry.policy_path(ENVIRONMENT, name))(seat, 2, **options)
        fresh.recall(own)


def test_two_bertrand_sellers_end_one_above_cost() -> None:
    rules = ArenaRules(
        steps=60,
        bidding_rounds=1,
        items=[{"item": "a", "tier": "t", "quantity": 1000, "base": 100}],
        personas=UNIFORM,
        buyers=500,
        demand_ratio=0.5,
        initial_funds=1_000_000,
        attention={"rho": 1.0, "k_max": 2, "similarity": "none"},
        willingness_to_pay={"All": (2.0, 2.0)},
    )
    _, history = play(rules, roster(("bertrand", 2, {})), 1)
    asked = [(d.step, a.action["prices"]["a"]) for d, a in history if d.kind == "sell"]
    assert {price for step, price in asked if step == 1} == {150}
    assert {price for step, price in asked if step == 49} == {102}
    assert {price for step, price in asked if step >= 50} == {101}


def induced(units: int, bidders: int, name: str, **options: Any) -> tuple[float, float, float]:
    """Mean price, profit per bidder and efficiency of the auction alone, values in [0, 1]."""
    steps = 400
    rules = ArenaRules(
        steps=steps,
        bidding_rounds=1,
        items=[{"item": "a", "tier": "t", "quantity": units, "base": 1}],
        personas=UNIFORM,
        initial_funds=10**9,
        price_cap=None,
        retail="induced",
        induced={},
    )
    arena, history = play(rules, roster((name, bidders, options)), 1)
    bids = {(d.step, d.seat): (d.observation.private["values"]["a"], a) for d, a in history}
    price, worth, best = [], 0, 0
    for step in range(1, steps + 1):
        values = [v for (s, _), (v, _) in bids.items() if s == step]
        best += sum(sorted(values)[-units:])
        lines = [
            (a.action["bids"][0]["price"], v)
            for (s, _), (v, a) in bids.items()
            if s == step and a.action["bids"]
        ]
        won = sorted(lines)[-units:]
        price += [bid for bid, _ in won]
        worth += sum(value for _, value in won)
    profit = mean(result.score for result in arena.result.seats.values()) / steps
    return mean(price) / 10_000, profit / 10_000, worth / best


def test_the_auction_alone_has_its_known_prices_and_profit() -> None:
    price, _, efficiency = induced(1, 5, "induced")
    assert price == pytest.approx(2 / 3, abs=0.02)
    assert efficiency == pytest.approx(1.0, abs=1e-4)
    price, profit, efficiency = induced(8, 20, "induced")
    assert price == pytest.approx(0.5714, abs=0.01)
    assert profit == pytest.approx(0.0857, abs=0.005)
    assert efficiency == pytest.approx(1.0, abs=1e-4)


def test_zero_intelligence_has_its_known_efficiency() -> None:
    assert induced(8, 20, "zi-induced")[2] == pytest.approx(0.878, abs=0.015)
    free = induced(8, 20, "zi-induced", constrained=False)[2]
    assert free == pytest.approx(0.636, abs=0.02)
