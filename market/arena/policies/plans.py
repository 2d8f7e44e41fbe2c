"""What the scripts of the arena share: items, stock, and bids that keep to the rules."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from market.environment import Decision, Json, Observation

#: A bid line as `{"item", "quantity", "price"}`.
Line = dict[str, Any]


class Ware(NamedTuple):
    """One item of this step's offers; money in whole units.

    Attributes:
        item: Its name.
        tier: Its class of goods.
        quantity: Units on offer this step.
        base: Lowest valid bid per unit.
        cap: Highest valid bid and price; None without a cap.
        tick: Bids and prices are multiples of it.
        holding: Cost of keeping a unit for a step.
    """

    item: str
    tier: str
    quantity: int
    base: int
    cap: int | None
    tick: int
    holding: int

    def bid(self, price: float) -> int:
        """The highest valid bid not above a price; the lowest valid one if there is none."""
        _, _, _, base, cap, tick, _ = self
        low, on_tick = -(-base // tick) * tick, int(price) // tick * tick
        if on_tick < low:
            on_tick = low
        return on_tick if cap is None or on_tick <= cap else cap

    def ask(self, price: float) -> int:
        """The highest valid price of sale not above a price; one tick if there is none."""
        _, _, _, _, cap, tick, _ = self
        on_tick = int(price) // tick * tick
        if on_tick < tick:
            on_tick = tick
        return on_tick if cap is None or on_tick <= cap else cap

    def nearest(self, price: float) -> int:
        """The valid price of sale nearest to a price."""
        return self.ask(price + self.tick / 2)

    def undercut(self, rival: int, cost: int) -> int:
        """One tick below a rival's price, but at least unit cost + 1, and within the cap."""
        return self.ask(max(rival - self.tick, cost + self.tick))

    def top(self, multiple: float) -> int:
        """The cap; a multiple of base where there is none."""
        return self.bid(self.base * multiple) if self.cap is None else self.cap

    def share(self, retailers: int) -> int:
        """Units of an equal share of the offer, rounded up."""
        return -(-self.quantity // retailers)


def wares(observation: Observation) -> Mapping[str, Ware]:
    """Every item with this step's offer, from the observation of a step's first bidding round.

    An item of the rules that is not offered this step has quantity 0.
    """
    global _last
    rules, offers = observation.rules, observation.public["offers"]
    if _last[0] is not rules or _last[1] is not offers:
        _last = rules, offers, _wares(rules, offers)
    return _last[2]


#: Rules and offers, and what was made of them: the seats of one process are shown the same ones.
_last: tuple[Any, Any, Mapping[str, Ware]] = None, None, {}


def _wares(rules: Mapping[str, Json], offers: list[Json]) -> Mapping[str, Ware]:
    tick = rules["tick"]
    offered = {offer["item"]: offer for offer in offers}
    out = {}
    for item in rules["items"]:
        name = item["item"]
        offer = offered.get(name)
        quantity, base = (offer["quantity"], offer["base"]) if offer else (0, item["base"])
        out[name] = Ware(
            name, item["tier"], quantity, base, item["cap"], tick, item["holding_cost"]
        )
    return out


def units(stock: Mapping[str, Json], item: str) -> int:
    """Units of an item in stock."""
    held = stock.get(item)
    return int(held["units"]) if held else 0


def unit_costs(stock: Mapping[str, Json]) -> dict[str, int]:
    """Average cost per unit of every item held, rounded up."""
    return {
        item: -(-held["cost"] // held["units"]) for item, held in stock.items() if held["units"]
    }


def cheapest_rivals(observation: Observation) -> dict[str, int]:
    """The lowest price of any rival per item, from the public history of the last step."""
    global _last_market
    market = observation.public["market"]
    if _last_market[0] is not market:
        _last_market = market, _two_cheapest(market)
    own = observation.private["name"]
    return {
        item: price if whose != own else second
        for item, (price, whose, second) in _last_market[1].items()
        if whose != own or second is not None
    }


#: The market's last step, and what was made of it: the same for all seats of one process.
_last_market: tuple[Any, dict[str, tuple[int, str, Any]]] = None, {}


def _two_cheapest(market: Json) -> dict[str, tuple[int, str, Any]]:
    """Per item the lowest price, who asked it, and the lowest that anybody else asked."""
    asked: dict[str, list[tuple[int, str]]] = {}
    for name, shop in market["retailers"].items():
        for item, price in shop["prices"].items():
            asked.setdefault(item, []).append((price, name))
    out = {}
    for item, prices in asked.items():
        price, whose = min(prices)
        out[item] = price, whose, min([p for p, name in prices if name != whose], default=None)
    return out


def order(decision: Decision, wanted: Iterable[tuple[str, int, int]]) -> list[Line]:
    """Bid lines for (item, quantity, price) that funds can pay and the round rule allows.

    Beyond funds every quantity is cut in proportion, and what that leaves is spent in the order
    of the lines. Where later rounds must not retreat, an item's earlier line bounds the new one
    and an item without one is dropped; at most one line per item may be wanted then.
    """
    lines = [line for line in wanted if line[1] > 0]
    observation = decision.observation
    if observation.rules["round_rule"] == "monotone" and decision.turn > 0:
        lines = _advance(lines, observation.private["bids"])
    funds = observation.private["funds"]
    total = sum([quantity * price for _, quantity, price in lines])
    if total > funds:
        lines = _cut(lines, funds, total)
    return [{"item": item, "quantity": quantity, "price": price} for item, quantity, price in lines]


def _advance(
    lines: list[tuple[str, int, int]], earlier: Iterable[Mapping[str, Json]]
) -> list[tuple[str, int, int]]:
    bound = {
        line["item"]: (line["quantity"], line["price"])
        for line in earlier
        if line["reason"] is None and line["quantity"]
    }
    return [
        (item, min(quantity, bound[item][0]), max(price, bound[item][1]))
        for item, quantity, price in lines
        if item in bound
    ]


def _cut(lines: list[tuple[str, int, int]], funds: int, total: int) -> list[tuple[str, int, int]]:
    kept = [quantity * funds // total for _, quantity, _ in lines]
    left = funds - sum(cut * line[2] for cut, line in zip(kept, lines, strict=True))
    out = []
    for cut, (item, quantity, price) in zip(kept, lines, strict=True):
        more = min(quantity - cut, left // price)
        left -= more * price
        if cut + more:
            out.append((item, cut + more, price))
    return out
