"""A year of a generated world is enough to find it again, and to foretell what comes."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from scipy.stats import spearmanr

from market.vending.calibration.fit import Assumed, Fit
from market.vending.calibration.holdout import Holdout, hold_out
from market.vending.calibration.records import read
from market.vending.world import World
from tests.market.vending.calibration.simulated import HEADS, STOCK, simulated


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> tuple[World, Fit, Holdout]:
    made = simulated()
    path = made.write(tmp_path_factory.mktemp("sales") / "sales.csv")
    fit, holdout = hold_out(read(path), Assumed(country="CN"))
    return made.world, fit, holdout


def true(world: World, fit: Fit) -> np.ndarray:
    """(products) where the fit's products are in the world."""
    return np.array([world.catalogue.index[code] for code in fit.records.products])


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(4))
def test_popularity_is_recovered_in_worlds_of_moderate_demand(tmp_path: Path, seed: int) -> None:
    made = simulated("moderate", seed)
    fit, holdout = hold_out(read(made.write(tmp_path / "sales.csv")), Assumed(country="CN"))
    here = true(made.world, fit)
    assert spearmanr(fit.popularity, made.world.popularity[here]).statistic > 0.9
    assert spearmanr(fit.attraction, geometric(made.world)[here]).statistic > 0.97
    assert holdout.wape < min(holdout.wape_naive, holdout.wape_persistence)


@pytest.mark.slow
def test_in_the_published_world_it_is_what_products_attract_over_all_sites(tmp_path: Path) -> None:
    """There tastes of types and sites move a product's mean so far that popularity is hidden."""
    made = simulated("published")
    fit, holdout = hold_out(read(made.write(tmp_path / "sales.csv")), Assumed(country="CN"))
    here = true(made.world, fit)
    attraction, popularity = geometric(made.world)[here], made.world.popularity[here]
    assert spearmanr(fit.attraction, attraction).statistic > 0.94
    most = spearmanr(popularity, attraction).statistic
    assert most < 0.9
    assert spearmanr(fit.popularity, popularity).statistic > most - 0.03
    assert holdout.wape < min(holdout.wape_naive, holdout.wape_persistence)


@pytest.mark.slow
def test_stock_tells_how_much_more_what_sells_out_is_wanted(tmp_path: Path) -> None:
    made = simulated("moderate")
    found = {}
    for heads in (HEADS, STOCK):
        fit, holdout = hold_out(read(made.write(tmp_path / "sales.csv", heads)), Assumed())
        attraction = np.log(geometric(made.world)[true(made.world, fit)])
        found[heads] = np.polyfit(attraction, np.log(fit.attraction), 1)[0]
        assert abs(holdout.volume) < 0.1
        assert (fit.kept < 1).any() == (heads is STOCK)
    assert found[HEADS] < 0.9
    assert found[STOCK] == pytest.approx(1, abs=0.06)


def geometric(world: World) -> np.ndarray:
    """(products) the geometric mean of attraction over sites."""
    return np.exp(np.log(world.appeal).mean(0))


def test_popularity_is_recovered(found: tuple[World, Fit, Holdout]) -> None:
    world, fit, _ = found
    assert spearmanr(fit.popularity, world.popularity[true(world, fit)]).statistic > 0.9


def test_what_single_sites_like_is_recovered(found: tuple[World, Fit, Holdout]) -> None:
    world, fit, _ = found
    appeal = world.appeal[:, true(world, fit)]
    ours = fit.popularity * fit.taste
    single = [spearmanr(*pair).statistic for pair in zip(ours, appeal, strict=True)]
    assert np.mean(single) > 0.8


def test_weekdays_and_holidays_are_recovered(found: tuple[World, Fit, Holdout]) -> None:
    world, fit, _ = found
    level = world.week.mean(1, keepdims=True)
    assert np.abs(fit.week[:, :7] - world.week / level).max() < 0.25
    assert np.corrcoef(fit.week[:, 7], (world.holiday / level[:, 0]))[0, 1] > 0.9


def test_scatter_is_recovered(found: tuple[World, Fit, Holdout]) -> None:
    world, fit, _ = found
    assert np.corrcoef(fit.crowd, world.crowds)[0, 1] > 0.5
    assert fit.crowd.mean() == pytest.approx(world.crowds.mean(), abs=0.08)
    assert fit.dispersion.mean() == pytest.approx(world.dispersion.mean(), abs=0.25)


def test_forecasts_beat_the_mean_and_persistence(found: tuple[World, Fit, Holdout]) -> None:
    _, _, holdout = found
    assert holdout.wape < 0.95 * holdout.wape_naive
    assert holdout.wape < 0.9 * holdout.wape_persistence
    assert abs(holdout.volume) < 0.15
    assert holdout.tvd < holdout.tvd_naive / 2
    assert holdout.spearman is not None
    assert holdout.spearman > 0.5


def test_machines_without_types_and_kinds_can_be_fitted_too(tmp_path: Path) -> None:
    made = simulated()
    heads = ("Date", "Kiosk", "Item", "Paid", "Units")
    names = dict(zip(("timestamp", "machine", "product", "price", "quantity"), heads, strict=True))
    path = made.write(tmp_path / "bare.csv", heads)
    fit, holdout = hold_out(read(path, names), Assumed())
    assert spearmanr(fit.popularity, made.world.popularity[true(made.world, fit)]).statistic > 0.9
    assert holdout.wape < min(holdout.wape_naive, holdout.wape_persistence)
