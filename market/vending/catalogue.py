"""The catalogue: what may be ordered, and all that operators are told about it.

No visible field says anything about demand: popularity is drawn from a stream of its own, and
names and numbers are given without looking at it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from market import rng
from market.vending.money import fen
from market.vending.rules import VendingRules

_FIRST = ("Ao", "Bei", "Chun", "Da", "Fu", "Hai", "Jin", "Kang", "Lan", "Ming", "Nan", "Yu")
_LAST = ("feng", "he", "hua", "li", "mei", "quan", "sen", "tai", "wei", "xin", "yuan", "zhou")


@dataclass(frozen=True, slots=True)
class Product:
    """One product.

    Attributes:
        product: Its code, such as `P0007`.
        name: Its name: a brand, which means nothing, and what it is.
        subcategory: What kind of product it is.
        cost: Price of ordering a unit, fen.
        reference: Reference price of a unit, fen.
        volume: Volume units of a unit.
        shelf_life: Days that a batch stays good.
    """

    product: str
    name: str
    subcategory: str
    cost: int
    reference: int
    volume: int
    shelf_life: int


@dataclass(frozen=True)
class Catalogue:
    """All products, in the order of their codes; arrays are in that order too."""

    products: tuple[Product, ...]
    subcategories: tuple[str, ...]

    def __len__(self) -> int:
        return len(self.products)

    def __getitem__(self, index: int) -> Product:
        return self.products[index]

    @cached_property
    def index(self) -> Mapping[str, int]:
        """The position of each product by its code."""
        return {product.product: i for i, product in enumerate(self.products)}

    @cached_property
    def codes(self) -> tuple[str, ...]:
        """The code of each product."""
        return tuple(product.product for product in self.products)

    @cached_property
    def cost(self) -> NDArray[np.int64]:
        """Unit costs, fen."""
        return np.array([product.cost for product in self.products])

    @cached_property
    def reference(self) -> NDArray[np.int64]:
        """Reference prices, fen."""
        return np.array([product.reference for product in self.products])

    @cached_property
    def volume(self) -> NDArray[np.int64]:
        """Volume units of a unit."""
        return np.array([product.volume for product in self.products])

    @cached_property
    def kind(self) -> NDArray[np.int64]:
        """The position of each product's subcategory."""
        position = {name: i for i, name in enumerate(self.subcategories)}
        return np.array([position[product.subcategory] for product in self.products])


def generated(rules: VendingRules, seed: int) -> Catalogue:
    """The catalogue of a world.

    Args:
        rules: The rules.
        seed: Seed of the world.
    """
    names = tuple(sorted(rules.subcategories))
    shares = rules.cost_share.draw(rng.generator(seed, "cost share"), rules.products)
    brands = rng.generator(seed, "brands").integers(0, len(_FIRST) * len(_LAST), rules.products)
    products: list[Product] = []
    for position, name in enumerate(names):
        kind = rules.subcategories[name]
        n = len(range(position, rules.products, len(names)))
        prices = kind.reference.draw(rng.generator(seed, "reference", name), n)
        volumes = kind.volume.draw(rng.generator(seed, "volume", name), n)
        for price, volume in zip(prices, volumes, strict=True):
            i = len(products)
            reference = fen(max(0.5, round(2 * float(price)) / 2))
            brand = _FIRST[brands[i] // len(_LAST)] + _LAST[brands[i] % len(_LAST)]
            products.append(
                Product(
                    product=f"P{i + 1:04}",
                    name=f"{brand} {name}",
                    subcategory=name,
                    cost=max(1, round(reference * float(shares[i]))),
                    reference=reference,
                    volume=int(volume),
                    shelf_life=kind.shelf_life,
                )
            )
    return Catalogue(tuple(products), names)
