"""Lemonade stands: a whole tool environment in one screenful.

Every day each stand buys lemons from the grove and sets a price, one lemon a glass, in as many
turns as it likes up to a limit. When all have ended their day the thirsty come by, each buys a
glass at the cheapest stand within its limit that has one left, and the town takes a fee.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar

from pydantic import BaseModel, Field

from market.environment import (
    Answer,
    Answers,
    ContractError,
    Decision,
    Decisions,
    Event,
    Form,
    Json,
    NoAction,
    Observation,
    Result,
    SeatResult,
    Tool,
    check_answers,
)
from market.money import Ledger, half_up
from market.registry import EnvironmentKind
from market.rng import draws

MONEY, LEMONS = "money", "lemons"
OWNERS, GROVE, THIRSTY, TOWN = "#owners", "#grove", "#thirsty", "#town"


class LemonadeRules(BaseModel, extra="forbid"):
    """How long, how rich and how thirsty. Money is in cents."""

    days: int = Field(default=3, ge=1)
    turns: int = Field(default=4, ge=1)
    funds: int = Field(default=500, ge=0)
    lemon_price: int = Field(default=20, ge=1)
    thirsty: int = Field(default=12, ge=1)
    fee_percent: int = Field(default=5, ge=0, le=100)


@dataclass(frozen=True, slots=True)
class Called(Event):
    """A tool call of a stand.

    Attributes:
        tool: The tool.
        error: What was wrong with the call; null when it was done.
    """

    table: ClassVar[str] = "called"

    tool: str
    error: str | None


@dataclass(frozen=True, slots=True)
class Day(Event):
    """A stand's day.

    Attributes:
        price: Cents per glass; null where none was set.
        sold: Glasses sold.
        revenue: Cents taken, before the fee.
        sold_out: Whether it ran out of lemons.
        mean_price: Mean cents per glass sold; null without a sale.
    """

    table: ClassVar[str] = "days"

    price: int | None
    sold: int
    revenue: int
    sold_out: bool
    mean_price: float | None


EVENTS: tuple[type[Event], ...] = (Called, Day)


def _tool(name: str, description: str, **arguments: Json) -> Tool:
    return Tool(
        name,
        description,
        {
            "type": "object",
            "properties": arguments,
            "required": [*arguments],
            "additionalProperties": False,
        },
    )


TOOLS = (
    _tool("buy_lemons", "Buy lemons.", quantity={"type": "integer", "minimum": 1}),
    _tool("set_price", "Set the price of a glass.", cents={"type": "integer", "minimum": 1}),
    _tool("end_day", "Wait for customers."),
)

FORM = Form(
    schema={
        "type": "array",
        "maxItems": 8,
        "items": {
            "oneOf": [
                {
                    "type": "object",
                    "properties": {"tool": {"const": tool.name}, "arguments": tool.parameters},
                    "required": ["tool", "arguments"],
                    "additionalProperties": False,
                }
                for tool in TOOLS
            ]
        },
    },
    example=[
        {"tool": "buy_lemons", "arguments": {"quantity": 5}},
        {"tool": "set_price", "arguments": {"cents": 40}},
        {"tool": "end_day", "arguments": {}},
    ],
    tools=TOOLS,
)


@dataclass(slots=True)
class Stand:
    """What the environment knows of one seat; the ledger knows its funds and lemons."""

    price: int | None = None
    open: bool = True
    sold: int = 0
    results: list[dict[str, Json]] = field(default_factory=list)


class Lemonade:
    """The environment."""

    def __init__(self, rules: LemonadeRules, seats: tuple[str, ...], seed: int) -> None:
        self.seats = seats
        self.rules: Mapping[str, Json] = {"environment": "lemonade", **rules.model_dump()}
        self.forms = {"turn": FORM}
        self._rules, self._seed = rules, seed
        self._ledger = Ledger((OWNERS, GROVE, THIRSTY, TOWN))
        self._stands = {seat: Stand() for seat in seats}
        self._day, self._turn = 1, 0
        self._yesterday: dict[str, Json] | None = None
        self._asked: Decisions = ()
        self.events: list[Event] = []
        for seat in seats:
            self._ledger.move(MONEY, OWNERS, seat, rules.funds, "initial funds")

    def start(self) -> Decisions:
        self._asked = self._ask()
        return self._asked

    def apply(self, answers: Answers) -> Decisions:
        check_answers(self._asked, answers)
        self.events = []
        for decision in self._asked:
            self._take_turn(decision.seat, answers[decision.seat])
        self._turn += 1
        if self._turn == self._rules.turns or not any(s.open for s in self._stands.values()):
            self._settle()
            self._day, self._turn = self._day + 1, 0
        self._asked = self._ask() if self._day <= self._rules.days else ()
        return self._asked

    @property
    def standings(self) -> dict[str, dict[str, int]]:
        return {
            seat: {name: self._ledger.balance(seat, name) for name in (MONEY, LEMONS)}
            for seat in self.seats
        }

    @property
    def result(self) -> Result:
        if self._asked or self._day == 1:
            raise ContractError("the episode is not over")
        return Result(
            {
                seat: SeatResult(
                    score=self._ledger.balance(seat, MONEY) - self._rules.funds,
                    metrics={"left_over": self._ledger.balance(seat, LEMONS), "taste": None},
                    undefined={"taste": "nobody asked"},
                )
                for seat in self.seats
            },
            {"fees": self._ledger.balance(TOWN, MONEY)},
        )

    def _ask(self) -> Decisions:
        public = {"day": self._day, "yesterday": self._yesterday} if self._turn == 0 else {}
        return tuple(
            Decision(self._day, self._turn, seat, "turn", self._observe(seat, public), FORM)
            for seat in self.seats
            if self._stands[seat].open
        )

    def _observe(self, seat: str, public: Mapping[str, Json]) -> Observation:
        stand = self._stands[seat]
        private = {
            "funds": self._ledger.balance(seat, MONEY),
            "lemons": self._ledger.balance(seat, LEMONS),
            "price": stand.price,
            "results": list(stand.results),
        }
        return Observation(self.rules, public, private)

    def _take_turn(self, seat: str, answer: Answer | NoAction) -> None:
        stand = self._stands[seat]
        stand.results = []
        if isinstance(answer, NoAction) or not answer.action:
            stand.open = False
            return
        for call in answer.action:
            error = self._call(seat, call["tool"], call["arguments"])
            stand.results.append({"tool": call["tool"], "error": error})
            self.events.append(Called(self._day, self._turn, seat, call["tool"], error))

    def _call(self, seat: str, tool: str, arguments: Mapping[str, Any]) -> str | None:
        """Do what a call says and return what is wrong with it."""
        stand = self._stands[seat]
        if not stand.open:
            return "the day is over"
        if tool == "set_price":
            stand.price = arguments["cents"]
        elif tool == "buy_lemons":
            cost = arguments["quantity"] * self._rules.lemon_price
            if cost > self._ledger.balance(seat, MONEY):
                return f"they cost {cost}"
            self._ledger.move(MONEY, seat, GROVE, cost, "lemons")
            self._ledger.move(LEMONS, GROVE, seat, arguments["quantity"], "lemons")
        else:
            stand.open = False
        return None

    def _settle(self) -> None:
        order = draws(self._seed, "order", self._day).shuffled(self.seats)
        limits = draws(self._seed, "thirst", self._day)
        for stand in self._stands.values():
            stand.sold = 0
        for _ in range(self._rules.thirsty):
            limit = limits.integer(1, 5 * self._rules.lemon_price)
            offers = [
                (price, position, seat)
                for position, seat in enumerate(order)
                if (price := self._stands[seat].price) is not None
                and price <= limit
                and self._ledger.balance(seat, LEMONS)
            ]
            if offers:
                price, _, seat = min(offers)
                self._stands[seat].sold += 1
                self._ledger.move(MONEY, THIRSTY, seat, price, "sale")
                self._ledger.move(LEMONS, seat, THIRSTY, 1, "sale")
        for seat, stand in self._stands.items():
            stand.open = True
            revenue = stand.sold * (stand.price or 0)
            self._ledger.move(
                MONEY, seat, TOWN, half_up(revenue * self._rules.fee_percent, 100), "fee"
            )
            sold_out = not self._ledger.balance(seat, LEMONS)
            mean = revenue / stand.sold if stand.sold else None
            self.events.append(
                Day(self._day, self._turn, seat, stand.price, stand.sold, revenue, sold_out, mean)
            )
        self._ledger.check()
        self._yesterday = {
            seat: {"price": stand.price, "sold": stand.sold} for seat, stand in self._stands.items()
        }


ENVIRONMENT = EnvironmentKind(
    name="lemonade",
    rules_version=1,
    rules="tests.lemonade:LemonadeRules",
    environment="tests.lemonade:Lemonade",
    events="tests.lemonade:EVENTS",
)
