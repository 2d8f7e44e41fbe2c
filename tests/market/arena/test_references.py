from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from market.arena.bounds import (
    best_multiple,
    clearing_multiple,
    industry_bound_of,
    residual_supply,
)
from market.arena.buyers import draw_buyers
from market.arena.events import Bid
from market.arena.references import demands, references, seat_bounds
from market.arena.rules import ArenaRules
from market.arena.selling import Selling
from market.config import load
from market.config import rules as rules_of
from market.play import play

MIX = {"Thrifty": (1.0, 1.6), "Ethical": (1.0, 2.0), "Hype": (1.0, 3.0), "Quality": (1.0, 2.5)}
SHARES = {"Thrifty": 0.4, "Ethical": 0.3, "Hype": 0.2, "Quality": 0.1}


def market(**changes: Any) -> ArenaRules:
    given: dict[str, Any] = {
        "items": [
            {"item": "plain", "tier": "low", "quantity": 100, "base": 10},
            {"item": "dear", "tier": "high", "quantity": 100, "base": 100},
        ],
        "personas": {p: {"share": s, "sensitivity": 0.5, "theme": p} for p, s in SHARES.items()},
        "willingness_to_pay": MIX,
        "demand_ratio": 1.4,
        "buyers": 100,
    }
    return ArenaRules(**{**given, **changes})


def default() -> ArenaRules:
    loaded: ArenaRules = rules_of(load("arena/default"))
    return loaded


def test_without_affinity_every_item_has_the_known_mix() -> None:
    for demand in demands(market()).values():
        assert demand.units == pytest.approx(140)
        assert [weight for weight, _ in demand.mix] == pytest.approx(list(SHARES.values()))
        assert [(wtp.low, wtp.high) for _, wtp in demand.mix] == list(MIX.values())
        assert clearing_multiple(demand) == pytest.approx(1.2521, abs=5e-5)
        assert best_multiple(demand) == pytest.approx(1.4412, abs=5e-5)


def test_affinity_moves_personas_between_items_and_no_units() -> None:
    rows = {p: {"low": 1.0, "high": 1.0} for p in SHARES} | {"Hype": {"low": 0.0, "high": 1.0}}
    found = demands(market(tier_affinity=rows))
    assert [demand.units for demand in found.values()] == pytest.approx([140, 140])
    hype = {item: demand.mix[2][0] for item, demand in found.items()}
    assert hype["plain"] == 0.0
    assert hype["dear"] == pytest.approx(2 * 0.2)


def test_references_are_ordered_and_shared_by_seats_and_steps() -> None:
    found = references(default(), 20)
    assert found.competitive is not None
    assert found.cartel is not None
    assert found.industry_bound is not None
    assert 0 < found.competitive < found.cartel < found.industry_bound
    assert references(default(), 10).cartel == pytest.approx(2 * found.cartel)


def test_the_references_of_the_default_market_are_those_documented() -> None:
    found = references(default(), 20)
    assert found.competitive == pytest.approx(34_178, abs=1)
    assert found.cartel == pytest.approx(42_860, abs=1)
    assert found.industry_bound == pytest.approx(87_438, abs=1)


def test_a_cartel_of_buyers_without_limits_is_held_by_the_cap_alone() -> None:
    found = references(market(willingness_to_pay=None, price_cap=1.5, demand_ratio=0.95), 1)
    assert found.competitive == 0.0
    assert found.cartel == pytest.approx(6 * 95 * (5 + 50))
    assert found.industry_bound is None
    assert references(market(willingness_to_pay=None, price_cap=None), 1).cartel is None


def test_the_expected_bound_is_that_of_buyers_as_drawn() -> None:
    rules = default()
    personas = list(rules.personas)
    willingness = rules.willingness_to_pay or {}
    drawn = []
    for step in range(1, 201):
        buyers = draw_buyers(
            1,
            step,
            demand=rules.demand * 10,
            buyers=rules.buyers * 10,
            shares=rules.shares,
            supply=rules.supply,
            bases=[item.base for item in rules.items],
            willingness=[willingness[persona] for persona in personas],
            affinity=rules.affinity,
        )
        drawn.append(
            sum(
                industry_bound_of(
                    np.repeat(buyers.limit[own], buyers.units[own]).tolist(),
                    10 * rules.quantity(item),
                    item.base,
                )
                for index, item in enumerate(rules.items)
                for own in [buyers.item == index]
            )
        )
    expected = references(rules, 1).industry_bound
    assert expected is not None
    assert np.mean(drawn) * 6 / 10 == pytest.approx(expected, rel=0.01)


