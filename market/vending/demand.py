"""Demand: how many units of each product each machine sells in the mean.

    mean = traffic x fullness x attraction / (outside + attractions of all machines at the site)

Attraction is appeal x exp(-b (price / reference - 1)) x presence. The form lets products of a
machine, and machines of one site, take customers from each other. What customers see is what is on
the shelf when sales begin; expired units look like any other.

Attractions are whole numbers of 1e-9: their sums are exact in any order. Factors, traffic and
means are rounded to 1e-9 before they are used, so that no processor's last bit decides.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from market import rng
from market.vending.calendar import Calendar, weather_factor
from market.vending.distributions import PLACES
from market.vending.rules import VendingRules
from market.vending.world import Floats, World

#: Attractions are whole numbers of this part of one.
UNIT = 10**PLACES
#: No product attracts more than so many mean ones, that sums stay within 64 bits.
MOST = 1e5
#: Least variance of a crowd: the gamma distribution has none without.
LEAST_CROWD = 1e-6

Ints = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Shelf:
    """Products with units on the shelves of one operator, ordered by site and product.

    Attributes:
        sites: Site of each.
        products: Product of each.
        units: Units on the shelf, expired ones included; at least 1.
        prices: Posted price, fen.
        fullness: (s) share of each machine's volume that is used.
    """

    sites: Ints
    products: Ints
    units: Ints
    prices: Ints
    fullness: Floats


class Demand:
    """The demand of a world under some rules."""

    def __init__(self, rules: VendingRules, world: World) -> None:
        self.world = world
        self._rules = rules
        most = max(rules.volume, 1)
        k = rules.demand.presence
        self._presence = np.array([round(1 - math.exp(-n / k), PLACES) for n in range(most + 1)])
        self.outside = round(rules.demand.outside * UNIT)

    def expected_traffic(self, calendar: Calendar, day: int) -> Floats:
        """(s) mean visits of a day, given its weekday, holiday and weather."""
        today = calendar[day]
        week = self.world.holiday if today.holiday else self.world.week[:, today.weekday]
        factor = weather_factor(self._rules.weather, today)
        return np.round(self.world.traffic * week * factor, PLACES)

    def crowd(self, seed: int, day: int) -> Floats:
        """(s) the gamma factor of mean 1 of each site on a day.

        Args:
            seed: Seed of luck.
            day: The day.
        """
        variance = np.maximum(self.world.crowds, LEAST_CROWD)
        drawn: Floats = rng.generator(seed, "crowd", day).gamma(1 / variance) * variance
        return drawn.round(PLACES)

    def presence(self, units: Ints) -> Floats:
        """1 - exp(-units / k)."""
        found: Floats = self._presence[np.minimum(units, len(self._presence) - 1)]
        return found

    def response(self, sites: Ints, products: Ints, prices: Ints | Floats) -> Floats:
        """exp(-b (price / reference - 1)) of products at sites, prices in fen."""
        excess = prices / self.world.catalogue.reference[products] - 1
        found: Floats = np.exp(-self.world.sensitivity[sites] * excess)
        return found.round(PLACES)

    def attraction(self, shelf: Shelf) -> Ints:
        """The attraction of each product on a shelf, in units of 1e-9."""
        factors = self.response(shelf.sites, shelf.products, shelf.prices)
        factors *= self.presence(shelf.units)
        appeal = self.world.appeal[shelf.sites, shelf.products]
        found: Ints = np.rint(np.minimum(appeal * factors, MOST) * UNIT).astype(np.int64)
        return found

    def drawn_by_fullness(self, fullness: Floats) -> Floats:
        """(s) the factor of fuller machines."""
        least = self._rules.demand.empty_appeal
        return least + (1 - least) * fullness

    def means(self, shelves: Sequence[Shelf], traffic: Floats) -> list[Floats]:
        """Mean units sold of each product on each shelf.

        Args:
            shelves: One per operator; they share the sites.
            traffic: (s) visits of the day.
        """
        attractions = [self.attraction(shelf) for shelf in shelves]
        totals = self.totals(shelves, attractions)
        return [
            self.mean(shelf, attraction, totals, traffic)
            for shelf, attraction in zip(shelves, attractions, strict=True)
        ]

    def totals(self, shelves: Sequence[Shelf], attractions: Sequence[Ints]) -> Ints:
        """(s) the attraction of everything at each site, buying nothing included."""
        totals = np.full(len(self.world.machines), self.outside, np.int64)
        for shelf, attraction in zip(shelves, attractions, strict=True):
            np.add.at(totals, shelf.sites, attraction)
        return totals

    def mean(self, shelf: Shelf, attraction: Ints, totals: Ints, traffic: Floats) -> Floats:
        """Mean units sold of each product on a shelf.

        Args:
            shelf: The shelf.
            attraction: The attraction of each product on it.
            totals: (s) the attraction of everything at each site.
            traffic: (s) visits of the day.
        """
        visits = traffic * self.drawn_by_fullness(shelf.fullness)
        mean: Floats = visits[shelf.sites] * (attraction / totals[shelf.sites])
        return mean.round(PLACES)
