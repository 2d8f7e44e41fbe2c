"""What prompts say of linked markets, entry, exit and owners; nothing where there are none.

`paragraphs` are rules. `news` are lines about others that a step begins with or selling is told
with, and `shipments` what became of goods that were to be moved.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from market.arena.phrases import reason, words
from market.environment import Decision, Json
from market.policies.untrusted import clean, number
from market.policies.wording import Wording

#: Characters shown of the name of an item, a market or a retailer.
NAME_LIMIT = 40

#: Shipments of one step that are told.
SHIPMENTS = 5


def paragraphs(rules: Mapping[str, Json], say: Wording) -> list[str]:
    """The rules of extensions.

    Args:
        rules: The public rules.
        say: The words of the full rules, or of the brief ones.
    """
    told = []
    if "markets" in rules:
        fees, markets = rules["transport"], rules["markets"]
        told.append(
            say(
                "linked",
                markets=", ".join(markets),
                item=next(iter(fees)),
                source=markets[0],
                target=markets[1],
                fees=", ".join(f"{item} {fee}" for item, fee in fees.items()),
            )
        )
    if rules.get("entry"):
        steps = sorted(rules["entry"].items(), key=lambda entry: int(entry[0]))
        entries = ", ".join(say("entry", count=count, step=step) for step, count in steps)
        told.append(say("entering", entries=entries))
    if rules.get("exit") == "voluntary":
        terminal = rules["terminal_stock"]
        told.append(say("leaving", share=1 if terminal == "cost" else terminal["salvage"]))
    return told


def news(decision: Decision) -> list[str]:
    """Who came and left, and how the other retailers of one's owner stand."""
    public, private = decision.observation.public, decision.observation.private
    say = words("told", decision.observation.rules)
    lines = [
        say(what, names=", ".join(public[what])) for what in ("entered", "left") if public.get(what)
    ]
    sisters = [_sister(name, view, say) for name, view in private.get("sisters", {}).items()]
    return [*lines, *([f"{say('sisters')}\n{sisters[0]}", *sisters[1:]] if sisters else [])]


def shipments(last: Mapping[str, Any], rules: Mapping[str, Json]) -> list[str]:
    """What became of the goods that were to be moved in the last step."""
    say = words("told", rules)
    told = []
    for line in last.get("shipped", ())[:SHIPMENTS]:
        void = line["reason"]
        facts = {
            "quantity": number(line["quantity"]),
            "item": clean(line["item"], NAME_LIMIT),
            "source": clean(line["from"], NAME_LIMIT),
            "target": clean(line["to"], NAME_LIMIT),
        }
        told.append(
            say("not_shipped", reason=reason(rules, void), **facts)
            if void
            else say("shipped", fee=line["fee"], **facts)
        )
    return told


def _sister(name: str, view: Mapping[str, Any], say: Wording) -> str:
    stock = ", ".join(f"{item} {lot['units']}" for item, lot in view["stock"].items())
    bids = ", ".join(
        say(
            "sister_bid",
            item=line["item"],
            quantity=number(line["quantity"]),
            price=number(line["price"]),
            awarded=line["awarded"],
        )
        for line in view["bids"]
    )
    nothing = say("none")
    return say(
        "sister", name=name, funds=view["funds"], stock=stock or nothing, bids=bids or nothing
    )
