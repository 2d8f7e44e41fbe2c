"""Learns all it can: prices to win, the response of buyers to prices, and how much it can sell."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from market.arena.policies.learned_bids import LearnedBids
from market.arena.policies.plans import Ware
from market.arena.policies.response import Response
from market.arena.policies.slogans import THEMES
from market.environment import Decision, Json, Observation


@dataclass
class Adaptive(LearnedBids):
    """Bids what was enough to win, asks what earns most, and holds what it expects to sell.

    Attributes:
        margin: Least return expected of a unit for which it raises its bid, as a fraction.
        highest: Highest price considered, in multiples of base, where the cap is not lower.
        choke: Price at which it believes nothing to sell before it has seen sales, in multiples
            of base.
        belief: Weight of that belief, in offers observed.
        growth: Factor on the stock of an item that sold out in the last step.
    """

    slogan: str = THEMES["hype"]
    appetite: float = 1.5
    limit: float = 2.0
    margin: float = 0.05
    highest: float = 3.0
    choke: float = 2.6
    belief: float = 2.0
    growth: float = 1.5

    def __post_init__(self) -> None:
        """Prepare memory."""
        super().__post_init__()
        self.response = Response(self.highest, self.choke, self.belief)
        self.shares: dict[str, Sequence[float]] = {}
        self.held: dict[str, int] = {}
        self.target: dict[str, float] = {}
        self.worth: dict[str, float] = {}
        self.retailers = 1
        #: The rule for stock at the end, once the last step has come; None before.
        self.terminal: Json = None

    def learn(self, decision: Decision) -> None:
        """Take note of prices to win and of sales, and plan the step in its first round."""
        super().learn(decision)
        observation = decision.observation
        if "offers" in observation.public:
            self.retailers = observation.rules["retailers"]
            if decision.step == observation.rules["steps"]:
                self.terminal = observation.rules["terminal_stock"]
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
        stock = self.held[ware.item] / self._share(ware)
        multiple, _ = self._best(ware, self._kept(ware, cost), stock)
        return ware.nearest(multiple * ware.base)

    def _review(self, observation: Observation) -> None:
        """Learn from the last step: all sales, and whether own stock was enough."""
        market = observation.public["market"]
        if market is None:
            return
        self.response.observe(market, self.wares, self.retailers)
        sales = observation.private["last"]["sold"]
        for item, held in self.held.items():
            sold = sales[item]["units"] if item in sales else 0
            self.target[item] = held * self.growth if sold >= held else max(1.0, sold)

    def _plan(self) -> None:
        """Per item: how much to hold and what a unit of it is worth."""
        tiers = {ware.tier for ware in self.wares.values()}
        self.shares = {tier: self.response.expected(tier) for tier in tiers}
        for item, ware in self.wares.items():
            cost = self.enough.get(item, ware.base)
            multiple, shares = self._best(ware, cost, self.appetite)
            share = self._share(ware)
            target = self.target.setdefault(item, share * self.appetite)
            sold = min(1.0, shares * share / target)
            self.worth[item] = sold * multiple * ware.base + (1 - sold) * self._kept(ware, cost)

    def _best(self, ware: Ware, cost: float, stock: float) -> tuple[float, float]:
        """The multiple of base that earns most above a unit's cost, and the shares it sells."""
        top = self.highest if ware.cap is None else ware.cap / ware.base
        least = cost / ware.base
        best, most = (top, 0.0), 0.0
        for multiple, shares in zip(self.response.multiples, self.shares[ware.tier], strict=True):
            sold = shares if shares < stock else stock
            if multiple <= top and (multiple - least) * sold > most:
                best, most = (multiple, sold), (multiple - least) * sold
        return best

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
