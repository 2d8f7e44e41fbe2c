"""A small market of tea, players with prepared answers, and what they saw and hold."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from market.arena.arena import Arena
from market.arena.rules import ArenaRules
from market.environment import Answer, Cause, Decision, NoAction
from market.play import Played, Player, drive
from tests.market.arena.games import facts

SEED = 7
SILENT = NoAction(Cause.LATE)
TEA: dict[str, Any] = {
    "steps": 2,
    "bidding_rounds": 1,
    "items": [{"item": "tea", "tier": "plain", "quantity": 10, "base": 10}],
    "personas": {"Secretive": {"share": 1.0, "sensitivity": 0.7, "theme": "a hidden theme"}},
    "buyers": 5,
    "demand_ratio": 1.0,
    "initial_funds": 200,
    "price_cap": None,
    "attention": {"rho": 1.0, "k_max": 20, "similarity": "none"},
}

#: Lines by step, or by (step, round); prices and slogans by step. What is not named is silence.
Script = Mapping[Any, Any]


def market(**changes: Any) -> ArenaRules:
    """Ten units of tea a step at 10, wanted by five buyers who look at every shop."""
    return ArenaRules.model_validate({**TEA, **changes})


def says(bids: Script | None = None, shop: Script | None = None) -> Player:
    """A player with prepared answers: bids are (quantity, price) of tea, shops (price, slogan)."""

    def answer(decision: Decision) -> Answer | NoAction:
        if decision.kind == "bid":
            key = (decision.step, decision.turn + 1)
            lines = (bids or {}).get(key, (bids or {}).get(decision.step))
            if lines is None:
                return SILENT
            return Answer({"bids": [_line(*line) for line in lines]})
        post = (shop or {}).get(decision.step)
        if post is None:
            return SILENT
        price, slogan = post
        prices = price if isinstance(price, dict) else {"tea": price}
        return Answer({"prices": prices, "slogan": slogan})

    return answer


def _line(quantity: int, price: int, item: str = "tea") -> dict[str, Any]:
    return {"item": item, "quantity": quantity, "price": price}


def episode(rules: ArenaRules, **players: Player) -> Played:
    """Play with the seats that are named."""
    return drive(Arena(rules, tuple(players), SEED), players, outside=facts, events=True)


def seen(played: Played, seat: str, step: int, kind: str = "bid", turn: int = 0) -> Any:
    """What a seat saw."""
    (found,) = [
        decision.observation
        for decision, _ in played.history
        if (decision.seat, decision.step, decision.kind) == (seat, step, kind)
        and (kind == "sell" or decision.turn == turn)
    ]
    return found


def standing(played: Played, seat: str, step: int) -> Any:
    """A seat's books at the end of a step."""
    (row,) = [r for r in played.rows("standings") if (r.seat, r.step) == (seat, step)]
    return row


def name_of(played: Played, seat: str) -> str:
    return str(seen(played, seat, 1).private["name"])


def two(**changes: Any) -> Played:
    """Ann outbids Bob and is undercut by him."""
    return episode(
        market(**changes),
        ann=says({1: [(6, 12)], 2: [(1, 12)]}, {1: (15, "Fine tea")}),
        bob=says({1: [(6, 11)], 2: []}, {1: (14, "Cheap tea")}),
    )
