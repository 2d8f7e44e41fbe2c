"""A world: sites, products, and what customers like, drawn from one seed.

Everything here is fixed for an episode and the same for every seat. Operators see the catalogue
and the types of the sites; the rest is hidden. A world that was fitted to real sales, or written by
hand for a test, is a `World` like any other (`dataclasses.replace` makes one of another).
"""

from __future__ import annotations

import os
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from market import rng
from market.vending import catalogue
from market.vending.catalogue import Catalogue
from market.vending.distributions import PLACES
from market.vending.rules import VendingRules

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class World:
    """What an episode plays in. Arrays are in the order of sites (s) and products (p).

    Attributes:
        catalogue: The products.
        machines: Id of the machine at each site, such as `M01`; every operator has one there.
        site_types: The type of each site.
        appeal: (s, p) attraction at the reference price with many units: popularity, preference
            and alignment, multiplied. Hidden.
        popularity: (p) popularity alone, with mean 1. Hidden.
        sensitivity: (s) b, the response to price. Hidden.
        traffic: (s) mean visits per day before weekday, weather, holiday and crowd. Hidden.
        week: (s, 7) traffic factor of each weekday, from Monday. Hidden.
        holiday: (s) traffic factor of public holidays, in place of the weekday's. Hidden.
        crowds: (s) variance of the gamma factor that a day's sales at a site share. Hidden.
        dispersion: (p) variance over mean of sales given their mean. Hidden.
    """

    catalogue: Catalogue
    machines: tuple[str, ...]
    site_types: tuple[str, ...]
    appeal: Floats
    popularity: Floats
    sensitivity: Floats
    traffic: Floats
    week: Floats
    holiday: Floats
    crowds: Floats
    dispersion: Floats


@dataclass(frozen=True, slots=True)
class Seeds:
    """What the chance of an episode comes from.

    Attributes:
        world: Seed of the world.
        luck: Seed of all that happens in it.
    """

    world: int
    luck: int


def variables(rules: VendingRules) -> dict[str, str]:
    """The environment variables that an episode needs, and what each holds."""
    if rules.worlds == "public":
        return {}
    return {rules.salt_variable: "the salt of held-out worlds"}


def seeds(rules: VendingRules, seed: int) -> Seeds:
    """The seeds of an episode.

    Those of held-out worlds are hashes of the salt and the public ones, so that nobody can know
    them who has only the configuration.

    Args:
        rules: The rules.
        seed: Seed of the episode.

    Raises:
        ValueError: If worlds are held out and the salt is not set.
    """
    world = seed if rules.world is None else rules.world
    if rules.worlds == "public":
        return Seeds(world, seed)
    salt = os.environ.get(rules.salt_variable, "")
    if not salt:
        raise ValueError(
            f"rules.worlds: held-out worlds need a salt in the environment variable "
            f"{rules.salt_variable}"
        )
    return Seeds(rng.key(world, "held-out world", salt), _salted(seed, salt))


def _salted(seed: int, salt: str) -> int:
    """The hash of a seed; of one that is forked, that of both its parts."""
    hashed = rng.key(int(seed), "held-out luck", salt)
    if isinstance(seed, rng.ForkedSeed):
        later = rng.key(seed.later, "held-out luck", salt)
        return rng.ForkedSeed(hashed, seed.step, later)
    return hashed


def generated(rules: VendingRules, seed: int) -> World:
    """Draw a world; one that is given is taken as it is.

    Args:
        rules: The rules.
        seed: Seed of the world.
    """
    if rules.fitted is not None:
        return rules.fitted.world()
    goods = catalogue.generated(rules, seed)
    names = sorted(rules.sites)
    site_types = tuple(name for name in names for _ in range(rules.sites[name].sites))
    kinds = [rules.sites[name] for name in site_types]
    type_of = np.array([names.index(name) for name in site_types])
    n, m, demand = len(goods), len(site_types), rules.demand

    popularity = demand.popularity.draw(rng.generator(seed, "popularity"), n)
    preference = demand.preference.draw(
        rng.generator(seed, "preference"), len(names) * len(goods.subcategories)
    ).reshape(len(names), -1)
    by_type = demand.type_alignment.draw(
        rng.generator(seed, "type alignment"), len(names) * n
    ).reshape(len(names), n)
    by_site = demand.site_alignment.draw(rng.generator(seed, "site alignment"), m * n).reshape(m, n)
    appeal = popularity * preference[type_of][:, goods.kind] * by_type[type_of] * by_site
    traffic = [
        float(value)
        for name in names
        for value in rules.sites[name].traffic.draw(
            rng.generator(seed, "traffic", name), rules.sites[name].sites
        )
    ]
    return World(
        catalogue=goods,
        machines=tuple(f"M{i + 1:02}" for i in range(m)),
        site_types=site_types,
        appeal=np.round(appeal, PLACES),
        popularity=popularity,
        sensitivity=np.array([kind.sensitivity for kind in kinds]),
        traffic=np.array(traffic),
        week=np.array([kind.week for kind in kinds]),
        holiday=np.array([kind.holiday for kind in kinds]),
        crowds=demand.crowds.draw(rng.generator(seed, "crowds"), m),
        dispersion=demand.dispersion.draw(rng.generator(seed, "dispersion"), n),
    )
