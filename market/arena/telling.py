"""What a retailer of the arena sees, line by line.

`state` is what it must know and is never cut. `feedback` and `earlier_steps` are told as far as
they fit, the most useful first: own results before rivals', new before old, best sellers before
others. Rivals' words are quoted and cleaned, and names and items are held against what the rules
know, since bids may name anything.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import groupby
from typing import Any

from market.arena.extended_telling import news, shipments
from market.arena.phrases import reason, words
from market.arena.shop_lines import NAME_LIMIT, shop_lines
from market.environment import Decision, Json
from market.policies.policy import History
from market.policies.tokens import estimate_tokens, fitting
from market.policies.untrusted import clean, number
from market.policies.wording import Wording

#: Tokens of the line that says what was left out, which the room does not count.
NOTE_TOKENS = 12

_Object = Mapping[str, Any]


def state(decision: Decision, alone: bool, wording: int = 0) -> str:
    """Where the retailer stands and what is asked.

    Args:
        decision: What it must decide.
        alone: Whether nothing was told in this step before, or not any more.
        wording: In which wording.
    """
    rules, public = decision.observation.rules, decision.observation.public
    private = decision.observation.private
    round_number, rounds = decision.turn + 1, rules["bidding_rounds"]
    say, lines = words("turns", rules, wording), []
    if decision.kind == "sell":
        lines.append(say("sell", won=_won(private["bids"], say)))
    elif decision.turn == 0:
        # Small models answer in prose when a message begins by addressing them.
        lines.append(say("step", step=decision.step, steps=rules["steps"], name=private["name"]))
    else:
        lines.append(say("round", round=decision.turn, won=_won(private["bids"], say)))
    if decision.kind == "bid" and rounds > 1:
        last = say("last") if round_number == rounds else ""
        lines.append(say("bid", round=round_number, rounds=rounds, last=last))
    lines.append(say("funds", funds=private["funds"]))
    if alone or decision.kind == "sell":
        lines.append(_stock(decision, say))
        if "values" in private:
            lines.append(say("values", values=_listed(private["values"])))
    changed = _changed_offers(rules, public.get("offers", ()))
    if changed:
        lines.append(say("offers", offers=changed))
    return " ".join(lines)


def _stock(decision: Decision, say: Wording) -> str:
    """The own stock, with the average cost per unit rounded up."""
    held = [
        f"{clean(item, NAME_LIMIT)} {lot['units']}@{-(-lot['cost'] // lot['units'])}"
        for item, lot in decision.observation.private["stock"].items()
        if lot["units"]
    ]
    return say("stock", held=", ".join(held)) if held else say("no_stock")


def feedback(decision: Decision, room: int) -> list[str]:
    """What a bidding round brought, in at most so many tokens."""
    public, private = decision.observation.public, decision.observation.private
    say = _say(decision)
    lines = [_bid(decision, line) for line in private["bids"]]
    own = {line["item"] for line in private["bids"]}
    clearing = sorted((public["clearing"] or {}).items(), key=lambda entry: entry[0] not in own)
    lines += _headed(
        say("to_win"),
        [
            f"{item} {number(told['price_to_win'])} ({number(told['units_at_it'])}, "
            f"{number(told['asked'])})"
            for item, told in clearing
        ],
    )
    lines += _headed(say("all_bids"), _rival_bids(decision))
    lines += news(decision)
    kept = fitting(lines, room)
    if len(kept) == len(lines):
        return kept
    return [*kept, say("left_out", what=say("lines", count=len(lines) - len(kept)))]


def earlier_steps(decision: Decision, earlier: History, room: int) -> list[str]:
    """What earlier steps brought, newest first, in at most so many tokens."""
    say, lines = _say(decision), news(decision)
    if not earlier and decision.observation.public.get("market"):
        # Who comes later is told how the market stands.
        lines += _headed(say("step_market", step=decision.step - 1), shop_lines(decision))
    told = fitting(lines, room)
    room -= sum(estimate_tokens(line) + 1 for line in told)
    for step, lines in _steps(decision, earlier):
        whole = sum(estimate_tokens(line) + 1 for line in lines)
        if whole > room:
            kept = fitting(lines, room)
            out = [say("lines_of_step", count=len(lines) - len(kept), step=step)] if kept else []
            last = step - 1 if kept else step
            if last:
                out.append(say("first_steps", last=last) if last > 1 else say("first_step"))
            return [*told, *kept, say("left_out", what=", ".join(out))]
        told += lines
        room -= whole
    return told


def _say(decision: Decision) -> Wording:
    """The words for figures of the past."""
    return words("told", decision.observation.rules)


def _steps(decision: Decision, earlier: History) -> Iterator[tuple[int, list[str]]]:
    """Each earlier step and its lines, newest step first."""
    after, say = decision, _say(decision)
    for step, turns in groupby(reversed(earlier), key=lambda turn: turn[0].step):
        asked = [turn for turn, _ in turns]
        results, more = _own_results(after)
        bids, market = _bidding(asked[0]) if asked[0].kind == "sell" else ("", "")
        told = say("step_results", step=step, results=results)
        lines = [line for line in (told, bids, more, market) if line]
        lines += _headed(say("step_market", step=step), shop_lines(after))
        yield step, lines
        after = asked[-1]


def _own_results(after: Decision) -> tuple[str, str]:
    """The own last step: money and sales, and besides what else there is to know."""
    last, rules, say = after.observation.private["last"], after.observation.rules, _say(after)
    sold = ", ".join(
        say("lot", item=clean(item, NAME_LIMIT), units=lot["units"], revenue=lot["revenue"])
        for item, lot in last["sold"].items()
        if lot["units"]
    )
    results = [
        say("profit", profit=last["profit"]),
        say("sold", sold=sold) if sold else say("sold_nothing"),
    ]
    if last["impressions"] is not None:
        results.append(say("considered", count=last["impressions"]))
    parts = []
    if last["attempts"]:
        parts.append(say("attempts", attempts=last["attempts"], failed=last["failed"]))
    parts += [
        say(name, amount=last[name]) for name in ("holding", "fixed", "liquidated") if last[name]
    ]
    parts += [
        say(
            "refused",
            price=number(line["price"]),
            item=clean(line["item"], NAME_LIMIT),
            reason=reason(rules, line["reason"]),
        )
        for line in last["refused"][:5]
    ]
    parts += shipments(last, rules)
    if last["slogan_note"]:
        parts.append(say("slogan", note=clean(reason(rules, last["slogan_note"]))))
    return "; ".join(results), say("besides", what="; ".join(parts)) if parts else ""


def _bidding(settled: Decision) -> tuple[str, str]:
    """How an earlier step's bids settled, in a line each for oneself and the market."""
    bids, say = settled.observation.private["bids"], _say(settled)
    told = "; ".join(_bid(settled, line) for line in bids)
    clearing = settled.observation.public["clearing"] or {}
    prices = {item: cleared["price_to_win"] for item, cleared in clearing.items()}
    return (
        say("your_bids", bids=told) if bids else "",
        say("prices_to_win", prices=_listed(prices)) if prices else "",
    )


