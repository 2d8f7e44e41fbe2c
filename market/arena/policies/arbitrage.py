"""Buys where goods are cheap and sells where they are dear, in linked markets."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from market.arena.policies.clearing import Clearing
from market.arena.policies.plans import Ware
from market.environment import Answer, Decision


@dataclass
class Arbitrage(Clearing):
    """Trades like `clearing`, in the market where a good costs least, and moves it to the dearest.

    It bids for a good in those markets where it is not cheaper to have it brought from another. Of
    what it holds it moves a part to the market where the good was paid best in the last step, as
    far as that pays the transport. There it asks somewhat less than was paid, and somewhat more
    where the good was cheap. Without linked markets it trades like `clearing`.

    Attributes:
        moved: Part of its stock of a good in a market that it moves in a step, at most.
        closing: Part of what a price is out of line by, beyond transport, that it makes up for.
    """

    moved: float = 0.5
    closing: float = 0.25

    def __post_init__(self) -> None:
        """Prepare memory: what was paid for a unit in the last step, and what is to be moved."""
        super().__post_init__()
        self.paid: dict[str, float] = {}
        self.shipments: list[dict[str, Any]] = []
        self.places: Mapping[str, list[str]] = {}
        self.fees: Mapping[str, int] = {}

    def act(self, decision: Decision) -> Answer:
        """Bid, or move goods and price them."""
        answer = super().act(decision)
        if decision.kind == "bid" or not self.places:
            return answer
        return Answer({**answer.action, "ship": self.shipments})

    def learn(self, decision: Decision) -> None:
        """Note the markets, and what was paid in them."""
        super().learn(decision)
        rules = decision.observation.rules
        if "markets" not in rules:
            return
        if not self.places:
            self.fees = rules["transport"]
            self.places = {
                item: [f"{item}@{market}" for market in rules["markets"]] for item in self.fees
            }
        market = decision.observation.public.get("market")
        if market is not None:
            self._note(market["retailers"])

    def wanted(self, ware: Ware, retailers: int) -> int:
        """Nothing of what is cheaper to have brought from elsewhere."""
        item, _, _ = ware.item.rpartition("@")
        elsewhere = [pair for pair in self.places.get(item, ()) if pair != ware.item]
        cost = self._cost(ware.item)
        if any(self._cost(pair) + self.fees[item] < cost for pair in elsewhere):
            return 0
        return super().wanted(ware, retailers)

    def prices(self, decision: Decision) -> dict[str, int]:
        """Decide what to move, and price what is held then."""
        stock = decision.observation.private["stock"]
        held = {item: (lot["units"], lot["cost"]) for item, lot in stock.items() if lot["units"]}
        self.shipments = []
        left = decision.observation.private["funds"]
        for item, pairs in self.places.items():
            for pair in pairs:
                left -= self._move(item, pair, held, left)
        return {pair: self._asked(pair, -(-cost // units)) for pair, (units, cost) in held.items()}

    def _move(self, item: str, pair: str, held: dict[str, tuple[int, int]], funds: int) -> int:
        """Move what pays, and return what that costs."""
        fee = self.fees[item]
        best = max(self.places[item], key=self._worth)
        units, cost = held.get(pair, (0, 0))
        quantity = int(units * self.moved)
        if fee:
            quantity = min(quantity, funds // fee)
        if self._worth(best) - self._worth(pair) <= fee or not quantity:
            return 0
        source, target = pair.rpartition("@")[2], best.rpartition("@")[2]
        self.shipments.append({"item": item, "from": source, "to": target, "quantity": quantity})
        gone = cost * quantity // units
        there, paid = held.get(best, (0, 0))
        held[best] = there + quantity, paid + gone + quantity * fee
        held[pair] = units - quantity, cost - gone
        if not held[pair][0]:
            del held[pair]
        return quantity * fee

    def _asked(self, pair: str, cost: int) -> int:
        """What was paid, brought nearer to what is paid elsewhere; but never below cost."""
        item, ware, worth = pair.rpartition("@")[0], self.wares[pair], self._worth(pair)
        if item not in self.places:
            return self.price(ware, cost)
        others = [self._worth(each) for each in self.places[item]]
        fee = self.fees[item]
        above, below = worth - (min(others) + fee), (max(others) - fee) - worth
        worth -= self.closing * max(above, 0.0)
        worth += self.closing * max(below, 0.0)
        return ware.ask(max(worth, cost + ware.tick))

    def _worth(self, pair: str) -> float:
        """What a unit is expected to be paid with."""
        return self.paid.get(pair, self.wares[pair].base * (1 + self.markup))

    def _cost(self, pair: str) -> int:
        """What a unit is expected to cost where it is offered."""
        return self.enough.get(pair, self.wares[pair].base)

    def _note(self, shops: Mapping[str, Any]) -> None:
        units: dict[str, int] = {}
        money: dict[str, int] = {}
        for shop in shops.values():
            for pair, sold in shop["sold"].items():
                units[pair] = units.get(pair, 0) + sold
                money[pair] = money.get(pair, 0) + sold * shop["prices"][pair]
        self.paid.update({pair: money[pair] / sold for pair, sold in units.items() if sold})
