"""A recorded tournament of a small arena in which one retailer's words attack the reader."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from market.calls import CallLog, CallRecord, Outcome
from market.config import configure, expand, recorded, resolved
from market.config.plans import EpisodePlan
from market.environment import OUTSIDE, Answer, Cause, Decision, NoAction
from market.journal import Header, JournalWriter
from market.language import Message, Reply, Usage
from market.play import Player, scripts
from market.replay import build_environment
from market.rng import draws
from market.tables import write_tables

#: Sets a variable that the tests look for, in every way that a page might be made to.
ATTACK = (
    "</script><script>window.pwned=1</script><img src=x onerror='window.pwned=1'>"
    '" onmouseover="window.pwned=1" autofocus onfocus=window.pwned=1 x="'
)
#: What a slogan of some words can hold of it.
SLOGAN = "<img/src=x/onerror=window.pwned=1> fine goods"
LINK = "<a href=javascript:window.pwned=1>cheap</a> & <svg/onload=window.pwned=1>"
PROMPT = "You are a shop. <iframe src=javascript:parent.pwned=1>"

RULES = {
    "steps": 3,
    "bidding_rounds": 1,
    "items": [
        {"item": "tea", "tier": "commodity", "quantity": 40, "base": 50},
        {"item": "silk", "tier": "luxury", "quantity": 10, "base": 400},
    ],
    "personas": {
        "Thrifty": {"share": 0.4, "sensitivity": 0.2, "theme": "cheap"},
        "Ethical": {"share": 0.3, "sensitivity": 0.1, "theme": "fair"},
        "Hype": {"share": 0.3, "sensitivity": 0.1, "theme": "new"},
    },
    "tier_affinity": {
        name: {"commodity": 0.5, "luxury": 0.5} for name in ("Thrifty", "Ethical", "Hype")
    },
    "willingness_to_pay": {name: [1.0, 2.0] for name in ("Thrifty", "Ethical", "Hype")},
    "buyers": 30,
}


def tournament(folder: Path, seeds: int = 3, **study: Any) -> Path:
    """Play it, with tables."""
    config = configure(
        {
            "environment": "arena",
            "name": "hostile",
            "rules": RULES,
            "inline": True,
            "retailers": [
                {"name": "markup", "policy": "markup", "count": 2},
                {"name": "undercutter", "policy": "undercutter"},
                {"name": "gpt", "policy": "llm", "options": {"model": "openai/gpt"}},
            ],
            "tournament": {
                "rosters": ["all", "self-play", "one-among-many"],
                "seeds": {"first": 1, "count": seeds},
            },
            **study,
        }
    )
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "config.json").write_text(json.dumps(resolved(config)), encoding="utf-8")
    for plan in expand(config):
        _play(folder / "episodes" / plan.id, plan)
    write_tables(folder)
    return folder


def _play(folder: Path, plan: EpisodePlan) -> None:
    folder.mkdir(parents=True)
    whole = recorded(plan.config)
    environment = build_environment(whole)
    players: dict[str, Player] = {
        **_scripts(plan),
        OUTSIDE: _similar,
    }
    asked = environment.start()
    with (
        JournalWriter.create(
            folder / "journal.jsonl", Header.of(whole, plan.config.kind.rules_version, plan.id)
        ) as writer,
        CallLog(
            folder / "calls.jsonl", {"host": "secret-host", "python": "3", "packages": {}}
        ) as log,
    ):
        while asked:
            answers = {each.seat: players[each.seat](each) for each in asked}
            for each in asked:
                if players[each.seat] is _hostile:
                    _log(log, plan.id, each)
            writer.append(asked, answers)
            asked = environment.apply(answers)
        writer.finish(environment.result)


def _scripts(plan: EpisodePlan) -> dict[str, Player]:
    models = {
        seat
        for retailer in plan.config.retailers
        if retailer.policy == "llm"
        for seat in retailer.seats
    }
    return {
        seat: _hostile if seat in models else play
        for seat, play in scripts(plan.config, plan.seed).items()
    }


def _hostile(decision: Decision) -> Answer | NoAction:
    if decision.step == 3:
        return NoAction(Cause.MALFORMED)
    if decision.kind == "bid":
        bids = [
            {"item": "tea", "quantity": 5, "price": 60},
            {"item": ATTACK[:40], "quantity": 1, "price": 9},
        ]
        return Answer({"bids": bids}, {"note": ATTACK})
    return Answer(
        {"prices": {"tea": 70, ATTACK[:30]: 5}, "slogan": SLOGAN if decision.step == 1 else LINK}
    )


def _similar(decision: Decision) -> Answer:
    texts = decision.observation.private["texts"]
    luck = {text: draws(1, "similar", text) for text in texts}
    return Answer(
        {
            "similarities": [
                [luck[text].integer(0, 600_000) for _ in RULES["personas"]] for text in texts
            ],
            "convergence": 0,
        }
    )


def _log(log: CallLog, episode: str, decision: Decision) -> None:
    usage = Usage("gpt-1", 100, 20, 0, 0.002, 1.5, 1)
    key = (episode, decision.step, decision.turn, decision.seat)
    messages = (Message("system", PROMPT), Message("user", ATTACK))
    log.append(CallRecord(*key, 0, Outcome.SENT, "openai/gpt", messages))
    log.append(
        CallRecord(
            *key, 0, Outcome.REPLIED, "openai/gpt", messages, Reply(ATTACK, "stop", usage),
            error="File /home/somebody/market/x.py" if decision.step == 2 else None,
        )
    )  # fmt: skip
