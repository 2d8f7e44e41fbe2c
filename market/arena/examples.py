"""Answers in the arena as a model is led to them: an example, and a schema to be held to.

Examples are plausible, and legal in the very situation they are shown in.

Small models copy the example that ends a prompt, so it must be a fair answer: bids a little above
base for an equal share, raised where that did not win; prices somewhat above cost. It knows
nothing but what the seat sees.
"""

from __future__ import annotations

from collections.abc import Mapping
from copy import deepcopy
from typing import Any

from market.arena.phrases import words
from market.environment import Decision, Json

#: Bids of an example are above base, and prices above cost, by these percentages.
BID_MARKUP = 4
PRICE_MARKUP = 25


def bid(decision: Decision, lines: int) -> dict[str, Json]:
    """A bid of at most so many lines that funds can pay."""
    private, rules = decision.observation.private, decision.observation.rules
    left = private["funds"]
    earlier = [
        line for line in private.get("bids", ()) if line["reason"] is None and line["quantity"]
    ]
    if earlier:
        wanted = [_raised(decision, line) for line in earlier[:lines]]
    elif rules["round_rule"] == "monotone" and decision.turn > 0:
        wanted = []
    else:
        wanted = [_share(decision, ware) for ware in _rotated(decision)]
    bids: list[Json] = []
    for item, quantity, price in wanted:
        units = min(quantity, left // price)
        if units > 0 and len(bids) < lines:
            bids.append({"item": item, "quantity": units, "price": price})
            left -= units * price
    return {"bids": bids}


def sell(decision: Decision, lines: int) -> dict[str, Json]:
    """Prices for at most so many items in stock, and a slogan that names them."""
    private, rules = decision.observation.private, decision.observation.rules
    prices: dict[str, Json] = {}
    for ware in rules["items"]:
        held = private["stock"].get(ware["item"])
        if held and held["units"] and len(prices) < lines:
            price = _marked_up(held["cost"], held["units"], PRICE_MARKUP)
            prices[ware["item"]] = _allowed(price, ware["cap"], rules["tick"])
    say = words("turns", rules)
    goods = say("example_and").join(list(prices)[:2]) or say("example_all")
    moved: dict[str, Json] = {"ship": []} if "markets" in rules else {}
    return {**moved, "prices": prices, "slogan": say("example_slogan", goods=goods)}


def bid_schema(decision: Decision, lines: int) -> dict[str, Json]:
    """The form of a bid with only what is on offer, and at most so many lines."""
    rules = decision.observation.rules
    items = [ware["item"] for ware in rules["items"]]
    schema = deepcopy(dict(decision.form.schema))
    bids = schema["properties"]["bids"]
    bids["maxItems"] = min(lines, len(items) * rules["lines_per_item"])
    bids["items"]["properties"]["item"] = {"type": "string", "enum": items}
    return schema


def sell_schema(decision: Decision, characters: int) -> dict[str, Json]:
    """The selling form with only what is in stock, and a slogan of at most so many characters."""
    schema = deepcopy(dict(decision.form.schema))
    rules, held = decision.observation.rules, list(decision.observation.private["stock"])
    prices = schema["properties"]["prices"]
    if "markets" in rules:
        goods = dict.fromkeys(pair.rpartition("@")[0] for pair in held)
        held = [f"{item}@{market}" for item in goods for market in rules["markets"]]
        lines = schema["properties"]["ship"]
        lines["maxItems"] = len(held) if goods else 0
        shipment = lines["items"]["properties"]
        shipment["item"] = {"type": "string", "enum": list(goods) or [""]}
        shipment["from"] = shipment["to"] = {"type": "string", "enum": list(rules["markets"])}
    if decision.observation.rules["stockless_offers"] == "refused":
        prices["properties"] = {item: {"type": "integer"} for item in held}
        prices["additionalProperties"] = False
    schema["properties"]["slogan"]["maxLength"] = characters
    return schema


def _rotated(decision: Decision) -> list[Mapping[str, Any]]:
    """The items from a place that differs by retailer and step.

    Otherwise all who copy the example would fight for the same item.
    """
    items: list[Mapping[str, Any]] = list(decision.observation.rules["items"])
    start = (sum(map(ord, decision.observation.private["name"])) + decision.step) % len(items)
    return items[start:] + items[:start]


def _share(decision: Decision, ware: Mapping[str, Any]) -> tuple[str, int, int]:
    """An equal share of an item, a little above base."""
    rules = decision.observation.rules
    values = decision.observation.private.get("values")
    price = _allowed(_marked_up(ware["base"], 1, BID_MARKUP), ware["cap"], rules["tick"])
    if values is not None and values.get(ware["item"], 0) < price:
        # Nothing is worth more than its private value.
        return ware["item"], 0, price
    units = _offered(decision, ware)
    return ware["item"], max(1, units // rules["retailers"]) if units else 0, price


def _offered(decision: Decision, ware: Mapping[str, Any]) -> int:
    """Units of an item on offer in this step, or what the rules say where that was told before."""
    for offer in decision.observation.public.get("offers") or ():
        if offer["item"] == ware["item"]:
            return int(offer["quantity"])
    return int(ware["quantity"])


def _raised(decision: Decision, line: Mapping[str, Any]) -> tuple[str, int, int]:
    """An own line of the round before, raised above the price to win if it did not win all."""
    rules, clearing = decision.observation.rules, decision.observation.public.get("clearing")
    item, quantity, price = line["item"], line["quantity"], line["price"]
    if line["awarded"] < quantity:
        ware = next(ware for ware in rules["items"] if ware["item"] == item)
        to_win = clearing[item]["price_to_win"] if clearing else price
        raised = max(price, to_win) + rules["tick"]
        price = raised if ware["cap"] is None else max(price, min(raised, ware["cap"]))
    return item, quantity, price


def _marked_up(cost: int, units: int, percent: int) -> int:
    """Cost per unit of so many units, with a percentage on top, rounded up."""
    return -(-cost * (100 + percent) // (100 * units))


def _allowed(price: int, cap: int | None, tick: int) -> int:
    """The price on the next tick, or the cap."""
    on_tick = -(-price // tick) * tick
    return on_tick if cap is None else min(on_tick, cap)
