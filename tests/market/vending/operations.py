"""Small worlds, and seats that play them, for the tests of the vending environment."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from market.config import load
from market.environment import Answer, Decision, Event, NoAction
from market.play import Played, drive
from market.policies.policy import Policy
from market.vending.rules import VendingRules
from market.vending.vending import Vending

Call = dict[str, Any]

#: Two site types, three subcategories, nothing that is large.
SMALL: Mapping[str, Any] = {
    "days": 10,
    "products": 24,
    "slots": 6,
    "volume": 40,
    "cash": 2_000.0,
    "sites": {
        "office": {
            "sites": 2,
            "sensitivity": 2.0,
            "week": [1.3, 1.3, 1.3, 1.3, 1.2, 0.3, 0.2],
            "holiday": 0.2,
            "traffic": {"kind": "constant", "value": 40},
        },
        "transit": {
            "sites": 1,
            "sensitivity": 1.6,
            "week": [0.8, 0.8, 0.8, 0.9, 1.2, 1.3, 1.2],
            "holiday": 1.4,
            "traffic": {"kind": "gamma", "mean": 40, "variance": 20},
        },
    },
    "subcategories": {
        "water": {"shelf_life": 90, "reference": {"kind": "uniform", "low": 2, "high": 5}},
        "bread": {"shelf_life": 30, "reference": {"kind": "uniform", "low": 4, "high": 9}},
        "nuts": {"shelf_life": 90, "reference": {"kind": "uniform", "low": 5, "high": 12}},
    },
    "demand": {"outside": 10},
}
#: Deliveries that are never late.
PUNCTUAL: Mapping[str, Any] = {
    "lead_time": {"kind": "categorical", "values": [3], "probabilities": [1]}
}


def rules(**changes: Any) -> VendingRules:
    """The small world with changes."""
    return VendingRules.model_validate({**SMALL, **changes})


def paper(**changes: Any) -> VendingRules:
    """The published world with changes."""
    return VendingRules.model_validate({**load("vending/paper").rules, **changes})


def call(tool: str, *items: Mapping[str, Any], **arguments: Any) -> Call:
    """A call of a tool: of a batch with items, of another with arguments."""
    return {"tool": tool, "arguments": {"items": [*items]} if items else arguments}


END = call("end_day")


class Game:
    """One seat (`a`) of a world, played call by call."""

    def __init__(self, of: VendingRules | None = None, seed: int = 0) -> None:
        self.environment = Vending(of or rules(), ("a",), seed)
        (self.decision,) = self.environment.start()
        self.operator = self.environment.operators["a"]
        self.events: list[Event] = [*self.environment.events]

    def do(self, *calls: Call) -> list[dict[str, Any]]:
        """Make calls in one turn and return their results."""
        asked = self.environment.apply({"a": Answer([*calls])})
        self.events += self.environment.events
        if not asked:
            return []
        (self.decision,) = asked
        found: list[dict[str, Any]] = self.decision.observation.private["results"]
        return found

    def one(self, tool: str, *items: Mapping[str, Any], **arguments: Any) -> dict[str, Any]:
        """Make one call and return its result."""
        (result,) = self.do(call(tool, *items, **arguments))
        return result

    def wait(self, days: int = 1) -> None:
        """End so many days."""
        for _ in range(days):
            self.do(END)

    def rows(self, table: str) -> list[Any]:
        """What happened, of one table."""
        return [event for event in self.events if event.table == table]

    @property
    def fen(self) -> int:
        """The operator's cash."""
        return self.operator.accounts.cash


def stocked(of: VendingRules, seed: int = 0, units: int = 3, products: int = 6) -> Game:
    """A game on the morning of day 4, with the first products on all shelves."""
    game = Game(of, seed)
    codes = [product.product for product in game.environment.world.catalogue.products[:products]]
    machines = game.environment.world.machines
    need = units * len(machines)
    game.do(call("order_stock", *({"product": c, "quantity": need} for c in codes)), END)
    game.wait(2)
    loads = [{"machine": m, "product": c, "quantity": units} for m in machines for c in codes]
    for start in range(0, len(loads), 100):
        game.one("load_machine", *loads[start : start + 100])
    return game


def playing(
    of: VendingRules,
    players: Mapping[str, Callable[[Decision], Answer | NoAction]],
    seed: int = 0,
    events: bool = False,
) -> Played:
    """An episode played to its end."""
    return drive(Vending(of, tuple(players), seed), players, events=events)


@dataclass
class Stocker(Policy):
    """Keeps the first products of the catalogue on all shelves and looks at everything weekly.

    Attributes:
        products: Products that it lists everywhere.
        units: Units that it fills up to.
        every: Days between visits.
    """

    products: int = 60
    units: int = 5
    every: int = 7

    def act(self, decision: Decision) -> Answer:
        day, turn, seen = decision.step, decision.turn, decision.observation
        machines = [each["machine"] for each in seen.rules["machines"]]
        codes = [f"P{i + 1:04}" for i in range(self.products)]
        if day == 1:
            need = 2 * self.units * len(machines)
            return Answer([*_batched("order_stock", _orders(codes, need)), END])
        if day < 4 or (day - 4) % self.every:
            return Answer([END])
        if day == 4:
            loads = [(m, c, self.units) for m in machines for c in codes]
            half = len(loads) // 2
            return Answer(
                _batched("load_machine", _loads(loads[half * turn :][:half]))
                + ([END] if turn else [])
            )
        if turn == 0:
            return Answer(
                [
                    call("view_machine", machine=m, page=page, rows=50, window=7)
                    for m in machines
                    for page in range(1, 1 + -(-self.products // 50))
                ]
            )
        gaps = [
            (result["machine"], row["product"], self.units - row["units"])
            for result in seen.private["results"]
            for row in result["rows"]
            if row["units"] < self.units
        ]
        need_of: dict[str, int] = {}
        for _, code, gap in gaps:
            need_of[code] = need_of.get(code, 0) + gap
        orders = [{"product": c, "quantity": n} for c, n in sorted(need_of.items())]
        return Answer(
            _batched("load_machine", _loads(gaps)) + _batched("order_stock", orders) + [END]
        )


def _orders(codes: list[str], quantity: int) -> list[dict[str, Any]]:
    return [{"product": code, "quantity": quantity} for code in codes]


def _loads(loads: list[tuple[str, str, int]]) -> list[dict[str, Any]]:
    return [{"machine": m, "product": c, "quantity": n} for m, c, n in loads]


def _batched(tool: str, items: list[dict[str, Any]]) -> list[Call]:
    return [call(tool, *items[i : i + 100]) for i in range(0, len(items), 100)]