def _rival_bids(decision: Decision) -> list[str]:
    known = {item["item"] for item in decision.observation.rules["items"]}
    say = _say(decision)
    return [
        f"{clean(name, NAME_LIMIT)}: "
        + "; ".join(
            say(
                "rival_bid",
                item=line["item"],
                quantity=number(line["quantity"]),
                price=number(line["price"]),
                awarded=number(line["awarded"]),
            )
            for line in lines
            if line["item"] in known
        )
        for name, lines in (decision.observation.public.get("bids") or {}).items()
    ]


def _won(bids: list[_Object], say: Wording) -> str:
    if not bids:
        return say("no_bids")
    units = sum(line["quantity"] for line in bids if line["awarded"] or not line["reason"])
    void = sum(1 for line in bids if line["reason"] and not line["awarded"])
    return say(
        "won",
        won=sum(line["awarded"] for line in bids),
        asked=number(units),
        paid=sum(line["paid"] for line in bids),
        void=say("void", count=void) if void else "",
    )


def _bid(decision: Decision, line: _Object) -> str:
    """An own line of a bid and what became of it."""
    say, why = _say(decision), line["reason"]
    stood = line["awarded"] or not why
    return say(
        "bid",
        item=clean(line["item"], NAME_LIMIT),
        quantity=number(line["quantity"]),
        price=number(line["price"]),
        fate=say("bid_won", awarded=line["awarded"]) if stood else say("bid_void"),
        reason=f" ({reason(decision.observation.rules, why)})" if why else "",
    )


def _changed_offers(rules: _Object, offers: list[_Object]) -> str:
    """Offers that are not those of the rules."""
    usual = {ware["item"]: (ware["quantity"], ware["base"]) for ware in rules["items"]}
    return ", ".join(
        f"{offer['item']} {offer['quantity']}@{offer['base']}"
        for offer in offers
        if usual.get(offer["item"]) != (offer["quantity"], offer["base"])
    )


def _listed(amounts: Mapping[str, Json]) -> str:
    return ", ".join(f"{item} {number(amount)}" for item, amount in amounts.items())


def _headed(head: str, lines: list[str]) -> list[str]:
    """Lines under a head that is never told without the first of them."""
    return [f"{head}\n{lines[0]}", *lines[1:]] if lines else []
