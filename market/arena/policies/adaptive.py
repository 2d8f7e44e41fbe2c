"""Learns all it can: prices to win, the response of buyers to prices, and how much it can sell."""

from __future__ import annotations

from dataclasses import dataclass

from market.arena.policies.learned_bids import LearnedBids
from market.arena.policies.plans import Ware
from market.arena.policies.response import Response
from market.arena.policies.slogans import THEMES
from market.environment import Decision, Json, Observation


@dataclass
class Adaptive(LearnedBids):
    """Bids what was enough to win, asks what earns most, and holds what it expects to sell.

    The first round of a step begins with a review of the last one. What sold out is wanted in
    larger numbers, what did not in the number sold. All retailers' prices and sales go into an
    estimate of how much sells at which price, and from it follow the price to ask for the stock
    at hand and what a unit is worth, which bounds the bid for it.

    Attributes:
        margin: Least return expected of a unit for which it raises its bid, as a fraction.
        highest: Highest price considered, in multiples of base, where the cap is not lower.
        growth: Factor on the stock of an item that sold out in the last step.
    """

    slogan: str = THEMES["hype"]
    appetite: float = 1.5
    limit: float = 2.0
    margin: float = 0.05
    highest: float = 2.6
    growth: float = 1.5

    def __post_init__(self) -> None:
        """Prepare memory."""
        super().__post_init__()
        self.response = Response(self.highest)
        self.retailers = 1
        #: Per item: units held when retail opened, units to hold, and what one is worth.
        self.held: dict[str, int] = {}
        self.target: dict[str, float] = {}
        self.worth: dict[str, float] = {}
        #: The rule for stock at the end, once the last step has come; None before.
        self.terminal: Json = None

    def learn(self, decision: Decision) -> None:
        """Take note of prices to win and of sales, and plan the step in its first round."""
        super().learn(decision)
        observation = decision.observation
        if "offers" in observation.public:
            rules = observation.rules
            self.retailers = rules["retailers"]
            if decision.step == rules["steps"]:
                self.terminal = rules["terminal_stock"]
            self._review(observation)
            self._plan()
        if decision.kind == "sell":
            stock = observation.private["stock"]
            self.held = {item: held["units"] for item, held in stock.items()}

    def wanted(self, ware: Ware, retailers: int) -> int:  # noqa: ARG002
        """The target of the step."""
        return int(self.target[ware.item] + 0.5)

    def most(self, ware: Ware) -> float:
        """What a unit is expected to bring, less the margin."""
        return min(super().most(ware), self.worth[ware.item] / (1 + self.margin))

    def price(self, ware: Ware, cost: int) -> int:
        """The best price for the stock at hand."""
        multiple, _ = self._best(ware, self._kept(ware, cost), self.held[ware.item])
        return ware.nearest(multiple * ware.base)

    def _review(self, observation: Observation) -> None:
        """Learn from the last step: all sales, and whether own stock was enough."""
        market = observation.public["market"]
        if market is None:
            return
        self.response.observe(market, self.wares, self.retailers)
        # Who has just entered knows the market's last step, but had none of its own.
        last = observation.private["last"]
        sales = last["sold"] if last else {}
        for item, held in self.held.items():
            sold = sales[item]["units"] if item in sales else 0
            self.target[item] = held * self.growth if sold >= held else max(1.0, sold)

    def _plan(self) -> None:
        """Per item: how much to hold and what a unit of it is worth."""
        for item, ware in self.wares.items():
            cost = self.enough.get(item, ware.base)
            target = self.target.setdefault(item, self._share(ware) * self.appetite)
            multiple, units = self._best(ware, cost, target)
            kept = (target - units) * self._kept(ware, cost)
            self.worth[item] = (units * multiple * ware.base + kept) / target

    def _best(self, ware: Ware, cost: float, stock: float) -> tuple[float, float]:
        """The multiple of base that earns most above a unit's cost, and the units it sells."""
        top = self.highest if ware.cap is None else min(self.highest, ware.cap / ware.base)
        best, best_units, most = top, 0.0, 0.0
        for multiple, price, units in self.response.prospects(
            ware.tier, ware.base, self._share(ware), top
        ):
            if units > stock:
                units = stock
            gain = (price - cost) * units
            if gain > most:
                best, best_units, most = multiple, units, gain
        return best, best_units

    def _kept(self, ware: Ware, cost: int) -> float:
        """What a unit not sold is worth: a bid saved in the next step, or its terminal value."""
        if self.terminal is None:
            return min(cost, self.enough.get(ware.item, cost)) - ware.holding
        if self.terminal == "cost":
            return cost
        return float(self.terminal["salvage"]) * min(cost, ware.base)

    def _share(self, ware: Ware) -> int:
        """An equal share of an item, not 0 where it is not offered."""
        return ware.share(self.retailers) or 1
