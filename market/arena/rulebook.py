"""The rules of the arena in words, for language models.

One text per episode and wording, equal for every seat and step. It says what the configuration
says and nothing beyond: kinds of buyers and what they like are for the retailers to find out. The
brief version serves small models, which read little and copy what they read.
"""

from __future__ import annotations

from collections.abc import Mapping

from market.arena.extended_telling import paragraphs
from market.arena.phrases import further, words
from market.environment import Json
from market.policies.tokens import estimate_tokens
from market.policies.untrusted import clean
from market.policies.wording import Wording

Rules = Mapping[str, Json]

#: Brief rules are made at least so long if they can be: some servers keep no shorter prefix.
PREFIX = 305

#: The objective of retailers that have owners.
OWNER_PROFIT = "owner profit"


def full(rules: Rules, wording: int = 0) -> str:
    """All rules, paragraph by paragraph."""
    say = words("rules", rules, wording)
    induced = _induced(rules)
    return "\n\n".join(
        [
            say(
                "opening",
                retailers=rules["retailers"],
                steps=rules["steps"],
                then=say("then_redeem" if induced else "then_sell"),
            ),
            f"{say('table')}\n{_table(rules, say)}",
            *_supply(rules, say),
            say(
                "course",
                rounds=_rounds(rules, say),
                then="" if induced else say("then_selling"),
                settling=_settling(rules, say),
            ),
            say(
                "bidding",
                limits=_limits(rules, say, say),
                ties=_ties(rules, say),
                pricing=_pricing(rules, say, say),
                budget=_budget(rules, say),
                feedback=_feedback(rules, say),
            ),
            *_selling(rules, say),
            *paragraphs(rules, say),
            say("costs", holding=_holding(rules, say), fixed=_fixed(rules, say)),
            say(
                "end",
                steps=rules["steps"],
                terminal=_terminal(rules, say),
                score=_score(rules, say),
            ),
            say("data"),
            say("json"),
        ]
    )


def brief(rules: Rules, wording: int = 0) -> str:
    """The same rules in few words, with further sentences up to `PREFIX` tokens."""
    say, more = words("brief", rules, wording), words("rules", rules, wording)
    induced, cost = _induced(rules), rules["fixed_cost"]
    told = [
        say(
            "opening",
            retailers=rules["retailers"],
            steps=rules["steps"],
            then="" if induced else say("then_sell"),
        ),
        _brief_table(rules, say, more),
        *_supply(rules, say),
        say(
            "bids",
            ties=_ties(rules, say),
            pricing=_pricing(rules, say, more),
            limits=_limits(rules, say, more),
            budget=_budget(rules, more),
            settling=_brief_settling(rules, say),
        ).rstrip(),
        " ".join(_selling(rules, more)) if induced else _brief_selling(rules, say),
        *paragraphs(rules, say),
        say(
            "end",
            fixed=say("fixed", cost=cost) if cost else "",
            terminal=_terminal(rules, more),
            score=say("score") if rules["objective"] == "profit" else _score(rules, more),
        ),
    ]
    text = "\n".join(told)
    for sentence in further(rules, wording):
        if estimate_tokens(text) < PREFIX:
            text += f"\n{sentence}"
    return text


def _induced(rules: Rules) -> bool:
    """Whether stock is redeemed at private values instead of sold."""
    return bool(rules.get("retail") == "induced")


def _selling(rules: Rules, say: Wording) -> list[str]:
    if _induced(rules):
        return [say("redeeming", units=rules.get("redeemable_units"))]
    allowed = rules["stockless_offers"] == "allowed"
    counted = rules["attention_feedback"] != "none"
    return [
        say(
            "selling",
            words=rules["slogan_words"],
            stockless=say("stockless_allowed" if allowed else "stockless_refused"),
        ),
        say("buyers", impressions=say("impressions") if counted else ""),
        *([say("memory")] if rules.get("returning_buyers") else []),
    ]


def _brief_selling(rules: Rules, say: Wording) -> str:
    memory = say("memory") if rules.get("returning_buyers") else ""
    return say("selling", words=rules["slogan_words"]) + memory


