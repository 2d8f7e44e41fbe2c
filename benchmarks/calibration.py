"""How well calibration finds generated worlds again, how well it foretells, and how long it takes.

    python benchmarks/calibration.py [worlds]

A year of sales of 20 machines is simulated, written as a CSV, read and fitted, in 20 worlds of each
kind unless said otherwise. The rank correlation of true popularity is given for fits to

    sales           the CSV of sales alone, as `market calibrate` reads it
    with stock      the same with a column of stock
    told spreads    the same estimator, told the true spreads of popularity and tastes, the traffic
                    of each day, stock, fullness and dispersions
    told tastes     told all that and the tastes of each site: one step of maximum likelihood from
                    the truth, with sales limited by stock
    told attraction told no sales but each site's true attraction to each product, as endless sales
                    would tell it, and the true spreads: the best linear prediction

Of `sites' attraction`, the geometric mean of attraction over sites, it is that of the fit to sales.
WAPE is that of the last fifth, foretold by the fit to the rest. Seconds are CPU, of one fit.
"""

from __future__ import annotations

import sys
import tempfile
import time
from collections.abc import Mapping
from pathlib import Path

import numpy as np
from scipy.stats import nbinom, spearmanr

from benchmarks._measure import table
from market.vending.calibration.effects import Effects
from market.vending.calibration.fit import Assumed, fit
from market.vending.calibration.holdout import hold_out
from market.vending.calibration.records import Floats, Ints, Records, read
from market.vending.demand import Demand
from tests.market.vending.calibration.simulated import (
    HEADS,
    STOCK,
    WORLDS,
    Simulated,
    simulated,
)

COUNT = 20
AIM = 0.9
ASSUMED = Assumed(country="CN")
#: Rounds in which the told estimator settles, and the least spread that it may be told.
ROUNDS, LEAST = 20, 0.01
#: Columns that are rank correlations, and those of forecasts.
RANKS = (
    "sales", "with stock", "told spreads", "told tastes", "told attraction", "sites' attraction",
)  # fmt: skip
ERRORS = ("WAPE", "mean", "persistence")
HEAD = ("world", "units a day", *RANKS, *ERRORS, "s")


def main(count: int) -> None:
    """Print a table of each kind of world."""
    for kind in WORLDS:
        found = {seed: measured(simulated(kind, seed)) for seed in range(count)}
        simulated.cache_clear()
        print(f"{kind}, {count} worlds\n")
        columns = {name: np.array([each[name] for each in found.values()]) for name in HEAD[1:]}
        best = np.minimum(columns["mean"], columns["persistence"])
        good = {name: f"{(columns[name] > AIM).sum()} above {AIM}" for name in RANKS}
        good["WAPE"] = f"{(columns['WAPE'] < best).sum()} below both"
        rows = [
            (str(seed), *(told(each[name]) for name in columns)) for seed, each in found.items()
        ]
        rows.append(("mean", *(told(values.mean()) for values in columns.values())))
        rows.append(("least", *(told(values.min()) for values in columns.values())))
        rows.append(("worlds", *(good.get(name, "") for name in columns)))
        table(HEAD, rows)


def measured(made: Simulated) -> Mapping[str, float]:
    """All columns of one world."""
    with tempfile.TemporaryDirectory() as folder:
        sales = read(made.write(Path(folder) / "sales.csv", HEADS))
        stocked = read(made.write(Path(folder) / "stock.csv", STOCK))
    began = time.process_time()
    found = fit(sales, ASSUMED)
    took = time.process_time() - began
    _, holdout = hold_out(sales, ASSUMED)
    here = products(made, sales)
    true = made.world.popularity[here]
    attraction = np.exp(np.log(made.world.appeal[:, here]).mean(0))
    means, capped = expected(made)
    return {
        "units a day": sales.units.sum() / sales.days / len(sales.machines),
        "sales": rank(found.popularity, true),
        "with stock": rank(fit(stocked, ASSUMED).popularity, true),
        "told spreads": rank(told_spreads(made, sales, means), true),
        "told tastes": rank(told_tastes(made, sales, capped), true),
        "told attraction": rank(told_attraction(made)[here], true),
        "sites' attraction": rank(found.attraction, attraction),
        "WAPE": holdout.wape,
        "mean": holdout.wape_naive,
        "persistence": holdout.wape_persistence,
        "s": took,
    }


def products(made: Simulated, records: Records) -> Ints:
    """(products) where the products of records are in the world."""
    return np.array([made.world.catalogue.index[code] for code in records.products])


def expected(made: Simulated) -> tuple[Floats, Floats]:
    """(sites, products) true mean units demanded, and sold, over the year."""
    demand, dispersion = Demand(made.rules, made.world), made.world.dispersion
    demanded, capped = np.zeros_like(made.world.appeal), np.zeros_like(made.world.appeal)
    for day, (shelf, _) in made.days.items():
        (mean,) = demand.means([shelf], demand.expected_traffic(made.calendar, day))
        odds = 1 / dispersion[shelf.products]
        size = mean * odds / (1 - odds)
        stock = np.arange(shelf.units.max())[:, None]
        # The mean of the lesser of demand and stock n is the sum of P(demand > k) over k < n.
        more = nbinom.sf(stock, size, odds) * (stock < shelf.units)
        np.add.at(demanded, (shelf.sites, shelf.products), mean)
        np.add.at(capped, (shelf.sites, shelf.products), more.sum(0))
    return demanded, capped


def told_spreads(made: Simulated, sales: Records, means: Floats) -> Floats:
    """(products) log popularity of the same estimator, told all but attractions."""
    here = products(made, sales)
    pair = sales.machine, here[sales.product]
    effects = Effects(sales, spreads(made))
    dispersion = made.world.dispersion[pair[1]]
    for _ in range(ROUNDS):
        effects.step(sales.units.sum(1), (means / made.world.appeal)[pair], dispersion)
    return effects.logs["popularity"]


def told_tastes(made: Simulated, sales: Records, capped: Floats) -> Floats:
    """(products) popularity of which a year's mean sales are those that were."""
    here = products(made, sales)
    sold = np.bincount(sales.product, sales.units.sum(1), len(here))
    return made.world.popularity[here] * sold / capped.sum(0)[here]


def told_attraction(made: Simulated) -> Floats:
    """(catalogue) predicted log popularity, given all attractions.

    The mean log attraction of a product over balanced sites is its log popularity, that of its
    kind's preferences, which its kind shares, and that of its alignments.
    """
    world, spread = made.world, spreads(made)
    types, sites = len(set(world.site_types)), len(world.machines)
    kind = world.catalogue.kind
    alone = spread["alignment"] ** 2 / types + spread["own"] ** 2 / sites
    shared = (kind[:, None] == kind) * spread["preference"] ** 2 / types
    mean = np.log(world.appeal).mean(0)
    all_ = np.eye(len(mean)) * (spread["popularity"] ** 2 + alone) + shared
    return np.linalg.solve(all_, mean - mean.mean())


def spreads(made: Simulated) -> Mapping[str, float]:
    """The true standard deviations of logarithms."""
    demand = made.rules.demand
    drawn = {
        "preference": demand.preference,
        "alignment": demand.type_alignment,
        "own": demand.site_alignment,
    }
    return {
        "popularity": float(np.log(made.world.popularity).std()),
        **{name: max(getattr(each, "sigma", 0.0), LEAST) for name, each in drawn.items()},
    }


def rank(found: Floats, true: Floats) -> float:
    return float(spearmanr(found, true).statistic)


def told(value: float) -> str:
    return f"{value:.3f}"


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else COUNT)
