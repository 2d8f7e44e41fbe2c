from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from market.arena.counterfactual.luck import luck
from market.arena.counterfactual.redraws import settle, step_profit
from market.arena.storefront import CLOSED
from tests.market.arena.counterfactual.recordings import recorded_scenes

SMALL = ("rules.steps=2", "rules.buyers=40")


def test_the_figures_are_those_of_their_definition(tmp_path: Path) -> None:
    played = recorded_scenes(tmp_path / "journal", "arena/default", *SMALL)
    found = luck(played, redraws=3)
    seats = list(played[0].fronts)
    profits = np.array(
        [
            [[step_profit(scene, settle(scene, k), seat) for k in (1, 2, 3)] for scene in played]
            for seat in seats
        ],
        float,
    )  # seats, steps, redraws
    totals = profits.sum(axis=1)
    for seat, own, total in zip(seats, profits, totals, strict=True):
        one = found.seats[seat]
        assert one.recorded == sum(scene.profits[seat] for scene in played)
        assert one.adjusted == pytest.approx(total.mean())
        assert one.deviation == pytest.approx(np.sqrt(own.var(axis=1, ddof=1).sum()))
        assert one.luck == pytest.approx(one.recorded - total.mean())
        assert [step.adjusted for step in one.steps] == pytest.approx(own.mean(axis=1))
    means = totals.mean(axis=1)
    noise = (totals - means[:, None]).var(axis=0, ddof=1).mean() / 2
    recorded = np.array([found.seats[seat].recorded for seat in seats], float)
    assert found.noise == pytest.approx(noise)
    assert found.skill == pytest.approx((means.var(ddof=1) - noise) / recorded.var(ddof=1))


def test_a_market_without_luck_is_all_skill(tmp_path: Path) -> None:
    # Everybody considers everybody, takes any price up to the cap and wants the one good; a cent
    # separates the two sellers, so neither buyers nor ties decide anything.
    played = recorded_scenes(
        tmp_path / "journal",
        "arena/monopoly",
        "rules.willingness_to_pay=null",
        "rules.attention.k_max=2",
        "rules.initial_funds=60000",
        "retailers=[{name: cheap, policy: fixed, options: {multiple: 1.1, premium: 0.0}}"
        ", {name: dear, policy: fixed, options: {multiple: 1.2, premium: 0.0}}]",
    )
    found = luck(played, redraws=4)
    assert found.skill == pytest.approx(1.0)
    assert found.noise == 0
    for seat in found.seats.values():
        assert seat.recorded > 0
        assert (seat.luck, seat.deviation, seat.error) == (0, 0, 0)


def test_one_seller_has_no_share_of_skill(tmp_path: Path) -> None:
    found = luck(recorded_scenes(tmp_path / "journal", "arena/monopoly"), redraws=2)
    assert found.skill is None
    assert found.undefined is not None
    assert "fewer than two" in found.undefined


def test_where_nothing_was_sold_everybody_earned_the_same(tmp_path: Path) -> None:
    (scene,) = recorded_scenes(tmp_path / "journal", "arena/default", "rules.steps=1")
    closed = replace(
        scene,
        fronts=dict.fromkeys(scene.fronts, CLOSED),
        stock=dict.fromkeys(scene.fronts, (0,) * 8),
        costs=dict.fromkeys(scene.fronts, (0,) * 8),
        profits=dict.fromkeys(scene.fronts, 0),
    )
    found = luck([closed], redraws=2)
    assert (found.skill, found.noise) == (None, 0)
    assert found.undefined is not None
    assert "the same" in found.undefined
    assert all(seat.adjusted == 0 for seat in found.seats.values())


def test_without_a_step_there_is_nobody() -> None:
    found = luck([])
    assert found.seats == {}
    assert found.skill is None


def test_one_redraw_is_no_luck() -> None:
    with pytest.raises(ValueError, match="at least 2"):
        luck([], redraws=1)