def _supply(rules: Rules, say: Wording) -> list[str]:
    """How offers vary, where they do."""
    noise = rules.get("supply_noise")
    if not noise:
        return []
    missed = say("missed", shock=noise["shock"]) if noise["shock"] else ""
    return [say("supply_varies", variation=noise["variation"], missed=missed)]


def _table(rules: Rules, say: Wording) -> str:
    return "\n".join(
        ",".join(
            str(value)
            for value in (
                item["item"],
                item["tier"],
                item["quantity"],
                item["base"],
                say("no_cap") if item["cap"] is None else item["cap"],
                item["holding_cost"],
            )
        )
        for item in rules["items"]
    )


def _brief_table(rules: Rules, say: Wording, more: Wording) -> str:
    """The items, without columns that one sentence can tell."""
    items = rules["items"]
    head, rows = (
        say("columns"),
        [f"{item['item']},{item['tier']},{item['quantity']},{item['base']}" for item in items],
    )
    said = []
    multiples = {None if item["cap"] is None else item["cap"] / item["base"] for item in items}
    if len(multiples) == 1:
        multiple = multiples.pop()
        said.append(say("no_limit") if multiple is None else say("up_to", multiple=multiple))
    else:
        head += say("cap_column")
        rows = [
            f"{row},{more('no_cap') if item['cap'] is None else item['cap']}"
            for row, item in zip(rows, items, strict=True)
        ]
    shares = {item["holding_cost"] / item["base"] for item in items}
    if len(shares) == 1:
        share = shares.pop()
        said.append(say("keeping", share=share) if share else say("keeping_free"))
    else:
        head += say("holding_column")
        rows = [f"{row},{item['holding_cost']}" for row, item in zip(rows, items, strict=True)]
    head += f"; {', '.join(said)}" if said else ""
    return "\n".join([say("items", head=head), *rows])


def _rounds(rules: Rules, say: Wording) -> str:
    count = rules["bidding_rounds"]
    return say("one_round") if count == 1 else say("rounds", count=count)


def _settling(rules: Rules, say: Wording) -> str:
    if rules["bidding_rounds"] == 1:
        return say("settles")
    return say("last_settles") + (say("monotone") if rules["round_rule"] == "monotone" else "")


def _brief_settling(rules: Rules, say: Wording) -> str:
    rounds = rules["bidding_rounds"]
    if rounds == 1:
        return ""
    monotone = say("monotone") if rules["round_rule"] == "monotone" else ""
    return say("last_settles", rounds=rounds) + monotone


def _limits(rules: Rules, say: Wording, more: Wording) -> str:
    lines, tick = rules["lines_per_item"], rules["tick"]
    return say(
        "limits",
        tick="" if tick == 1 else more("tick", tick=tick),
        most=more("one_line") if lines == 1 else more("lines", lines=lines),
    )


def _ties(rules: Rules, say: Wording) -> str:
    return say("ties_shared" if rules["ties"] == "prorata" else "ties_random")


def _pricing(rules: Rules, say: Wording, more: Wording) -> str:
    return more("pay_uniform") if rules["pricing"] == "uniform" else say("pay_bid")


def _budget(rules: Rules, say: Wording) -> str:
    return say("whole_void" if rules["over_budget"] == "void" else "trimmed")


def _feedback(rules: Rules, say: Wording) -> str:
    if rules["bid_feedback"] == "own":
        return say("feedback_own")
    bids = say("feedback_bids") if rules["bid_feedback"] == "full" else ""
    return say("feedback_clearing", bids=bids)


def _holding(rules: Rules, say: Wording) -> str:
    charged = any(item["holding_cost"] for item in rules["items"])
    return say("holding" if charged else "no_holding")


def _fixed(rules: Rules, say: Wording) -> str:
    cost = rules["fixed_cost"]
    return say("fixed", cost=cost) if cost else say("no_fixed")


def _terminal(rules: Rules, say: Wording) -> str:
    terminal = rules["terminal_stock"]
    if terminal == "cost":
        return say("terminal_cost")
    return say("terminal_salvage", salvage=terminal["salvage"])


def _score(rules: Rules, say: Wording) -> str:
    if rules["objective"] == OWNER_PROFIT:
        return say("score_owner", initial=rules["initial_funds"])
    if rules["objective"] != "profit":
        return say("score_other", objective=clean(str(rules["objective"])))
    return say("score", initial=rules["initial_funds"])
