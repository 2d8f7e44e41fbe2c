from __future__ import annotations

from fractions import Fraction
from pathlib import Path
from statistics import fmean, stdev

import pytest

from market.arena.counterfactual.regret import PARTS, Gain, named, regret
from market.arena.counterfactual.scene import Scene
from tests.market.arena.counterfactual.recordings import recorded_scenes

SMALL = ("rules.steps=2", "rules.buyers=60", "rules.supply_scale=0.3")


def monopoly(folder: Path, multiple: float, seed: int = 1) -> list[Scene]:
    return recorded_scenes(
        folder / f"{multiple}-{seed}",
        "arena/monopoly",
        f"retailers.0.options.multiple={multiple}",
        "retailers.0.name=one",
        seed=seed,
    )


def test_the_best_fixed_price_has_no_regret_though_hindsight_finds_one(tmp_path: Path) -> None:
    # The best price of the known-answer market is 150.
    gains = [
        regret(monopoly(tmp_path, 1.5, seed)).seats["one"].gains["price"] for seed in range(1, 9)
    ]

    def interval(values: list[float]) -> tuple[float, float]:
        half = 2.365 * stdev(values) / len(values) ** 0.5  # t of 7 degrees of freedom
        return fmean(values) - half, fmean(values) + half

    low, high = interval([gain.value for gain in gains])
    assert low <= 0 <= high
    assert high < 50  # of a profit of 23,750
    assert any(gain.value < 0 for gain in gains)
    assert sum(gain.interval[0] <= 0 <= gain.interval[1] for gain in gains) >= 6
    for naive in ("in_sample", "hindsight"):
        figures = [getattr(gain, naive) for gain in gains]
        assert min(figures) >= 0
        assert interval(figures)[0] > 0


def test_the_regret_of_a_price_is_what_the_best_one_brings_more(tmp_path: Path) -> None:
    # 950 buyers worth 100 to 200: 150 earns 50 x 475 = 23,750 on average, 130 earns 30 x 665.
    gain = regret(monopoly(tmp_path, 1.3)).seats["one"].gains["price"]
    assert gain.value == pytest.approx(23_750 - 19_950, abs=250)


def test_a_single_seller_regrets_no_bid_at_base_and_no_slogan(tmp_path: Path) -> None:
    gains = regret(monopoly(tmp_path, 1.5)).seats["one"].gains
    assert gains["bid"] == gains["slogan"] == Gain(0.0, 0.0, 0.0, 0.0)


def test_parts_add_up_and_a_bigger_subset_finds_no_less_on_its_own_half(tmp_path: Path) -> None:
    played = recorded_scenes(tmp_path / "journal", "arena/default", *SMALL)
    found = regret(played, redraws=8, seats=["markup-1", "zi-1", "stuffer"])
    assert found.seats.keys() == {"markup-1", "zi-1", "stuffer"}
    for seat in found.seats.values():
        for step in seat.steps:
            whole = Fraction(step.gains["bid+price+slogan"].value)
            assert sum(step.parts.values(), Fraction(0)) == whole
            for name, gain in step.gains.items():
                assert gain.in_sample >= 0
                assert gain.hindsight >= 0
                for part in name.split("+"):
                    assert step.gains[part].in_sample <= gain.in_sample + 1e-6
        for name, gain in seat.gains.items():
            assert gain.value == pytest.approx(sum(step.gains[name].value for step in seat.steps))
        assert set(seat.parts) == set(PARTS)


def test_the_same_recording_gives_the_same_regret(tmp_path: Path) -> None:
    played = recorded_scenes(tmp_path / "journal", "arena/default", *SMALL)
    first, again = (regret(played[:1], redraws=4, seats=["zi-1"]) for _ in range(2))
    assert first == again


def test_words_without_meaning_are_not_regretted(tmp_path: Path) -> None:
    played = recorded_scenes(
        tmp_path / "journal", "arena/default", *SMALL, "rules.attention.similarity=none"
    )
    for seat in regret(played[:1], redraws=4, seats=["markup-1", "zi-1"]).seats.values():
        assert seat.gains["slogan"].value == seat.gains["slogan"].hindsight == 0


def test_without_retail_or_without_a_bound_on_prices_there_is_no_regret(tmp_path: Path) -> None:
    nothing = regret(recorded_scenes(tmp_path / "one", "arena/demand-reduction"))
    assert (nothing.seats, bool(nothing.undefined)) == ({}, True)
    unbounded = recorded_scenes(
        tmp_path / "two",
        "arena/monopoly",
        "rules.willingness_to_pay=null",
        "rules.price_cap=null",
    )
    found = regret(unbounded)
    assert found.seats == {}
    assert found.undefined == "neither buyers nor a cap limit the price: no price is the best one"


def test_a_seat_without_stock_regrets_its_bid_and_not_its_price(tmp_path: Path) -> None:
    # One bought everything; the other bid for nothing and has nothing to price.
    played = recorded_scenes(
        tmp_path / "journal",
        "arena/monopoly",
        "rules.attention.k_max=2",
        "rules.initial_funds=200000",
        "retailers=[{name: one, policy: fixed, options: {multiple: 1.5, "
        "bids: [{item: good, quantity: 950, price: 100}]}}, "
        "{name: idle, policy: fixed, options: {bids: []}}]",
    )
    seats = regret(played, redraws=16).seats
    assert seats["idle"].gains["price"].value == seats["idle"].gains["bid"].value == 0
    # With a bid of 101 it can have all 950 units and ask what the other does.
    both = seats["idle"].gains["bid+price"].value
    assert both == pytest.approx(49.5 * 475 - 475, rel=0.1)
    assert sum(seats["idle"].parts.values()) == Fraction(both)


def test_an_odd_number_of_redraws_has_no_halves() -> None:
    with pytest.raises(ValueError, match="halved"):
        regret([], redraws=7)


def test_subsets_are_named_in_the_order_of_decisions() -> None:
    assert named({"slogan", "bid"}) == "bid+slogan"
