"""The population of buyers: who they are, and what their draws do not depend on."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from market.arena.buyers import NO_LIMIT, Buyers, _units, draw_buyers, fitted

SHARES = [0.4, 0.3, 0.2, 0.1]
SUPPLY = [200, 200, 133, 133, 134, 75, 75, 50]
BASES = [50, 50, 150, 150, 150, 800, 800, 2000]
WILLINGNESS = [(1.0, 1.6), (1.0, 2.0), (1.0, 3.0), (1.0, 2.5)]
TIERS = [[3, 1, 0.3, 0.1], [1, 2, 1, 0.3], [0.5, 1, 3, 4], [0.5, 1.5, 3, 2]]
AFFINITY = [[row[tier] for tier in (0, 0, 1, 1, 1, 2, 2, 3)] for row in TIERS]
MANY = 200_000


def population(buyers: int = 200, demand: int = 950, seed: int = 1, step: int = 1, **changes):
    market = {"shares": SHARES, "supply": SUPPLY, "bases": BASES} | changes
    return draw_buyers(seed, step, demand=demand, buyers=buyers, **market)


def counts(values: np.ndarray, kinds: int) -> np.ndarray:
    return np.bincount(values, minlength=kinds)


def close(seen, chances, draws: int) -> bool:
    """Within four standard errors."""
    chances = np.asarray(chances)
    return bool((abs(seen / draws - chances) < 4 * np.sqrt(chances * (1 - chances) / draws)).all())


def fields(buyers: Buyers) -> dict[str, bytes]:
    return {
        name: getattr(buyers, name).tobytes()
        for name in ("persona", "item", "units", "limit", "luck")
    }


@given(st.integers(1, 60), st.integers(0, 400))
def test_units_are_shared_equally_with_one_more_for_the_remainder(buyers, more):
    units = population(buyers, buyers + more).units
    assert units.sum() == buyers + more
    assert units.max() - units.min() == (1 if more % buyers else 0)


def test_the_remainder_goes_to_buyers_at_random():
    extra = sum(population(10, 13, seed=seed).units - 1 for seed in range(3_000))
    assert extra.sum() == 9_000
    assert close(extra, [0.3] * 10, 3_000)


def test_equal_draws_do_not_add_units():
    assert _units(5, np.array([0.5, 0.5, 0.7])).tolist() == [2, 2, 1]
    assert _units(4, np.array([0.5, 0.5, 0.5])).tolist() == [2, 1, 1]


@pytest.mark.parametrize(("buyers", "demand"), [(10, 9), (0, 5), (1, 0)])
def test_fewer_units_than_buyers_are_refused(buyers, demand):
    with pytest.raises(ValueError, match="do not go round"):
        population(buyers, demand)


def test_personas_and_items_follow_their_shares_independently():
    buyers = population(MANY, MANY)
    total = sum(SUPPLY)
    assert close(counts(buyers.persona, 4), SHARES, MANY)
    assert close(counts(buyers.item, 8), np.array(SUPPLY) / total, MANY)
    joint = counts(buyers.persona.astype(int) * 8 + buyers.item, 32)
    assert close(joint, np.outer(SHARES, SUPPLY).ravel() / total, MANY)


def test_an_affinity_keeps_both_shares():
    buyers = population(MANY, MANY, affinity=AFFINITY)
    assert close(counts(buyers.persona, 4), SHARES, MANY)
    assert close(counts(buyers.item, 8), np.array(SUPPLY) / sum(SUPPLY), MANY)
    joint = counts(buyers.persona.astype(int) * 8 + buyers.item, 32)
    assert close(joint, np.array(fitted(SHARES, SUPPLY, AFFINITY)).ravel(), MANY)


def test_the_fit_holds_margins_and_odds_ratios():
    table = np.array(fitted(SHARES, SUPPLY, AFFINITY))
    assert table.sum(axis=1) == pytest.approx(SHARES, abs=1e-12)
    assert table.sum(axis=0) == pytest.approx(np.array(SUPPLY) / sum(SUPPLY), abs=1e-12)
    odds = table[0, 0] * table[2, 7] / (table[0, 7] * table[2, 0])
    assert odds == pytest.approx(3 * 4 / (0.1 * 0.5))


def test_no_affinity_is_the_same_as_an_even_one():
    even = np.array(fitted(SHARES, SUPPLY, [[2.0] * 8] * 4))
    assert even == pytest.approx(np.outer(SHARES, SUPPLY) / sum(SUPPLY))


def test_an_item_out_of_supply_is_not_wanted():
    supply = [0, *SUPPLY[1:]]
    for affinity in (None, AFFINITY):
        assert 0 not in population(5_000, 5_000, supply=supply, affinity=affinity).item
    supply = [*SUPPLY[:-1], 0]
    for affinity in (None, AFFINITY):
        for draw in ("iid", "stratified"):
            buyers = population(5_000, 5_000, supply=supply, affinity=affinity, item_draw=draw)
            assert 7 not in buyers.item


@pytest.mark.parametrize(
    "affinity",
    [
        [[1, 0], [1, 0]],  # nobody wants the second item
        [[1, 1], [0, 0]],  # the second persona wants nothing
        [[1, 0], [0, 1]],  # shares of 0.7 and 0.3 cannot meet supplies of one half each
    ],
)
def test_an_affinity_that_contradicts_the_shares_is_refused(affinity):
    with pytest.raises(ValueError, match="affinity"):
        fitted([0.7, 0.3], [10, 10], affinity)


def test_stratified_numbers_are_the_expected_ones_in_random_order():
    buyers = population(persona_draw="stratified", item_draw="stratified")
    assert counts(buyers.persona, 4).tolist() == [80, 60, 40, 20]
    assert counts(buyers.item, 8).tolist()[:2] == [40, 40]
    assert (abs(counts(buyers.item, 8) - np.array(SUPPLY) / 5) < 1).all()
    assert len(set(buyers.persona[:40].tolist())) == 4


def test_stratified_items_hold_within_each_persona_under_an_affinity():
    buyers = population(
        1_000, 1_000, affinity=AFFINITY, persona_draw="stratified", item_draw="stratified"
    )
    joint = counts(buyers.persona.astype(int) * 8 + buyers.item, 32)
    assert (abs(joint - 1_000 * np.array(fitted(SHARES, SUPPLY, AFFINITY)).ravel()) < 1).all()


def test_stratified_draws_are_unbiased_where_numbers_must_be_rounded():
    chosen = [population(3, 3, seed=seed, item_draw="stratified").item for seed in range(3_000)]
    seen = counts(np.concatenate(chosen), 8)
    assert close(seen, np.array(SUPPLY) / sum(SUPPLY), 9_000)
    first = counts(np.array([items[0] for items in chosen]), 8)
    assert close(first, np.array(SUPPLY) / sum(SUPPLY), 3_000)


def test_limits_are_uniform_between_the_multiples_of_each_persona():
    buyers = population(MANY, MANY, willingness=WILLINGNESS)
    multiple = (buyers.limit + 0.5) / np.array(BASES)[buyers.item]
    dear = np.array(BASES)[buyers.item] >= 800
    for persona, (low, high) in enumerate(WILLINGNESS):
        own = multiple[(buyers.persona == persona) & dear]
        assert own.min() >= low
        assert own.max() <= high + 1e-3
        error = (high - low) / math.sqrt(12 * len(own))
        assert abs(own.mean() - (low + high) / 2) < 4 * error


def test_a_limit_is_the_highest_whole_price_below_the_willingness_to_pay():
    exact = population(100, 100, supply=[1], bases=[100], shares=[1], willingness=[(1.15, 1.15)])
    assert set(exact.limit.tolist()) == {115}
    cut = population(100, 100, supply=[1], bases=[50], shares=[1], willingness=[(1.15, 1.15)])
    assert set(cut.limit.tolist()) == {57}


def test_without_willingness_to_pay_any_price_is_paid():
    assert set(population().limit.tolist()) == {NO_LIMIT}
    some = population(willingness=[None, (1.0, 2.0), None, None])
    assert ((some.limit == NO_LIMIT) == (some.persona != 1)).all()


@pytest.mark.parametrize("affinity", [None, AFFINITY])
def test_buyers_who_follow_do_not_change_those_before(affinity):
    few = population(100, 100, affinity=affinity, willingness=WILLINGNESS)
    many = population(250, 250, affinity=affinity, willingness=WILLINGNESS)
    assert fields(few) == fields(many.part(slice(0, 100)))


def test_each_property_has_a_stream_of_its_own():
    plain, other = fields(population()), fields(population(willingness=WILLINGNESS, demand=1400))
    assert {name for name in plain if plain[name] != other[name]} == {"limit", "units"}
    shifted = fields(population(persona_draw="stratified"))
    assert {name for name in plain if plain[name] != shifted[name]} == {"persona"}


def test_equal_arguments_draw_equal_buyers_and_other_steps_do_not():
    assert fields(population()) == fields(population())
    assert fields(population(seed=0)) != fields(population(seed=1))
    assert fields(population(step=2))["luck"] != fields(population(step=1))["luck"]


def test_a_recorded_population_never_changes():
    buyers = population(6, 8, seed=0, willingness=WILLINGNESS, affinity=AFFINITY)
    assert buyers.persona.tolist() == [3, 3, 1, 0, 3, 1]
    assert buyers.item.tolist() == [7, 5, 3, 0, 3, 4]
    assert buyers.units.tolist() == [1, 1, 2, 1, 2, 1]
    assert buyers.limit.tolist() == [3302, 1855, 179, 68, 308, 220]
    assert buyers.luck.tolist() == [
        4310950513425171305,
        9470250205860201194,
        16448869521953146383,
        8932531352398290535,
        5390953857187784244,
        14377649764392517834,
    ]