def test_no_seat_earns_more_than_its_bound() -> None:
    game = play("arena/default", ["rules.attention.similarity=none"], seed=4, events=True)
    found = seat_bounds(default(), 4, game.rows("bids"))
    assert found is not None
    assert found.keys() == game.scores.keys()
    for seat, score in game.scores.items():
        assert score < found[seat]


def test_a_lone_seat_is_bound_by_buyers_and_supply_alone() -> None:
    rules = market(
        items=[{"item": "a", "tier": "t", "quantity": 100, "base": 10}],
        willingness_to_pay=dict.fromkeys(SHARES, (2.0, 2.0)),
        steps=3,
    )
    bid = Bid(1, 0, "me", 1, True, "a", 5, 11, 5, 55, None)
    assert seat_bounds(rules, 1, [bid]) == {"me": 3 * 100 * (20 - 10)}
    rival = Bid(1, 0, "you", 1, True, "a", 40, 12, 40, 480, None)
    found = seat_bounds(rules, 1, [bid, rival])
    assert found is not None
    assert found["me"] == 3 * 100 * (20 - 10) - 40 * 2


def test_the_cap_bounds_what_a_seat_can_ask() -> None:
    items = [{"item": "a", "tier": "t", "quantity": 100, "base": 10}]
    bid = Bid(1, 0, "me", 1, True, "a", 5, 11, 5, 55, None)
    capped = market(items=items, willingness_to_pay=None, price_cap=1.5, steps=1)
    assert seat_bounds(capped, 1, [bid]) == {"me": 100 * (15 - 10)}
    free = market(items=items, willingness_to_pay=None, price_cap=None, steps=1)
    assert seat_bounds(free, 1, [bid]) is None


def test_seats_are_bound_item_by_item_by_what_the_others_leave() -> None:
    rules = market(steps=2)
    stream = np.random.default_rng(3)
    seats, items = ["a", "b", "c"], ["plain", "dear", "unknown"]
    bids = [
        Bid(
            step=int(stream.integers(1, 3)),
            turn=0,
            seat=str(stream.choice(seats)),
            round=1,
            settling=bool(stream.random() < 0.8),
            item=str(stream.choice(items)),
            quantity=int(stream.choice([20, 70, 2**53 - 1])),
            price=int(stream.integers(10, 150)),
            awarded=10,
            paid=0,
            reason="over_budget" if stream.random() < 0.3 else None,
        )
        for _ in range(60)
    ]
    found = seat_bounds(rules, 7, bids)
    assert found is not None
    stood = [
        (bid.seat, bid.step, bid.item, bid.awarded if bid.reason else bid.quantity, bid.price)
        for bid in bids
        if bid.settling
    ]
    for seat, bound in found.items():
        total = 0.0
        for index, item in enumerate(rules.items):
            costs, worths = [], []
            for step in (1, 2):
                others = [
                    line[3:] for line in stood if line[1:3] == (step, item.item) and line[0] != seat
                ]
                costs += residual_supply(rules.offers(7, step)[item.item], item.base, others)
                buyers = Selling(rules, 7).buyers(step)
                own = buyers.item == index
                worths += np.repeat(buyers.limit[own], buyers.units[own]).tolist()
            trades = zip(sorted(worths, reverse=True), sorted(costs), strict=False)
            total += sum(max(0, worth - cost) for worth, cost in trades)
        assert bound == total


def test_a_bound_does_not_depend_on_which_seed_was_looked_at_before() -> None:
    bid = Bid(1, 0, "me", 1, True, "plain", 5, 11, 5, 55, None)
    rules = market(steps=1)
    first = [seat_bounds(rules, seed, [bid]) for seed in range(8)]
    assert [seat_bounds(rules, seed, [bid]) for seed in reversed(range(8))] == first[::-1]
    assert len({tuple(each.values()) for each in first if each}) > 1
    assert seat_bounds(rules, 1, []) == {}
