"""Sales of a generated world, as a CSV: what the simulator sells is what is fitted to."""

from __future__ import annotations

import csv
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from market.vending.world import World
from tests.market.vending.operations import PUNCTUAL, Stocker, paper, playing

#: Sites that differ less than those of the published world, where tastes hide popularity.
ALIKE = {
    "preference": {"kind": "lognormal", "sigma": 0.25},
    "type_alignment": {"kind": "constant", "value": 1},
    "site_alignment": {"kind": "lognormal", "sigma": 0.4},
}
HEADS = ("timestamp", "machine", "product", "price", "quantity", "site_type", "subcategory")


@dataclass(frozen=True)
class Simulated:
    """A generated world and what was sold in it: (date, machine, product, CNY, units)."""

    world: World
    sales: tuple[tuple[str, str, str, float, int], ...]

    def write(self, path: Path, heads: tuple[str, ...] = HEADS, until: int | None = None) -> Path:
        """Write the sales, or the first of them, under these names of columns."""
        goods, types = (
            self.world.catalogue,
            dict(zip(self.world.machines, self.world.site_types, strict=True)),
        )
        with path.open("w", newline="", encoding="utf-8") as file:
            rows = csv.writer(file)
            rows.writerow(heads)
            for when, machine, product, price, units in self.sales[:until]:
                kind = goods[goods.index[product]].subcategory
                row = (when, machine, product, price, units, types[machine], kind)
                rows.writerow(row[: len(heads)])
        return path


@cache
def simulated(days: int = 365, products: int = 40, alike: bool = True, seed: int = 3) -> Simulated:
    """An operator keeps all products of a small catalogue in all 20 machines for a year."""
    lasting = {
        name: {**kind.model_dump(), "shelf_life": 3_660}
        for name, kind in paper().subcategories.items()
    }
    demand = ALIKE if alike else {}
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
    sales = tuple(
        (
            environment.calendar[row.step].date.isoformat(),
            row.machine,
            row.product,
            row.price / 100,
            row.sold,
        )
        for row in played.rows("sales")
        if row.sold
    )
    return Simulated(environment.world, sales)
