"""Knows how customers choose and pays every cost: what full information is worth.

It plans once, from the hidden world that the configuration tells it (`rules.informed` must name its
seat): per machine the products, units and prices that earn most, and how often to come. From
then on it looks at its stock every morning and does what `market.vending.planning.control` says. It
knows neither luck nor the weather of days to come, and takes itself for alone at its sites.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from market.environment import Decision
from market.vending.policies.script import Call, Script, affordable, batches, view

if TYPE_CHECKING:
    from market.vending.planning.control import Control


@dataclass
class Planner(Script):
    """Keeps machines filled by a plan made with full knowledge of demand."""

    def __post_init__(self) -> None:
        """Prepare memory."""
        super().__post_init__()
        self._control: Control | None = None
        self._codes: list[str] = []
        self._index: dict[str, int] = {}
        self._costs: dict[str, float] = {}
        self._today: dict[str, Any] = {}

    def look(self, decision: Decision) -> list[Call]:
        """All machines, the warehouse and orders under way; nothing while there is nothing."""
        if self._control is None:
            self._plan(decision)
        self._today = decision.observation.public["today"]
        report = decision.observation.private["report"]
        views = []
        if report["warehouse"]["units"]:
            views.append(view("view_warehouse"))
        if report["under_way"]["units"]:
            views.append(view("view_orders", status="under_way"))
        return views + [
            view("view_machine", machine=name, window=1)
            for name, machine in report["machines"].items()
            if machine["listed"]
        ]

    def decide(self, decision: Decision) -> list[Call]:
        """Clear what expired, load what is due, order up to the plan."""
        rules = decision.observation.rules
        machines = [each["machine"] for each in rules["machines"]]
        expired = [
            {"machine": made["machine"], "product": row["product"]}
            for made, row in self.rows("view_machine")
            if row["expired"]
        ]
        spoiled = [
            {"product": row["product"], "quantity": row["expired"], "expired_only": True}
            for _, row in self.rows("view_warehouse")
            if row["expired"]
        ]
        assert self._control is not None  # made when the morning began
        views = map(self.rows, ("view_machine", "view_warehouse", "view_orders"))
        stock = self._control.seen(machines, self._index, *views)
        loads = [
            {
                "machine": machines[each.machine],
                "product": self._codes[each.product],
                "quantity": each.units,
                "price": each.price / 100,
            }
            for each in self._control.loads(decision.step, self._today, stock)
        ]
        orders = [
            {"product": self._codes[product], "quantity": units}
            for product, units in self._control.orders(stock)
        ]
        cash, most = decision.observation.private["cash"], rules["items_per_call"]
        return [
            *batches("delist_product", expired, most),
            *batches("load_machine", loads, most),
            *batches("order_stock", affordable(orders, self._costs, cash), most),
            *batches("discard_stock", spoiled, most),
        ]

    def _plan(self, decision: Decision) -> None:
        from market.vending.planning.control import Control
        from market.vending.planning.knowledge import Knowledge

        hidden = decision.observation.private.get("hidden")
        if hidden is None:
            raise ValueError(f"rules.informed must name {self.seat}: a planner knows the world")
        knowledge = Knowledge.told(hidden)
        self._control = Control(knowledge)
        goods = knowledge.demand.world.catalogue.products
        self._codes = [each.product for each in goods]
        self._costs = {each.product: each.cost / 100 for each in goods}
        self._index = {code: i for i, code in enumerate(self._codes)}
