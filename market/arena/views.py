"""What retailers see of the arena, and the forms of their answers.

Never shown: personas and their sensitivities, how many buyers come, rivals' funds and stock, and
their bids unless the feedback is `full`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from market.arena.auction import Clearing, Line, Reason
from market.arena.books import Account
from market.arena.rules import ArenaRules, Item, Salvage
from market.environment import Form, Json


def public_rules(rules: ArenaRules, retailers: int) -> Mapping[str, Json]:
    """`observation.rules`: the game as every retailer knows it."""
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
    }


def answer_forms(rules: ArenaRules) -> Mapping[str, Form]:
    """The forms of a bid, a selling answer, and an answer about similarities."""
    integer = {"type": "integer"}
    first = rules.items[0]
    line = {
        "type": "object",
        "properties": {"item": {"type": "string"}, "quantity": integer, "price": integer},
        "required": ["item", "quantity", "price"],
        "additionalProperties": False,
    }
    bid = {
        "type": "object",
        "properties": {"bids": {"type": "array", "items": line}},
        "required": ["bids"],
        "additionalProperties": False,
    }
    sell = {
        "type": "object",
        "properties": {
            "prices": {"type": "object", "additionalProperties": integer},
            "slogan": {"type": "string"},
        },
        "required": ["prices", "slogan"],
        "additionalProperties": False,
    }
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


def offers(rules: ArenaRules) -> list[Json]:
    """What the supplier offers in a step."""
    return [
        {"item": item.item, "quantity": rules.quantity(item), "base": item.base}
        for item in rules.items
    ]


def stock(account: Account, items: Sequence[Item]) -> dict[str, Json]:
    """A retailer's own stock: units held and what they cost in all."""
    return {
        item.item: {"units": account.units[index], "cost": account.cost[index]}
        for index, item in enumerate(items)
        if account.units[index]
    }


def bid_feedback(lines: Sequence[Line], seat: str, clearing: Clearing) -> list[Json]:
    """What became of a retailer's own lines."""
    return [
        {
            "item": line.item,
            "quantity": line.quantity,
            "price": line.price,
            "awarded": award.units,
            "paid": award.paid,
            "reason": line.reason,
        }
        for line, award in zip(lines, clearing.awards[seat], strict=True)
    ]


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
    shown = {
        names[seat]: [
            {
                "item": line.item,
                "quantity": line.quantity,
                "price": line.price,
                "awarded": award.units,
            }
            for line, award in zip(own, clearing.awards[seat], strict=True)
            if line.reason is not Reason.UNKNOWN_ITEM
        ]
        for seat, own in lines.items()
    }
    return dict(sorted(shown.items()))
