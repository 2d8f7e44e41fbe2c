"""What retailers see of the arena, and the forms of their answers.

Never shown: personas and their sensitivities, how many buyers come, rivals' funds and stock, and
their bids unless the feedback is `full`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any

from market.arena import linked
from market.arena.auction import Award, Clearing, Line, Reason
from market.arena.books import Account
from market.arena.linked import Roads
from market.arena.rules import ArenaRules, Salvage
from market.environment import Form, Json

#: Most retailers of one's owner that are seen, and most lines of the last bid of each.
SISTERS_SHOWN = 20
SISTER_LINES_SHOWN = 20
#: The objective of retailers that have owners.
OWNER_PROFIT = "owner profit"


def public_rules(
    rules: ArenaRules,
    retailers: int,
    roads: Roads | None = None,
    entries: Mapping[str, int] = MappingProxyType({}),
) -> Mapping[str, Json]:
    """`observation.rules`: the game as every retailer knows it.

    Args:
        rules: The rules.
        retailers: How many seats there are.
        roads: The linked markets, whose goods the items are; None for one market.
        entries: The step at which each seat enters.
    """
    terminal = rules.terminal_stock
    induced = rules.induced
    return {
        "environment": "arena",
        "steps": rules.steps,
        "bidding_rounds": rules.bidding_rounds,
        "retailers": retailers,
        "initial_funds": rules.funds(retailers),
        "items": [
            {
                "item": item.item,
                "tier": item.tier,
                "quantity": rules.quantity(item),
                "base": item.base,
                "cap": rules.cap(item),
                "holding_cost": rules.holding(item),
            }
            for item in rules.items
        ],
        "tick": rules.tick,
        "lines_per_item": rules.lines_per_item,
        "ties": rules.ties,
        "over_budget": rules.over_budget,
        "pricing": rules.pricing,
        "round_rule": rules.round_rule,
        "bid_feedback": rules.bid_feedback,
        "fixed_cost": rules.fixed_cost,
        "terminal_stock": {"salvage": terminal.salvage}
        if isinstance(terminal, Salvage)
        else terminal,
        "slogan_words": rules.slogan_words,
        "attention_feedback": rules.attention_feedback,
        "rival_text": rules.rival_text,
        "stockless_offers": rules.stockless_offers,
        "retail": rules.retail,
        "redeemable_units": induced.units if induced else None,
        "objective": "profit",
        **_extensions(rules, roads, entries),
    }


def _extensions(
    rules: ArenaRules, roads: Roads | None, entries: Mapping[str, int]
) -> dict[str, Json]:
    """What is told of extensions, of those only that are on."""
    told: dict[str, Json] = dict(linked.told(roads)) if roads else {}
    if rules.entry:
        later = sorted(step for step in entries.values() if step > 1)
        told["entry"] = {str(step): later.count(step) for step in later}
    if rules.exit != "none":
        told["exit"] = rules.exit
    if rules.owners:
        told["objective"] = OWNER_PROFIT
    noise = rules.supply_noise
    if noise is not None:
        told["supply_noise"] = {"variation": noise.variation, "shock": noise.shock}
    if rules.buyer_memory is not None:
        told["returning_buyers"] = True
    if texts := rules.words:
        told["texts"] = texts
    return told


def answer_forms(rules: ArenaRules, roads: Roads | None = None) -> Mapping[str, Form]:
    """The forms of a bid, a selling answer, and an answer about similarities."""
    integer = {"type": "integer"}
    first = rules.items[0]
    line = {
        "type": "object",
        "properties": {"item": {"type": "string"}, "quantity": integer, "price": integer},
        "required": ["item", "quantity", "price"],
        "additionalProperties": False,
    }
    bid: dict[str, Any] = {
        "type": "object",
        "properties": {"bids": {"type": "array", "items": line}},
        "required": ["bids"],
        "additionalProperties": False,
    }
    sell: dict[str, Any] = {
        "type": "object",
        "properties": {
            "prices": {"type": "object", "additionalProperties": integer},
            "slogan": {"type": "string"},
        },
        "required": ["prices", "slogan"],
        "additionalProperties": False,
    }
    if rules.exit == "voluntary":
        bid["properties"]["exit"] = {"type": "boolean"}
    if roads:
        sell["properties"]["ship"] = _shipments()
    row = {
        "type": "array",
        "items": {"type": "integer", "minimum": -1_000_000, "maximum": 1_000_000},
    }
    similarities = {
        "type": "object",
        "properties": {
            "similarities": {"type": "array", "items": row},
            "convergence": {"type": ["integer", "null"]},
        },
        "required": ["similarities", "convergence"],
        "additionalProperties": False,
    }
    bid_line = {"item": first.item, "quantity": 1, "price": first.base}
    return {
        "bid": Form(bid, {"bids": [bid_line]}),
        "sell": Form(
            sell, {"prices": {first.item: first.base}, "slogan": "Good things, fair prices"}
        ),
        "similarities": Form(similarities, {"similarities": [[0]], "convergence": None}),
    }


def offers(rules: ArenaRules, quantities: Mapping[str, int]) -> list[Json]:
    """What the supplier offers in a step, of which the quantities are given."""
    return [
        {"item": item.item, "quantity": quantities[item.item], "base": item.base}
        for item in rules.items
    ]


def stock(account: Account, items: Sequence[str]) -> dict[str, Json]:
    """A retailer's own stock of the items: units held and what they cost in all."""
    return {
        item: {"units": units, "cost": cost}
        for item, units, cost in zip(items, account.units, account.cost, strict=True)
        if units
    }


