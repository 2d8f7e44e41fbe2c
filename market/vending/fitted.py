"""A world given as data, such as one that was fitted to real sales (`market calibrate`).

It stands in a configuration under `rules.fitted` and takes the place of all that is otherwise drawn
from the world's seed: products, sites, and what customers like. Luck is drawn as ever.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Self

from pydantic import Field, StrictInt, StringConstraints, model_validator

from market.vending.distributions import Model, NotNegative

if TYPE_CHECKING:
    from market.vending.world import World

Label = Annotated[str, StringConstraints(min_length=1, max_length=64)]
Price = Annotated[float, Field(gt=0, le=1e6, allow_inf_nan=False)]


class FittedProduct(Model):
    """A product of a world that is given."""

    name: Label
    """What it is called in the catalogue."""
    subcategory: Label
    """What kind of product it is."""
    cost: Price
    """Price of ordering a unit, CNY; rounded to two decimals."""
    reference: Price
    """Reference price of a unit, CNY; rounded to two decimals."""
    volume: Annotated[StrictInt, Field(ge=1, le=1_000)] = 1
    """Volume units of a unit."""
    shelf_life: Annotated[StrictInt, Field(ge=1, le=3_660)] = 90
    """Days that a batch stays good."""
    popularity: NotNegative
    """Hidden. Attraction at the reference price, relative to the mean product."""
    dispersion: Annotated[float, Field(gt=1, le=1_000)] = 1.5
    """Hidden. Variance over mean of its sales given their mean."""


class FittedSite(Model):
    """A site of a world that is given."""

    name: Label = "site"
    """What its machine was called in the records. Operators are not told."""
    site_type: Label
    """Its type, which operators see."""
    sensitivity: Annotated[float, Field(ge=0, le=20)] = 2.0
    """Hidden. b: attraction falls by exp(-b) when the price is twice the reference."""
    traffic: NotNegative
    """Hidden. Mean visits per day before weekday, weather and crowd."""
    week: Annotated[tuple[NotNegative, ...], Field(min_length=7, max_length=7)]
    """Hidden. Traffic factor of each weekday, from Monday."""
    holiday: NotNegative
    """Hidden. Traffic factor of public holidays, in place of the weekday's."""
    crowd: NotNegative
    """Hidden. Variance of the gamma factor of mean 1 that all sales of a day share."""
    taste: tuple[NotNegative, ...]
    """Hidden. Factor of each product's popularity here, in the order of the products."""


class Fitted(Model):
    """A world that is given."""

    products: Annotated[tuple[FittedProduct, ...], Field(min_length=1, max_length=100_000)]
    """The catalogue."""
    sites: Annotated[tuple[FittedSite, ...], Field(min_length=1, max_length=10_000)]
    """The sites. Every operator has one machine at each."""

    @model_validator(mode="after")
    def _matched(self) -> Self:
        for i, site in enumerate(self.sites):
            if len(site.taste) != len(self.products):
                raise ValueError(
                    f"sites.{i}.taste: it has {len(site.taste)} factors for "
                    f"{len(self.products)} products"
                )
        return self

    def world(self) -> World:
        """The world as episodes take it."""
        import numpy as np

        from market.vending.catalogue import Catalogue, Product
        from market.vending.distributions import PLACES
        from market.vending.world import World

        products = tuple(
            Product(
                product=f"P{i + 1:04}",
                name=each.name,
                subcategory=each.subcategory,
                cost=max(1, round(100 * each.cost)),
                reference=max(1, round(100 * each.reference)),
                volume=each.volume,
                shelf_life=each.shelf_life,
            )
            for i, each in enumerate(self.products)
        )
        kinds = tuple(sorted({product.subcategory for product in products}))
        popularity = np.array([each.popularity for each in self.products], float)
        taste = np.array([site.taste for site in self.sites], float)
        return World(
            catalogue=Catalogue(products, kinds),
            machines=tuple(f"M{i + 1:02}" for i in range(len(self.sites))),
            site_types=tuple(site.site_type for site in self.sites),
            appeal=np.round(popularity * taste, PLACES),
            popularity=popularity,
            sensitivity=np.array([site.sensitivity for site in self.sites], float),
            traffic=np.array([site.traffic for site in self.sites], float),
            week=np.array([site.week for site in self.sites], float),
            holiday=np.array([site.holiday for site in self.sites], float),
            crowds=np.array([site.crowd for site in self.sites], float),
            dispersion=np.array([each.dispersion for each in self.products], float),
        )
