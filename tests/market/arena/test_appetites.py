"""Richer mixes of buyers: personas that want more, and limits that are mixtures."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from pydantic import ValidationError

from market.arena.bounds import Demand, Uniform, best_multiple, clearing_multiple
from market.arena.buyers import _apportioned, _from_mixtures, draw_buyers, fitted
from market.arena.references import demands, references
from market.arena.rules import ArenaRules
from market.config import load
from market.config import rules as rules_of
from market.play import play
from tests.market.arena.games import facts

SHARES = [0.5, 0.3, 0.2]
SUPPLY = [30, 20, 50]
BASES = [10, 20, 100]


def population(buyers: int = 200, demand: int = 950, seed: int = 1, **changes: Any) -> Any:
    market: dict[str, Any] = {"shares": SHARES, "supply": SUPPLY, "bases": BASES} | changes
    return draw_buyers(seed, 1, demand=demand, buyers=buyers, **market)


# Of 12 units, appetites 1, 2, 2, 1 want 2, 4, 4, 2. Of 10 they want 5/3, 10/3, 10/3, 5/3, whose
# sums are 5/3, 5, 25/3, 10: with an offset of 0.5 cut to 2, 5, 8, 10.
@pytest.mark.parametrize(
    ("demand", "offset", "units"),
    [
        (12, 0.0, [2, 4, 4, 2]),
        (12, 0.99, [2, 4, 4, 2]),
        (10, 0.0, [1, 4, 3, 2]),
        (10, 0.5, [2, 3, 3, 2]),
        (2, 0.0, [0, 1, 0, 1]),
    ],
)
def test_units_follow_appetites_from_one_offset(
    demand: int, offset: float, units: list[int]
) -> None:
    appetite = np.array([1.0, 2.0, 2.0, 1.0])
    assert _apportioned(demand, offset, appetite).tolist() == units


def test_all_units_are_wanted_by_somebody_whatever_the_appetites() -> None:
    for seed in range(200):
        buyers = population(seed=seed, appetites=[0.3, 1.7, 0.001])
        assert buyers.units.sum() == 950
        assert buyers.units.min() >= 0


def test_a_persona_of_four_times_the_appetite_wants_four_times_as_much() -> None:
    buyers = population(20_000, 95_000, appetites=[1.0, 1.0, 4.0])
    means = [buyers.units[buyers.persona == persona].mean() for persona in range(3)]
    assert means[2] / means[0] == pytest.approx(4, rel=0.01)
    assert means[1] / means[0] == pytest.approx(1, rel=0.01)


def test_items_keep_their_share_of_the_units_though_hungry_buyers_have_a_taste() -> None:
    affinity = [[1.0, 1.0, 1.0], [1.0, 1.0, 1.0], [9.0, 1.0, 0.1]]
    buyers = population(50_000, 250_000, appetites=[1.0, 1.0, 4.0], affinity=affinity)
    units = [buyers.units[buyers.item == item].sum() / 250_000 for item in range(3)]
    assert units == pytest.approx([0.3, 0.2, 0.5], abs=0.01)
    hungry = fitted([0.5, 0.3, 0.8], SUPPLY, affinity)[2]
    seen = (buyers.item[buyers.persona == 2] == 0).mean()
    assert seen == pytest.approx(hungry[0] / sum(hungry), abs=0.02)


def test_appetites_leave_every_other_draw_in_place() -> None:
    one, other = population(), population(appetites=[1.0, 2.0, 3.0])
    for column in ("persona", "item", "limit", "luck"):
        assert (getattr(one, column) == getattr(other, column)).all()


# Weights 1 and 3: uniforms below 0.25 fall into the first part, at 4 u of its length, the others
# into the second, at (u - 0.25) / 0.75.
def test_a_limit_is_where_the_uniform_falls_in_its_part() -> None:
    mixture = ((1.0, 1.0, 2.0), (3.0, 5.0, 8.0))
    uniform = np.array([0.0, 0.125, 0.25, 0.5, 0.75, 0.5])
    persona = np.array([0, 0, 0, 0, 0, 1], np.int16)
    found = _from_mixtures(persona, uniform, [mixture, (1.0, 2.0)])
    assert found.tolist() == pytest.approx([1.0, 1.5, 5.0, 6.0, 7.0, 1.5])


def test_a_mixture_of_one_part_draws_the_limits_of_that_part() -> None:
    plain = population(willingness=[(1.0, 2.0), None, (1.5, 1.5)])
    mixed = population(willingness=[((7.0, 1.0, 2.0),), None, ((1.0, 1.5, 1.5), (2.0, 1.5, 1.5))])
    assert (plain.limit == mixed.limit).all()


def market(**changes: Any) -> ArenaRules:
    given: dict[str, Any] = {
        "items": [{"item": "good", "tier": "plain", "quantity": 100, "base": 100}],
        "personas": {
            "Few": {"share": 0.5, "sensitivity": 0, "theme": "a", "demand": 3.0},
            "Many": {"share": 0.5, "sensitivity": 0, "theme": "b"},
        },
        "willingness_to_pay": {"Few": [2.0, 2.0], "Many": [[1, 1.0, 1.0], [3, 1.0, 2.0]]},
        "demand_ratio": 2.0,
        "buyers": 10,
    }
    return ArenaRules.model_validate(given | changes)


def test_references_weigh_personas_by_units_and_take_mixtures_apart() -> None:
    (demand,) = demands(market()).values()
    assert (demand.supply, demand.units) == (100, 200)
    # Three quarters of the units are wanted by the first persona; of the rest three quarters are
    # uniform, and one is worth the base price.
    assert demand.mix == (
        (0.75, Uniform(2.0, 2.0)),
        (0.25 * 0.25, Uniform(1.0, 1.0)),
        (0.25 * 0.75, Uniform(1.0, 2.0)),
    )
    # Half is served, and three quarters pay 2: the market clears there, and nothing beats it.
    assert clearing_multiple(demand) == best_multiple(demand) == 2.0
    assert references(market(steps=2), 4).competitive == 100 * 100 * 2 / 4


def test_a_mixture_of_two_halves_is_the_uniform_that_they_make_up() -> None:
    halves = Demand(1, 50, 100, ((0.5, Uniform(1.0, 1.5)), (0.5, Uniform(1.5, 2.0))))
    whole = Demand(1, 50, 100, ((1.0, Uniform(1.0, 2.0)),))
    for multiple in (1.0, 1.2, 1.5, 1.9):
        assert halves.survival(multiple) == pytest.approx(whole.survival(multiple))
    assert clearing_multiple(halves) == pytest.approx(1.5)


def test_the_rich_market_has_eight_personas_and_is_played() -> None:
    rules: ArenaRules = rules_of(load("arena/rich"))
    assert len(rules.personas) == 8
    assert sum(rules.shares) == pytest.approx(1)
    assert rules.appetites is not None
    assert {len(rules.limits(persona)) for persona in rules.personas} == {1, 2}
    found = references(rules, 20)
    assert found.competitive is not None
    assert found.cartel is not None
    assert found.industry_bound is not None
    assert 0 < found.competitive < found.cartel < found.industry_bound
    played = play("arena/rich", ["rules.steps=1"], outside=facts, events=True)
    assert sum(row.wanted for row in played.rows("demand")) == rules.demand


@pytest.mark.parametrize(
    ("changes", "named"),
    [
        ({"willingness_to_pay": {"Few": [1, 2], "Many": []}}, "willingness_to_pay"),
        ({"willingness_to_pay": {"Few": [1, 2], "Many": [[0, 1, 2]]}}, "willingness_to_pay"),
        ({"willingness_to_pay": {"Few": [1, 2], "Many": [[1, 2, 1]]}}, "Many: the low end"),
    ],
)
def test_a_wrong_mixture_is_refused(changes: dict[str, Any], named: str) -> None:
    with pytest.raises(ValidationError, match=named):
        market(**changes)