def bid_feedback(lines: Sequence[Line], seat: str, clearing: Clearing) -> list[Json]:
    """What became of a retailer's own lines."""
    return [
        {
            "item": item,
            "quantity": quantity,
            "price": price,
            "awarded": awarded,
            "paid": paid,
            "reason": reason and reason.value,
        }
        for (item, quantity, price, _, reason), (awarded, paid) in zip(
            lines, clearing.awards[seat], strict=True
        )
    ]


def sister(
    account: Account, items: Sequence[str], lines: Sequence[Line], clearing: Clearing | None
) -> dict[str, Json]:
    """What a retailer sees of another one of its owner: books, and the last bid that settled.

    Lines on unknown items are left out, as an item's name would be words, and owners send none.
    """
    seen = _seen_lines(lines, clearing.awards[account.seat]) if clearing and lines else []
    return {
        "funds": account.funds,
        "stock": stock(account, items),
        "bids": seen[:SISTER_LINES_SHOWN],
    }


def clearing_view(clearing: Clearing) -> dict[str, Json]:
    """What everybody learns of a round."""
    return {
        item: {
            "price_to_win": cleared.price_to_win,
            "units_at_it": cleared.units_at_it,
            "asked": cleared.asked,
        }
        for item, cleared in clearing.items.items()
    }


def all_bids(
    lines: Mapping[str, Sequence[Line]], clearing: Clearing, names: Mapping[str, str]
) -> dict[str, Json]:
    """Everybody's lines on items there are, under public names.

    An unknown item's name is its author's own words, which is no way to speak to rivals.
    """
    shown = {names[seat]: _seen_lines(own, clearing.awards[seat]) for seat, own in lines.items()}
    return dict(sorted(shown.items()))


def _seen_lines(lines: Sequence[Line], awards: Sequence[Award]) -> list[Json]:
    """Lines of somebody else on items there are, and what they won."""
    return [
        {"item": item, "quantity": quantity, "price": price, "awarded": award.units}
        for (item, quantity, price, _, reason), award in zip(lines, awards, strict=True)
        if reason is not Reason.UNKNOWN_ITEM
    ]


def _shipments() -> dict[str, Json]:
    """The form of goods to be moved between linked markets."""
    text = {"type": "string"}
    line = {
        "type": "object",
        "properties": {"item": text, "from": text, "to": text, "quantity": {"type": "integer"}},
        "required": ["item", "from", "to", "quantity"],
        "additionalProperties": False,
    }
    return {"type": "array", "items": line}
