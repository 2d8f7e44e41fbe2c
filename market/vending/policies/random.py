"""Runs a business at random: real products, real machines, nothing that is plainly forbidden."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from market.environment import Answer, Decision, Json
from market.policies.policy import Policy
from market.rng import Draws

#: Rows that it looks at of the catalogue, the warehouse and a machine.
ROWS = 50
#: Most items that a batch can have.
MOST = 100


@dataclass
class Random(Policy):
    """Looks at a page of the catalogue, its warehouse and a machine or more each day, then acts.

    It orders what it has seen, loads a machine with what it has, prices anew and delists what
    stands in the machines it looked at, in quantities and at prices that are drawn. What does not
    fit is refused, and that is that. It looks at every machine in which something has expired, and
    clears it.

    Attributes:
        items: Most items of a batch.
        quantity: Most units of an item.
        spending: Largest share of its cash that it orders for in a day.
        markup: Highest price that it asks, in multiples of the reference.
    """

    items: int = 30
    quantity: int = 8
    spending: float = 0.25
    markup: float = 2.0

    def __post_init__(self) -> None:
        self._goods: dict[str, Mapping[str, Json]] = {}
        self._pages = 1

    def act(self, decision: Decision) -> Answer:
        """Look in the first turn of a day, act in the second."""
        draws = self.draws(decision)
        if decision.turn == 0:
            return Answer(self._looks(decision, draws))
        results = [r for r in decision.observation.private["results"] if "error" not in r]
        machines = [result for result in results if result["tool"] == "view_machine"]
        seen = {result["tool"]: result for result in results}
        self._learn(seen.get("view_catalog", {}))
        stock = seen.get("view_warehouse", {}).get("rows", [])
        calls = [
            *self._batch("order_stock", self._orders(decision, draws)),
            *self._batch("discard_stock", _expired(stock)),
            *self._batch("load_machine", self._loads(decision, stock, draws)),
            *self._rearranged(machines, draws),
        ]
        return Answer([*calls, {"tool": "end_day", "arguments": {}}])

    def _looks(self, decision: Decision, draws: Draws) -> list[Json]:
        machines = decision.observation.private["report"]["machines"]
        expired = [name for name, shown in machines.items() if shown["expired"]]
        pages = [
            {"machine": name, "page": page, "rows": ROWS}
            for name in dict.fromkeys([*expired, draws.choice(sorted(machines))])
            for page in range(1, 2 + machines[name]["listed"] // ROWS)
        ]
        catalogue = {"page": draws.integer(1, self._pages), "rows": ROWS}
        return [
            {"tool": "view_catalog", "arguments": catalogue},
            {"tool": "view_warehouse", "arguments": {"rows": ROWS}},
            *({"tool": "view_machine", "arguments": page} for page in pages),
        ]

    def _learn(self, catalogue: Mapping[str, Json]) -> None:
        self._pages = catalogue.get("pages", self._pages)
        for row in catalogue.get("rows", ()):
            self._goods[row["product"]] = row

    def _orders(self, decision: Decision, draws: Draws) -> list[Json]:
        left = decision.observation.private["cash"] * self.spending * draws.uniform()
        items: list[Json] = []
        known = sorted(self._goods)
        for _ in range(draws.integer(0, self.items) if known else 0):
            product, units = draws.choice(known), draws.integer(1, self.quantity)
            left -= units * self._goods[product]["cost"]
            if left < 0:
                break
            items.append({"product": product, "quantity": units})
        return items

    def _loads(self, decision: Decision, stock: list[Json], draws: Draws) -> list[Json]:
        items: list[Json] = []
        machine = draws.choice(decision.observation.rules["machines"])["machine"]
        for row in draws.shuffled(stock)[: draws.integer(0, self.items)]:
            fresh = row["units"] - row["expired"]
            if fresh > 0:
                units = draws.integer(1, min(fresh, self.quantity))
                items.append(
                    {
                        "machine": machine,
                        "product": row["product"],
                        "quantity": units,
                        **self._priced(row["product"], draws),
                    }
                )
        return items

    def _rearranged(self, machines: list[Json], draws: Draws) -> list[Json]:
        """Some prices anew, and delisted what has expired and now and then something else."""
        prices, dropped = [], []
        for machine, row in ((each["machine"], row) for each in machines for row in each["rows"]):
            item, chance = {"machine": machine, "product": row["product"]}, draws.uniform()
            if row["expired"] or chance < 0.01:
                dropped.append(item)
            elif chance < 0.25 and (price := self._priced(row["product"], draws)):
                prices.append({**item, **price})
        return [
            *self._batch("set_prices", prices[: self.items]),
            *self._batch("delist_product", dropped[:MOST]),
        ]

    def _priced(self, product: str, draws: Draws) -> dict[str, float]:
        """A price between the cost and the highest it asks; none where it knows no cost."""
        row = self._goods.get(product)
        if row is None:
            return {}
        top = max(row["cost"], row["reference"] * self.markup)
        return {"price": round(row["cost"] + draws.uniform() * (top - row["cost"]), 2)}

    def _batch(self, tool: str, items: list[Json]) -> list[Json]:
        return [{"tool": tool, "arguments": {"items": items}}] if items else []


def _expired(stock: list[Json]) -> list[Json]:
    return [
        {"product": row["product"], "quantity": row["expired"], "expired_only": True}
        for row in stock
        if row["expired"]
    ]
