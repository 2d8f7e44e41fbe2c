"""Scatter and forecasts, worked by hand or from known draws."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from market.config import load
from market.play import play
from market.vending.calibration import moments
from market.vending.calibration.fit import Assumed
from market.vending.calibration.holdout import hold_out
from market.vending.calibration.preset import configuration, save
from market.vending.calibration.records import CalibrationError, Records
from market.vending.calibration.text import as_text
from market.vending.rules import VendingRules
from tests.market.vending.calibration.test_records import part


def weekly(weeks: int = 20) -> Records:
    """Product p0 sells 4 on weekdays and 0 at weekends, p1 sells half as much."""
    week = [4.0] * 5 + [0.0] * 2
    return part([week * weeks, [each / 2 for each in week] * weeks])


def test_what_repeats_is_foretold() -> None:
    fit, holdout = hold_out(weekly(), Assumed(), 0.8)
    assert (holdout.fitted, holdout.days) == (112, 28)
    assert holdout.wape < 0.15
    assert holdout.volume == pytest.approx(0, abs=0.01)
    assert holdout.tvd == pytest.approx(0, abs=0.01)
    # The mean of 30 / 7 misses by 12 / 7 on weekdays and by 30 / 7 at weekends: 120 / 7 of 30.
    assert holdout.wape_naive == pytest.approx(120 / 7 / 30)
    # The day before misses by 6 on Mondays and on Saturdays.
    assert holdout.wape_persistence == pytest.approx(12 / 30)
    # Evenly a half each, in truth two thirds and one.
    assert holdout.tvd_naive == pytest.approx(2 / 3 - 1 / 2)
    assert holdout.spearman is None
    assert fit.popularity == pytest.approx([4 / 3, 2 / 3], rel=0.02)
    assert fit.week[0, :7] == pytest.approx([1.4] * 5 + [0] * 2, abs=0.25)


def test_a_period_that_is_too_short_is_told() -> None:
    with pytest.raises(CalibrationError, match="must be 14 at least of each"):
        hold_out(weekly(4), Assumed(), 0.8)


def test_crowds_and_dispersions_are_told_apart() -> None:
    draws = np.random.default_rng(1)
    days, mean = 4_000, np.array([2.0, 5.0])
    crowd = draws.gamma(4, 1 / 4, days)
    phi = np.array([1.3, 2.0])
    given = mean[:, None] * crowd
    units = draws.negative_binomial(given / (phi[:, None] - 1), 1 / phi[:, None])
    variance, dispersion = moments.scatter(part(units.tolist()), np.repeat(mean[:, None], days, 1))
    assert variance[0] == pytest.approx(1 / 4, abs=0.03)
    assert dispersion == pytest.approx(phi, abs=0.15)


def test_tastes_scatter_as_far_as_sales_miss_their_means() -> None:
    draws = np.random.default_rng(2)
    expected = draws.uniform(20, 60, 3_000)
    sold = draws.poisson(expected * draws.gamma(2, 1 / 2, 3_000)).astype(float)
    variance = 0.3
    for _ in range(10):
        variance = moments.tastes(sold, expected, variance, 1.0)
    assert variance == pytest.approx(1 / 2, abs=0.05)
    assert moments.tastes(expected, expected, 0.3, 1.0) == 0


def test_a_fitted_world_is_a_configuration_that_is_played(tmp_path: Path) -> None:
    fit, holdout = hold_out(weekly(), Assumed(sensitivity=1.5, country="DE"), 0.8)
    made = configuration(fit, cost_share=0.5)
    path = tmp_path / "fitted.yaml"
    save(path, made, "A world.")
    config = load(str(path), ["rules.days=3"])
    rules = VendingRules.model_validate(config.rules)
    assert rules.fitted is not None
    assert [each.name for each in rules.fitted.products] == ["p0", "p1"]
    assert rules.fitted.products[0].cost == 0.5
    assert rules.fitted.sites[0].sensitivity == 1.5
    assert (rules.country, rules.start.isoformat()) == ("DE", "2025-06-23")
    assert play(config).scores["idle"] == 40_000 - 3 * 80
    assert "1 machines, 2 products" in as_text(fit, holdout)


def test_hostile_names_stay_names(tmp_path: Path) -> None:
    fit, _ = hold_out(weekly(), Assumed(), 0.8)
    name = "tea: {x} # \"'- 东方"
    records = fit.records
    object.__setattr__(records, "products", (name, "p1"))
    path = tmp_path / "fitted.yaml"
    save(path, configuration(fit), "A world.")
    assert load(str(path)).rules["fitted"]["products"][0]["name"] == name
