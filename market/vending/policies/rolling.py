"""Rolling demand: units a week of each product in each machine, from what was sold there.

Machines teach each other. What a product sells anywhere is what is expected of it at a type of
site, what it sells at the type is expected of a machine, and a machine's own sales decide the more
the more there are: at each level

    rate = (units + shape) / (weeks + shape / expected)

the mean of a gamma distribution of that shape around what is expected, after so many units sold in
so many weeks. Older weeks fade. A product that sold out was on the shelf for a part of the week.
"""

from __future__ import annotations

from collections.abc import Mapping

#: Shape of what is expected of a product, of a type of site and of a machine: how much they vary.
PRODUCTS, TYPES, MACHINES = 0.7, 2.0, 2.0
#: What is left of a week's weight a week later.
KEPT = 0.9
#: Units a week expected of a product before anything was sold.
GUESS = 0.5
#: Share of the week that a product which sold out is taken to have been there.
SOLD_OUT = 0.6


class Rolling:
    """What was sold, by product, by type of site and by machine.

    Args:
        types: The type of each machine's site.
    """

    def __init__(self, types: Mapping[str, str]) -> None:
        self._types = types
        #: Names that no machine has.
        self._kinds = {kind: f"type {kind}" for kind in types.values()}
        #: Units and weeks by machine, type or all (""), and product: each in the weight of its
        #: week. Weights grow instead of older sums being made smaller.
        self._sums: dict[tuple[str, str], tuple[float, float]] = {}
        self._weight = 1.0
        self._units, self._weeks = 0.0, 0.0
        self._known: dict[tuple[str, str], float] = {}

    def fade(self) -> None:
        """Let a week pass."""
        self._weight /= KEPT
        self._known = {}

    def add(self, machine: str, product: str, units: int, sold_out: bool) -> None:
        """Take in a product's week in a machine."""
        weeks = SOLD_OUT if sold_out else 1.0
        for place in (machine, self._kinds[self._types[machine]], ""):
            before = self._sums.get((place, product), (0.0, 0.0))
            self._sums[place, product] = (
                before[0] + self._weight * units,
                before[1] + self._weight * weeks,
            )
        self._units += units
        self._weeks += weeks
        self._known = {}

    def tried(self, product: str) -> bool:
        """Whether it was ever on a shelf."""
        return ("", product) in self._sums

    def sold(self, product: str) -> bool:
        """Whether any unit was ever sold."""
        return self._sums.get(("", product), (0.0, 0.0))[0] > 0

    def anywhere(self, product: str) -> float:
        """Units a week expected of a product in any machine."""
        known = self._known.get(("", product))
        if known is None:
            usual = (self._units + GUESS) / (self._weeks + 1)
            known = self._posterior("", product, usual, PRODUCTS)
        return known

    def at_type(self, site_type: str, product: str) -> float:
        """Units a week expected of a product at a type of site."""
        place = self._kinds[site_type]
        known = self._known.get((place, product))
        if known is None:
            known = self._posterior(place, product, self.anywhere(product), TYPES)
        return known

    def at(self, machine: str, product: str) -> float:
        """Units a week expected of a product in a machine."""
        known = self._known.get((machine, product))
        if known is None:
            expected = self.at_type(self._types[machine], product)
            known = self._posterior(machine, product, expected, MACHINES)
        return known

    def _posterior(self, place: str, product: str, expected: float, shape: float) -> float:
        units, weeks = self._sums.get((place, product), (0.0, 0.0))
        found = (units + shape * self._weight) / (weeks + shape * self._weight / expected)
        self._known[place, product] = found
        return found
