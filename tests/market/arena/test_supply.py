from __future__ import annotations

import math
from statistics import NormalDist, mean, stdev
from typing import Any

import pytest
from pydantic import ValidationError

from market.arena.references import demands, seat_bounds
from market.arena.supply import SupplyNoise, drawn, offered
from market.config import load
from market.config import rules as rules_of
from market.play import play
from market.rng import draws

NOISE = SupplyNoise(variation=0.5, shock=0.1)


# s^2 = ln(1 + v^2); by hand, with the normal quantiles 0, 1 (0.8413...) and -1.
@pytest.mark.parametrize(
    ("variation", "uniform", "factor"),
    [
        (0.0, 0.2, 1.0),
        (0.5, 0.5, 0.894427191),  # exp(-ln(1.25) / 2) = 1 / sqrt(1.25)
        (1.0, 0.5, 0.707106781),  # 1 / sqrt(2)
        (1.0, NormalDist().cdf(1.0), 1.625769140),  # exp(sqrt(ln 2)) / sqrt(2)
        (1.0, NormalDist().cdf(-1.0), 0.307546741),
    ],
)
def test_the_factor_is_lognormal_of_mean_one(
    variation: float, uniform: float, factor: float
) -> None:
    assert SupplyNoise(variation=variation).factor(uniform) == pytest.approx(factor, abs=2e-9)


def test_the_first_and_the_last_uniform_have_a_factor() -> None:
    noise = SupplyNoise(variation=3.0)
    assert 0 <= noise.factor(0.0) < 1e-5
    assert noise.factor(1 - 2.0**-53) == noise.most
    assert math.isfinite(noise.most)


def test_a_quantity_is_the_one_worked_out_from_its_three_uniforms() -> None:
    luck = draws(7, "supply", 3, "tea")
    missed, quantile, rounding = luck.uniform(), luck.uniform(), luck.uniform()
    z = NormalDist().inv_cdf(quantile)
    factor = math.exp(math.sqrt(math.log(1.25)) * z) / math.sqrt(1.25)
    expected = 0 if missed < 0.1 else math.floor(40 * factor + rounding)
    assert drawn(NOISE, 7, 3, "tea", 40) == expected


def test_offers_have_the_stated_mean_and_deviation_and_miss_the_stated_share() -> None:
    units = [drawn(NOISE, 1, step, "tea", 100) for step in range(20_000)]
    made = [n for n in units if n]
    assert 1 - len(made) / len(units) == pytest.approx(0.1, abs=0.01)
    assert mean(made) == pytest.approx(100, rel=0.01)
    assert stdev(made) == pytest.approx(50, rel=0.03)


def test_rounding_leaves_the_mean_of_a_single_unit_at_one() -> None:
    few = SupplyNoise(variation=0.3)
    assert mean(drawn(few, 1, step, "tea", 1) for step in range(20_000)) == pytest.approx(1, 0.02)


def test_a_change_of_noise_leaves_the_luck_in_place() -> None:
    none, some = SupplyNoise(), SupplyNoise(shock=0.4)
    for step in range(200):
        quantity = drawn(some, 1, step, "tea", 10)
        assert quantity in (0, drawn(none, 1, step, "tea", 10))


def test_without_noise_offers_are_the_quantities_themselves() -> None:
    quantities = {"tea": 10}
    assert offered(None, 1, 1, quantities) is quantities
    assert offered(SupplyNoise(shock=1.0), 1, 1, quantities) == {"tea": 0}


def noisy(**changes: Any) -> list[str]:
    return [
        "rules.supply_noise={variation: 0.5, shock: 0.2}", "rules.attention.similarity=none",
        *(f"rules.{key}={value}" for key, value in changes.items()),
    ]  # fmt: skip


def test_the_market_offers_clears_and_records_what_was_drawn() -> None:
    played = play("arena/default", noisy(steps=3), events=True)
    rules = rules_of(load("arena/default", noisy(steps=3)))
    for step in (1, 2, 3):
        wanted = rules.offers(1, step)
        shown = next(
            d.observation.public["offers"]
            for d, _ in played.history
            if (d.step, d.turn) == (step, 0)
        )
        assert {offer["item"]: offer["quantity"] for offer in shown} == wanted
        recorded = [row for row in played.rows("supply") if row.step == step]
        assert {row.item: row.quantity for row in recorded} == wanted
        assert all(row.awarded <= row.quantity for row in recorded)
        assert all(row.awarded == row.quantity or row.asked == row.awarded for row in recorded)
        demand = [row.wanted for row in played.rows("demand") if row.step == step]
        assert sum(demand) == rules.demand == 1_400
    offers = {row.quantity for row in played.rows("supply") if row.item == "item1"}
    assert len(offers) == 3


def test_nobodys_bid_moves_the_supply() -> None:
    def supply(*more: str) -> list[tuple[int, str, int]]:
        played = play("arena/default", [*noisy(steps=2), *more], events=True)
        return sorted({(row.step, row.item, row.quantity) for row in played.rows("supply")})

    assert supply() == supply("retailers=[{name: idle, policy: idle, count: 3}]")


def test_references_take_expected_supply_and_bounds_of_a_game_the_drawn_one() -> None:
    rules = rules_of(load("arena/default", noisy()))
    assert demands(rules)["item1"].supply == pytest.approx(160)
    assert demands(rules)["item1"].units == pytest.approx(280)
    game = play("arena/default", noisy(), seed=4, events=True)
    found = seat_bounds(rules, 4, game.rows("bids"))
    assert found is not None
    for seat, score in game.scores.items():
        assert score < found[seat]


def test_efficiency_is_measured_against_the_supply_there_was() -> None:
    # Everything that was offered is bought, at base, and sold below the limits in the same step.
    played = play("arena/monopoly", ["rules.supply_noise={variation: 1.0}"], seed=5, events=True)
    (supply,) = played.rows("supply")
    (efficiency,) = [row.value for row in played.rows("indices")
                     if row.index == "allocative_efficiency" and not row.item]  # fmt: skip
    assert supply.quantity != 950
    assert 0 < efficiency <= 1


@pytest.mark.parametrize(
    ("noise", "named"),
    [
        ({"variation": -0.1}, "variation"),
        ({"variation": 3.1}, "variation"),
        ({"shock": 1.1}, "shock"),
        ({"spread": 1}, "spread"),
    ],
)
def test_wrong_noise_is_refused(noise: dict[str, float], named: str) -> None:
    with pytest.raises(ValidationError, match=named):
        SupplyNoise.model_validate(noise)
