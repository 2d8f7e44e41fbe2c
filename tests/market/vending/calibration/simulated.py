"""Sales of a generated world, as a CSV: what the simulator sells is what is fitted to."""

from __future__ import annotations

import csv
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from market.vending.calendar import Calendar
from market.vending.demand import Ints, Shelf
from market.vending.rules import VendingRules
from market.vending.world import World
from tests.market.vending.operations import PUNCTUAL, Stocker, paper, playing

#: Sites that differ less than those of the published world, where tastes hide popularity.
ALIKE: Mapping[str, Any] = {
    "preference": {"kind": "lognormal", "sigma": 0.25},
    "type_alignment": {"kind": "constant", "value": 1},
    "site_alignment": {"kind": "lognormal", "sigma": 0.4},
}
#: Products and demand: about 7, 2 and 3 units per machine and day, where records have 2 to 11.
WORLDS: Mapping[str, tuple[int, Mapping[str, Any]]] = {
    "moderate": (40, {**ALIKE, "outside": 60}),
    "few sales": (40, ALIKE),
    "published": (60, {}),
}
HEADS = ("timestamp", "machine", "product", "price", "quantity", "site_type", "subcategory")
STOCK = (*HEADS, "stock")


@dataclass(frozen=True)
class Simulated:
    """A generated world and what was sold in it.

    Attributes:
        rules: The rules.
        world: The world.
        calendar: Its days.
        days: Shelves when sales began, and units sold, of each day on which there was anything.
    """

    rules: VendingRules
    world: World
    calendar: Calendar
    days: Mapping[int, tuple[Shelf, Ints]]

    def write(self, path: Path, heads: tuple[str, ...] = HEADS) -> Path:
        """Write the sales under these names of columns; with stock, also where nothing sold."""
        world, goods = self.world, self.world.catalogue
        with path.open("w", newline="", encoding="utf-8") as file:
            rows = csv.writer(file)
            rows.writerow(heads)
            for day, (shelf, sold) in self.days.items():
                when = self.calendar[day].date.isoformat()
                columns = (shelf.sites, shelf.products, shelf.prices, shelf.units, sold)
                for m, p, price, stock, units in zip(*(c.tolist() for c in columns), strict=True):
                    if units or len(heads) == len(STOCK):
                        row = (
                            when, world.machines[m], goods[p].product, price / 100, units,
                            world.site_types[m], goods[p].subcategory, stock,
                        )  # fmt: skip
                        rows.writerow(row[: len(heads)])
        return path


@cache
def simulated(kind: str = "few sales", seed: int = 3, days: int = 365) -> Simulated:
    """An operator keeps all products of a small catalogue in all 20 machines for a year."""
    products, demand = WORLDS[kind]
    lasting = {
        name: {**kind.model_dump(), "shelf_life": 3_660}
        for name, kind in paper().subcategories.items()
    }
    of = paper(
        **PUNCTUAL,
        days=days,
        products=products,
        subcategories=lasting,
        cash=1e8,
        demand=demand,
    )
    policy = Stocker("a", 0, products=products, units=4, every=5)
    played = playing(of, {"a": policy.act}, seed, events=True)
    environment = played.environment
    world = environment.world
    place = {name: m for m, name in enumerate(world.machines)}
    rows: dict[int, list[tuple[int, ...]]] = {}
    for row in played.rows("sales"):
        rows.setdefault(row.step, []).append(
            (place[row.machine], world.catalogue.index[row.product], row.units, row.price, row.sold)
        )
    fullness: dict[int, list[float]] = {}
    for row in played.rows("machines"):
        fullness.setdefault(row.step, []).append(row.used / of.volume)
    shelves = {}
    for day, found in rows.items():
        *columns, sold = np.array(found).T
        shelves[day] = Shelf(*columns, np.array(fullness[day])), sold
    return Simulated(of, world, environment.calendar, shelves)
