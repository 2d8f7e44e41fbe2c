"""Price trials: halves that change, and the step after a win or a loss."""

from __future__ import annotations

import pytest

from market.vending.policies.price_trials import PriceTrial


def week(trial: PriceTrial, tried: float, stayed: float) -> None:
    for number in range(4):
        trial.add(number, tried if number % 2 == trial.half else stayed)
    trial.end_week()


def test_half_of_the_machines_try_a_level_and_then_the_other_half() -> None:
    trial = PriceTrial(highest=3.0, step=0.2)
    assert [trial.multiple(n) for n in range(4)] == pytest.approx([1.2, 1, 1.2, 1])
    week(trial, 1, 1)
    assert [trial.multiple(n) for n in range(4)] == pytest.approx([1, 1.2, 1, 1.2])


def test_a_level_that_earned_more_over_both_weeks_stays() -> None:
    trial = PriceTrial(highest=3.0, step=0.2)
    week(trial, 10, 12)
    assert trial.level == 1
    week(trial, 15, 12)
    assert trial.level == pytest.approx(1.2)
    assert trial.step == 0.2
    assert trial.multiple(0) == pytest.approx(1.44)


def test_after_a_loss_the_other_direction_is_tried_with_a_smaller_step() -> None:
    trial = PriceTrial(highest=3.0, step=0.2)
    week(trial, 10, 12)
    week(trial, 12, 12)
    assert trial.level == 1
    assert trial.step == pytest.approx(-0.14)
    week(trial, 1, 2)
    week(trial, 1, 2)
    assert trial.step == pytest.approx(0.098)


def test_a_trial_begins_with_nothing_of_the_one_before() -> None:
    trial = PriceTrial(highest=3.0)
    for _ in range(2):
        week(trial, 5, 9)
    assert (trial.half, trial.tried, trial.stayed) == (0, 0, 0)


def test_steps_do_not_vanish() -> None:
    trial = PriceTrial(highest=3.0)
    for _ in range(40):
        week(trial, 1, 2)
    assert abs(trial.step) == 0.06


def test_levels_stay_within_what_is_allowed() -> None:
    up, down = PriceTrial(highest=1.5, step=0.4), PriceTrial(highest=3.0, step=-0.4)
    for _ in range(6):
        week(up, 2, 1)
        week(down, 2, 1)
    assert up.level == 1.5
    assert down.level == 0.8
