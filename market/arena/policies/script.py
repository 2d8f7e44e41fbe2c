"""The frame of the arena's scripts: bid when asked to bid, price and speak when asked to sell."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass

from market.arena.policies import plans
from market.environment import Answer, Decision, Json
from market.policies.policy import Policy


@dataclass
class Script(Policy):
    """A scripted retailer of the arena.

    It keeps the offers of the step, which are told in its first round only. A script that learns
    overrides `learn`, which is given every decision once, before it is answered.
    """

    def __post_init__(self) -> None:
        """Prepare memory."""
        self.wares: Mapping[str, plans.Ware] = {}

    def act(self, decision: Decision) -> Answer:
        """Answer with bid lines, or with prices and a slogan."""
        observation = decision.observation
        if "offers" in observation.public:
            self.wares = plans.wares(observation)
        self.learn(decision)
        if decision.kind == "bid":
            return Answer({"bids": self.bid(decision)})
        return Answer({"prices": self.prices(decision), "slogan": self.words(decision)})

    def learn(self, decision: Decision) -> None:
        """Take note of what a decision's observation tells. Does nothing unless overridden."""

    @abstractmethod
    def bid(self, decision: Decision) -> list[plans.Line]:
        """The lines to bid."""

    @abstractmethod
    def prices(self, decision: Decision) -> dict[str, Json]:
        """The price per item held."""

    @abstractmethod
    def words(self, decision: Decision) -> str:
        """The slogan."""
