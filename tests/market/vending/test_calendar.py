"""Days have the dates, holidays and weather of their place, and forecasts that may err."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

from market.rng import ForkedSeed
from market.vending.calendar import calendar, weather_factor
from market.vending.rules import FORECAST
from tests.market.vending.operations import paper, rules


def test_public_holidays_of_the_place_are_kept() -> None:
    days = calendar(paper(), 0)
    named = {day.date.isoformat(): day.holiday for day in days.days if day.holiday}
    assert named["2025-04-04"] == "Tomb-Sweeping Day"
    assert named["2025-05-01"] == "Labor Day"
    assert "2025-05-08" not in named


@pytest.mark.parametrize("step", [1, 2, 6, 15, 30])
def test_a_fork_keeps_what_was_shown_before_it_and_has_other_forecasts_after(step: int) -> None:
    of = rules(days=60)
    recorded, forked = calendar(of, 7), calendar(of, ForkedSeed(7, step, 100))
    assert forked.days == recorded.days
    before, after = range(1, step), range(step, 60)
    assert [*map(forked.forecast, before)] == [*map(recorded.forecast, before)]
    assert [*map(forked.forecast, after)] != [*map(recorded.forecast, after)]


def test_weather_depends_on_the_seed_alone_and_has_its_shares() -> None:
    of = rules(days=3_000)
    days = calendar(of, 1).days
    assert days == calendar(of, 1).days
    assert days != calendar(of, 2).days
    shares = [np.mean([day.condition == name for day in days]) for name in ("clear", "storm")]
    assert shares == pytest.approx([0.4, 0.06], abs=0.03)
    stays = np.mean([a.condition == b.condition for a, b in pairwise(days)])
    # Lingers with 0.4, and otherwise comes again by its share: 0.4 + 0.6 x sum of squares.
    assert stays == pytest.approx(0.4 + 0.6 * (0.4**2 + 0.3**2 + 0.24**2 + 0.06**2), abs=0.04)


def test_summer_is_warmer_than_winter() -> None:
    days = calendar(rules(days=365), 0).days
    by_month = {m: np.mean([d.temperature for d in days if d.date.month == m]) for m in (1, 7)}
    assert by_month[7] > by_month[1] + 15


def test_forecasts_are_better_the_nearer_the_day() -> None:
    days = calendar(rules(days=2_000), 0)
    right = [
        np.mean(
            [
                days.forecast(day)[ahead - 1]["weather"] == days[day + ahead].condition
                for day in range(1, 2_000)
            ]
        )
        for ahead in (1, FORECAST)
    ]
    assert right[0] > 0.93
    assert right[1] < right[0] - 0.15


def test_a_forecast_is_of_the_coming_week_and_holds_no_temperature() -> None:
    shown = calendar(rules(), 0).forecast(3)
    assert [each["day"] for each in shown] == [*range(4, 11)]
    assert all("temperature" not in each for each in shown)


def test_weather_moves_traffic_by_condition_and_comfort() -> None:
    of = rules(weather={"pleasant": 20, "discomfort": 0.01})
    day = calendar(of, 0)[1]
    expected = of.weather.conditions[day.condition].traffic
    expected *= 1 - 0.01 * abs(day.temperature - 20)
    assert weather_factor(of.weather, day) == pytest.approx(expected)
