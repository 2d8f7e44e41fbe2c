"""A hand-made market as a retailer sees it: decisions and answers of any number of steps."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from market.arena.names import public_names
from market.environment import Answer, Decision, Form, NoAction, Observation

ITEMS = (
    ("item1", "commodity", 200, 50),
    ("item2", "commodity", 200, 50),
    ("item3", "standard", 133, 150),
    ("item4", "standard", 133, 150),
    ("item5", "standard", 134, 150),
    ("item6", "luxury", 75, 800),
    ("item7", "luxury", 75, 800),
    ("item8", "veblen", 50, 2000),
)
SLOGAN = "Fair and green goods for every day, made to last and priced for you"

BID = Form(
    schema={
        "type": "object",
        "properties": {
            "bids": {
                "type": "array",
                "items": {
                    "type": "object",
                    "properties": {
                        "item": {"type": "string"},
                        "quantity": {"type": "integer"},
                        "price": {"type": "integer"},
                    },
                    "required": ["item", "quantity", "price"],
                    "additionalProperties": False,
                },
            }
        },
        "required": ["bids"],
        "additionalProperties": False,
    },
    example={"bids": []},
)
SELL = Form(
    schema={
        "type": "object",
        "properties": {
            "prices": {"type": "object", "additionalProperties": {"type": "integer"}},
            "slogan": {"type": "string"},
        },
        "required": ["prices", "slogan"],
        "additionalProperties": False,
    },
    example={"prices": {}, "slogan": ""},
)


def rules(retailers: int = 20, items: int = 8, **changes: Any) -> dict[str, Any]:
    """The default market's rules as observations carry them."""
    return {
        "environment": "arena",
        "steps": 6,
        "bidding_rounds": 2,
        "retailers": retailers,
        "initial_funds": 45_000,
        "items": [
            {
                "item": item,
                "tier": tier,
                "quantity": quantity,
                "base": base,
                "cap": 3 * base,
                "holding_cost": base // 50,
            }
            for item, tier, quantity, base in ITEMS[:items]
        ],
        "tick": 1,
        "lines_per_item": 3,
        "ties": "prorata",
        "over_budget": "trim",
        "pricing": "discriminatory",
        "round_rule": "free",
        "bid_feedback": "clearing",
        "fixed_cost": 0,
        "terminal_stock": {"salvage": 0.5},
        "slogan_words": 25,
        "attention_feedback": "impressions",
        "rival_text": "shown",
        "stockless_offers": "refused",
        "objective": "profit",
    } | changes


def names(retailers: int) -> list[str]:
    return sorted(public_names([f"seat-{i}" for i in range(retailers)], 7).values())


def market(rules: Mapping[str, Any], step: int, slogans: Mapping[str, str] | None = None) -> Any:
    """The public history of one step: everybody sells three items, some more than others."""
    shown = {}
    for place, name in enumerate(names(rules["retailers"])):
        wares = [rules["items"][(place + i) % len(rules["items"])] for i in range(3)]
        shown[name] = {
            "slogan": (slogans or {}).get(name, SLOGAN),
            "prices": {w["item"]: w["base"] * 5 // 4 + place for w in wares},
            "sold": {w["item"]: (place * 7 + step) % 11 for w in wares},
        }
    return {"step": step, "retailers": shown}


def turns(
    rules: Mapping[str, Any],
    steps: int,
    lines: int = 4,
    held: int = 4,
    slogans: Mapping[str, str] | None = None,
) -> Iterator[tuple[Decision, Answer]]:
    """Every decision of one retailer, with the answer it gave."""
    name = names(rules["retailers"])[0]
    wares = rules["items"]
    stock = {w["item"]: {"units": 9, "cost": 9 * w["base"] + 13} for w in wares[:held]}
    bought = [wares[i % len(wares)] for i in range(lines)]
    for step in range(1, steps + 1):
        offers = [{k: w[k] for k in ("item", "quantity", "base")} for w in wares]
        last = {
            "sold": {w["item"]: {"units": 7, "revenue": 7 * w["base"] + 90} for w in bought},
            "impressions": 61,
            "attempts": 23,
            "failed": 4,
            "holding": 96,
            "fixed": 0,
            "liquidated": 0,
            "profit": 1234 + step,
            "refused": [{"item": wares[0]["item"], "price": 999, "reason": "above cap"}],
            "slogan_note": None,
        }
        bids = [{"item": w["item"], "quantity": 12, "price": w["base"] + 7} for w in bought]
        result = [
            line | {"awarded": 10, "paid": 10 * line["price"], "reason": None} for line in bids
        ]
        clearing = {
            w["item"]: {"price_to_win": w["base"] + 5, "units_at_it": 20, "asked": 412}
            for w in wares
        }
        own = {"name": name, "funds": 44_321, "stock": stock if step > 1 else {}}
        public: dict[str, Any] = {
            "round": 1,
            "offers": offers,
            "market": market(rules, step - 1, slogans) if step > 1 else None,
        }
        private = {**own, "last": last if step > 1 else None}
        yield _decision(step, 0, "bid", rules, public, private), Answer({"bids": bids})
        for turn in range(1, rules["bidding_rounds"]):
            public = {"round": turn + 1, "clearing": clearing, "bids": None}
            private = {**own, "bids": result}
            yield _decision(step, turn, "bid", rules, public, private), Answer({"bids": bids})
        public = {"clearing": clearing, "bids": None}
        private = {**own, "funds": 39_876, "stock": stock, "bids": result}
        prices = {item: lot["cost"] // 8 for item, lot in stock.items()}
        sold = Answer({"prices": prices, "slogan": SLOGAN})
        yield _decision(step, rules["bidding_rounds"], "sell", rules, public, private), sold


def history_and_decision(
    rules: Mapping[str, Any], step: int, turn: int, **how: Any
) -> tuple[list[tuple[Decision, Answer | NoAction]], Decision]:
    """The past before one decision of a retailer, and the decision."""
    past: list[tuple[Decision, Answer | NoAction]] = []
    for decision, given in turns(rules, step, **how):
        if (decision.step, decision.turn) == (step, turn):
            return past, decision
        past.append((decision, given))
    raise LookupError(f"there is no turn {turn} in step {step}")


def _decision(
    step: int, turn: int, kind: str, rules: Mapping[str, Any], public: Any, private: Any
) -> Decision:
    form = BID if kind == "bid" else SELL
    return Decision(step, turn, "markup-1", kind, Observation(rules, public, private), form)
