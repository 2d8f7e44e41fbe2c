"""What every seat is told of the rules: the numbers that are no secret, and how things work."""

from __future__ import annotations

from market.environment import Json
from market.vending.rules import VendingRules
from market.vending.tools import MOST_ITEMS
from market.vending.world import World


def shown_rules(rules: VendingRules, world: World, operators: int) -> dict[str, Json]:
    """The rules of an episode as every seat sees them; nothing of what customers like.

    Args:
        rules: The rules.
        world: The world.
        operators: How many share it.
    """
    return {
        "environment": "vending",
        "objective": "net_assets",
        "briefing": briefing(rules),
        "days": rules.days,
        "place": rules.place,
        "currency": "CNY",
        "operators": operators,
        "machines": [
            {"machine": name, "site_type": kind}
            for name, kind in zip(world.machines, world.site_types, strict=True)
        ],
        "slots": rules.slots,
        "volume": rules.volume,
        "products": len(world.catalogue),
        "subcategories": list(world.catalogue.subcategories),
        "visit_fee": rules.visit_fee,
        "fixed_fee": rules.fixed_fee,
        "rent": rules.rent,
        "fine": rules.fine,
        "price_cap": rules.price_cap,
        "lead_promised": rules.lead_promised,
        "calls_per_day": rules.calls_per_day,
        "notes": rules.notes,
        "items_per_call": MOST_ITEMS,
    }


def briefing(rules: VendingRules) -> list[str]:
    """What an operator must know, one sentence each."""
    return [
        "You run vending machines; what counts is net assets at the end: cash and unexpired units "
        "at cost, on shelves, in the warehouse and under way.",
        "A day: deliveries arrive, batches that reach their age expire, the fixed fee and rent are "
        "due; you act until you end the day; then customers buy and visit fees are due.",
        f"Orders are paid at once and promised for {rules.lead_promised} days later; some are "
        "late. They arrive in the warehouse, where their shelf life begins.",
        "What is loaded today can sell today. Customers see no warehouse: what is not on a shelf "
        "is not sold.",
        "A product takes one slot of a machine until it is delisted, and its volume per unit.",
        "load_machine, unload_machine and delist_product are visits, charged once per machine and "
        "day; ordering, pricing, discarding and looking are free.",
        "Units leave every place in the order in which they expire. Expired units are worth "
        "nothing. On a shelf they may still sell, with a fine each; delist the product to be rid "
        "of them. In the warehouse they pay rent until discarded.",
        "How customers choose is yours to find out: by site, product, price, stock, weekday, "
        "holiday and weather.",
        f"You have {rules.calls_per_day} calls a day, in as many turns as you like; when they are "
        "used up the day ends. A day also ends with end_day, or with a turn without calls.",
    ]
