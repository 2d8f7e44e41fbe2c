"""Scatter and forecasts, worked by hand or from known draws."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from scipy.stats import nbinom

from market.config import load
from market.play import play
from market.vending.calendar import calendar
from market.vending.calibration import moments
from market.vending.calibration.fit import Assumed
from market.vending.calibration.holdout import hold_out
from market.vending.calibration.preset import configuration, save
from market.vending.calibration.records import Records
from market.vending.calibration.table import CalibrationError
from market.vending.calibration.text import as_text
from market.vending.demand import Demand, Shelf
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


def test_what_sold_out_counts_with_the_mean_of_what_would_have_sold() -> None:
    mean, dispersion, stock = 2.5, 1.6, 3
    units = np.arange(400)
    chance = nbinom.pmf(units, mean / (dispersion - 1), 1 / dispersion)
    over = units >= stock
    by_hand = (units * chance)[over].sum() / chance[over].sum()
    found = moments.uncensored(
        np.array([[3.0, 1.0]]),
        np.array([[True, False]]),
        np.full((1, 2), mean),
        np.array([dispersion]),
    )
    assert found[0] == pytest.approx([by_hand, 1.0])


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
    told = as_text(fit, holdout)
    assert "1 machines, 2 products" in told
    assert "Left out" not in told
    assert f"logarithms: popularity {fit.spreads['popularity']:.2f}.\n" in told


@pytest.mark.parametrize("fullness", [0.1, 1.0])
def test_a_fitted_world_sells_what_its_records_say_however_full_machines_are(
    fullness: float,
) -> None:
    fit, _ = hold_out(weekly(), Assumed(), 0.8)
    made = configuration(fit)
    rules = VendingRules.model_validate(made["rules"])
    assert rules.fitted is not None
    world = rules.fitted.world()
    demand, days = Demand(rules, world), calendar(rules, 1)
    goods = np.arange(2)
    shelf = Shelf(
        sites=np.zeros(2, int),
        products=goods,
        units=np.full(2, 40),
        prices=world.catalogue.reference[goods],
        fullness=np.array([fullness]),
    )
    weeks = range(1, 29)
    sold = [demand.means([shelf], demand.expected_traffic(days, day))[0] for day in weeks]
    assert np.mean(sold, 0) == pytest.approx(fit.records.units.mean(1), rel=0.01)


def test_machines_and_products_without_sales_in_the_first_part_are_left_out_and_told() -> None:
    later = [0.0] * 84 + [1.0] * 16
    daily = [1.0] * 100
    records = replace(
        part([daily, daily, later, later]),
        machines=("A", "B", "C"),
        site_types=("A", "B", "C"),
        machine=np.array([0, 1, 1, 2]),
        product=np.array([0, 1, 2, 3]),
    )
    fit, holdout = hold_out(records, Assumed(), 0.8)
    fitted = configuration(fit)["rules"]["fitted"]
    assert [site["name"] for site in fitted["sites"]] == ["A", "B"]
    assert [product["name"] for product in fitted["products"]] == ["p0", "p1"]
    told = as_text(fit, holdout)
    assert "Fitted to 80 days: 2 machines, 2 products, 160 units.\n" in told
    assert "Left out, as they sold nothing in these days: 1 machines (C), 2 products.\n" in told


def test_hostile_names_stay_names(tmp_path: Path) -> None:
    fit, _ = hold_out(weekly(), Assumed(), 0.8)
    name = "tea: {x} # \"'- 东方"
    records = fit.records
    object.__setattr__(records, "products", (name, "p1"))
    path = tmp_path / "fitted.yaml"
    save(path, configuration(fit), "A world.")
    assert load(str(path)).rules["fitted"]["products"][0]["name"] == name
