"""Which products a machine should hold, and how many units of each, from rolling demand."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from math import ceil

from market.vending.policies.rolling import Rolling
from market.vending.policies.script import WEEK, Row

#: Targets in weeks of demand: the largest whose volume fits is taken.
COVERS = (6.0, 5.0, 4.0, 3.0, 2.5, 2.0, 1.75, 1.5, 1.25, 1.0, 0.75, 0.5, 0.25)
#: Share of a product's life within which a target should sell.
FRESH = 0.5
#: Products considered for a machine beside its own, in slots.
CANDIDATES = 2
#: How much better than a product of the machine's own another must be to take its place.
LOYALTY = 1.5


@dataclass(frozen=True, slots=True)
class Assortments:
    """Ranks products for machines by the gross profit that they are expected to bring.

    Attributes:
        goods: The rows of the catalogue, by product.
        types: The type of each machine's site.
        rolling: What was sold.
        slots: Products that a machine can list.
        volume: Volume units that a machine can hold.
        least: Units that a machine is given at least of a product that ever sold; of others, one.
    """

    goods: Mapping[str, Row]
    types: Mapping[str, str]
    rolling: Rolling
    slots: int
    volume: int
    least: int

    def best(
        self, own: Mapping[str, Collection[str]], levels: Mapping[str, float], changes: int
    ) -> dict[str, list[str]]:
        """The products of each machine, the best first; those that were never tried are no part.

        Args:
            own: What each machine lists.
            levels: Price level of each type of site, in multiples of the reference.
            changes: Most products of a machine that give way to others.
        """
        promising = {kind: self._promising(kind, level) for kind, level in levels.items()}
        found = {}
        for machine, kind in self.types.items():
            mine, worth = own[machine], {}
            for product in dict.fromkeys([*promising[kind], *mine]):
                worth[product] = self.rolling.at(machine, product) * self._margin(
                    product, levels[kind]
                )
                if product in mine:
                    worth[product] *= LOYALTY
            ranked = sorted(worth, key=worth.__getitem__, reverse=True)
            safe = [product for product in ranked if product in mine]
            safe = safe[: max(0, self.slots - changes)]
            others = [product for product in ranked if product not in safe]
            kept = {*safe, *others[: self.slots - len(safe)]}
            found[machine] = [product for product in ranked if product in kept]
        return found

    def targets(self, machine: str, products: Sequence[str], most: float) -> dict[str, int]:
        """Units of each product after a round: as many weeks of demand as the volume allows.

        Args:
            machine: The machine.
            products: What it should hold, the best first; the last may find no room.
            most: Weeks of demand at most.
        """
        rates = {product: self.rolling.at(machine, product) for product in products}
        found = dict.fromkeys(products, 0)
        for cover in (min(cover, most) for cover in COVERS):
            found = {product: self._target(product, rates[product], cover) for product in products}
            room = self.volume - sum(n * self.goods[p]["volume"] for p, n in found.items())
            if room >= 0:
                return found
        free = self.volume
        for product, units in found.items():
            volume = self.goods[product]["volume"]
            found[product] = min(units, free // volume)
            free -= found[product] * volume
        return {product: units for product, units in found.items() if units}

    def _promising(self, kind: str, level: float) -> list[str]:
        """The best products for a type of site, of those that were tried."""
        worth = {
            product: self.rolling.at_type(kind, product) * self._margin(product, level)
            for product in self.goods
            if self.rolling.tried(product)
        }
        return sorted(worth, key=worth.__getitem__, reverse=True)[: CANDIDATES * self.slots]

    def _margin(self, product: str, level: float) -> float:
        row = self.goods[product]
        return float(level * row["reference"] - row["cost"])

    def _target(self, product: str, rate: float, cover: float) -> int:
        fresh: float = FRESH * rate * self.goods[product]["shelf_life"] / WEEK
        least = self.least if self.rolling.sold(product) else 1
        return max(least, ceil(min(cover * rate, fresh)))
