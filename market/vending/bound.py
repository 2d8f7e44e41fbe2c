"""Above every policy: the expected profit of machines that are always full and perfectly chosen.

Each machine-day, from the first on which an order can have arrived, is given the set of products
and the prices that earn most per expected visit, every product with full presence in a machine of
full volume: the ratio of `pricing.py`, maximised over sets and prices at once by Dinkelbach's
steps. Only the fixed fee is paid: no visits, rent, waste or fines, and neither stock nor volume
runs out. Prices are any from 0 to the highest, so no price grid does better.

Whatever a policy does, less presence, less fullness and sales capped by stock only lose: for given
prices the ratio grows or falls with each product's presence, hence is greatest with some products
absent and the others full. So the bound holds for expectations, given the calendar: over worlds the
mean of a policy's net assets is below the mean bound, and a lucky episode may end above its own.
"""

from __future__ import annotations

import numpy as np

from market.vending import calendar as calendars
from market.vending import world as worlds
from market.vending.demand import UNIT, Demand
from market.vending.rules import VendingRules
from market.vending.world import Floats


def net_assets(rules: VendingRules, seed: int) -> float:
    """A bound on the expected net assets at the end of an episode, CNY.

    Args:
        rules: The rules; one that shares the world with others cannot expect more.
        seed: Seed of the episode.
    """
    seeds = worlds.seeds(rules, seed)
    demand = Demand(rules, worlds.generated(rules, seeds.world))
    calendar = calendars.calendar(rules, seeds.luck)
    worth = per_visit(rules, demand)
    first = 1 + int(min(rules.lead_time.values))
    days = range(first, rules.days + 1)
    earned = sum(float(np.sum(demand.expected_traffic(calendar, day) * worth)) for day in days)
    return rules.cash + earned / 100 - rules.fixed_fee * rules.days


def per_visit(rules: VendingRules, demand: Demand) -> Floats:
    """(s) the largest expected gross profit per visit of a machine at each site, fen.

    Args:
        rules: The rules.
        demand: The true demand.
    """
    world, goods = demand.world, demand.world.catalogue
    sensitivity = world.sensitivity[:, None]
    cap = goods.reference * rules.price_cap
    slots = min(rules.slots, len(goods))
    outside = demand.outside / UNIT
    with np.errstate(divide="ignore"):
        markup = goods.reference / sensitivity
    value = np.zeros(len(world.machines))
    while True:
        # A price below cost and the worth of a visit never pays; such a product is left out.
        prices = np.minimum(cap, goods.cost + markup + value[:, None])
        attraction = world.appeal * np.exp(-sensitivity * (prices / goods.reference - 1))
        gain = np.maximum(attraction * (prices - goods.cost - value[:, None]), 0.0)
        chosen = np.argpartition(-gain, slots - 1, axis=1)[:, :slots]
        taken = np.take_along_axis(attraction * (gain > 0), chosen, 1)
        margin = np.take_along_axis(prices - goods.cost, chosen, 1)
        reached = np.sum(taken * margin, axis=1) / (outside + np.sum(taken, axis=1))
        if np.all(reached <= value * (1 + 1e-12)):
            return value
        value = np.maximum(value, reached)
