"""The vending environment: a day is a step, and a turn is a list of tool calls.

    morning    of every operator: deliveries, expiry, fixed fee and rent (`operator.py`)
    turns      each seat whose day is open is asked for calls, and told their results in its next
               turn, or the next morning; a seat that ended its day waits
    evening    once all have ended: sales of all machines, visit fees, books

`operation: alone` gives every seat a copy of the world, with the same luck; `shared` lets the
attractions of all operators' machines at a site compete. One seat alone is the case of one that
shares: nothing in what it sees or gets differs.

Within a day a seat sees its own moves, and of others what they showed in the morning.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from market.environment import (
    Answer,
    Answers,
    ContractError,
    Decision,
    Decisions,
    Event,
    Json,
    NoAction,
    Observation,
    Result,
    SeatResult,
    check_answers,
)
from market.money import half_up
from market.rng import draws
from market.vending import calendar as calendars
from market.vending import events, mutations, record, sales, tools, views, world
from market.vending.briefing import shown_rules
from market.vending.demand import Demand
from market.vending.metrics import ShelfDay, Tally
from market.vending.money import cny
from market.vending.operator import Operator
from market.vending.report import daily_report
from market.vending.rules import VendingRules
from market.vending.views import Display, Scene

#: Seat of what is the same for all.
EVERYONE = ""


class Vending:
    """The environment.

    Args:
        rules: The rules.
        seats: Ids of the seats.
        seed: Seed of the episode.

    Raises:
        ValueError: If too many seats share a world, or worlds are held out and the salt is missing.
    """

    def __init__(self, rules: VendingRules, seats: tuple[str, ...], seed: int) -> None:
        rules.refuse_roster(seats)
        seeds = world.seeds(rules, seed)
        self.seats = seats
        self.world = world.generated(rules, seeds.world)
        self.calendar = calendars.calendar(rules, seeds.luck)
        self.demand = Demand(rules, self.world)
        self._rules, self._luck, self._world_seed = rules, seeds.luck, seeds.world
        self.operators = {seat: Operator(seat, rules, self.world, seeds.luck) for seat in seats}
        self._tallies = {seat: Tally(rules, self.demand) for seat in seats}
        self._names = self._named(seeds.luck)
        self.form = tools.form(rules)
        self.forms = {"turn": self.form}
        self._checks = tools.Checks(self.form.tools)
        self.rules: Mapping[str, Json] = shown_rules(
            rules, self.world, len(set(self._names.values()))
        )
        self._displays: dict[str, Display] = {}
        self._results: dict[str, list[dict[str, Json]]] = {seat: [] for seat in seats}
        self._left = dict.fromkeys(seats, 0)
        self._open: list[str] = []
        self._day, self._turn = 0, 0
        self._asked: Decisions = ()
        self._evenings: list[tuple[Operator, int, ShelfDay]] = []
        self._today: list[Event] = []

    def start(self) -> Decisions:
        """Begin the first day."""
        self._morning()
        self._asked = self._ask()
        return self._asked

    def apply(self, answers: Answers) -> Decisions:
        """Carry out the calls of all seats; settle the day once all have ended it.

        Raises:
            ContractError: If the answers are not those of the last batch.
        """
        check_answers(self._asked, answers)
        self._evenings, self._today = [], []
        for operator in self.operators.values():
            operator.events = []
        for decision in self._asked:
            self._act(decision.seat, answers[decision.seat])
        self._turn += 1
        if not self._open:
            self._evening()
            if self._day == self._rules.days:
                self._asked = ()
                return ()
            self._morning()
        self._asked = self._ask()
        return self._asked

    @property
    def events(self) -> Sequence[Event]:
        """What happened in the last call; the rows of shelves are built here."""
        rows: list[Event] = list(self._today)
        for operator in self.operators.values():
            rows += operator.events
        for operator, turn, day in self._evenings:
            rows += record.rows(operator, turn, day)
        return rows

    @property
    def standings(self) -> dict[str, dict[str, int]]:
        """Money in whole CNY, and units sold."""
        return {
            seat: {
                "net_assets": half_up(operator.accounts.net_assets, 100),
                "cash": half_up(operator.accounts.cash, 100),
                "sold": operator.counts.sold,
            }
            for seat, operator in self.operators.items()
        }

    @property
    def result(self) -> Result:
        """Net assets and metrics of each seat, in CNY.

        Raises:
            ContractError: Before the episode is over.
        """
        if self._asked or self._day < self._rules.days or self._open:
            raise ContractError("the episode is not over")
        found = {}
        for seat, operator in self.operators.items():
            metrics, reasons = self._tallies[seat].metrics(operator)
            found[seat] = SeatResult(cny(operator.accounts.net_assets), metrics, reasons)
        return Result(found, {"units_sold": sum(o.counts.sold for o in self.operators.values())})

    def _named(self, luck: int) -> dict[str, str]:
        """Public names of the operators; one that plays alone is the first."""
        if self._rules.operation == "alone":
            return dict.fromkeys(self.seats, "operator 1")
        order = draws(luck, "operators").shuffled(sorted(self.seats))
        return {seat: f"operator {order.index(seat) + 1}" for seat in self.seats}

    def _morning(self) -> None:
        self._day, self._turn = self._day + 1, 0
        today = self.calendar[self._day]
        self._today.append(
            events.Today(
                self._day,
                0,
                EVERYONE,
                today.date.isoformat(),
                today.holiday,
                today.condition,
                today.temperature,
            )
        )
        for seat, operator in self.operators.items():
            operator.morning(self._day)
            self._left[seat] = self._rules.calls_per_day
        self._open = list(self.seats)
        if self._rules.operation == "shared":
            self._displays = {
                self._names[seat]: Display(
                    operator.machines.prices.copy(), operator.machines.units > 0
                )
                for seat, operator in self.operators.items()
            }

    def _evening(self) -> None:
        operators = list(self.operators.values())
        expected = self.demand.expected_traffic(self.calendar, self._day)
        visits = expected * self.demand.crowd(self._luck, self._day)
        luck = sales.luck(self._luck, self._day, *self.world.appeal.shape)
        shelves = [operator.machines.shelf() for operator in operators]
        attractions = [self.demand.attraction(shelf) for shelf in shelves]
        shared = self._rules.operation == "shared"
        together = self.demand.totals(shelves, attractions) if shared else None
        for operator, shelf, attraction in zip(operators, shelves, attractions, strict=True):
            totals = together
            if totals is None:
                totals = self.demand.totals([shelf], [attraction])
            mean = self.demand.mean(shelf, attraction, totals, visits)
            sold = sales.sold(
                mean,
                self.world.dispersion[shelf.products],
                luck[shelf.sites, shelf.products],
                shelf.units,
            )
            day = ShelfDay(
                day=self._day,
                shelf=shelf,
                attraction=attraction,
                totals=totals,
                traffic=expected,
                sold=sold,
                inventory=operator.accounts.inventory - operator.orders.cost_under_way,
                touched=frozenset(operator.machines.touched),
            )
            operator.turn = self._turn - 1
            closing = operator.evening(shelf, sold)
            self._tallies[operator.seat].add(day, closing)
            self._evenings.append((operator, self._turn - 1, day))

    def _ask(self) -> Decisions:
        public: dict[str, Json] = {}
        if self._turn == 0:
            public = {
                "today": self.calendar.shown(self._day),
                "forecast": self.calendar.forecast(self._day),
            }
        return tuple(
            Decision(
                self._day,
                self._turn,
                seat,
                "turn",
                Observation(self.rules, public, self._private(seat)),
                self.form,
            )
            for seat in self._open
        )

    def _private(self, seat: str) -> dict[str, Json]:
        operator = self.operators[seat]
        shown: dict[str, Json] = {
            "cash": cny(operator.accounts.cash),
            "calls_left": self._left[seat],
            "results": self._results[seat],
        }
        if self._turn == 0:
            shown["report"] = daily_report(operator, self._names[seat])
        if self._day == 1 and self._turn == 0 and seat in self._rules.informed:
            hidden = self._rules.model_dump(mode="json")
            shown["hidden"] = {"rules": hidden, "world": self._world_seed}
        return shown

    def _act(self, seat: str, answer: Answer | NoAction) -> None:
        self._results[seat] = []
        if isinstance(answer, NoAction) or not answer.action:
            self._open.remove(seat)
            return
        operator = self.operators[seat]
        operator.turn = self._turn
        for call in answer.action:
            result = self._call(operator, call["tool"], call["arguments"])
            self._results[seat].append(result)
            self._note(operator, call["tool"], result)
        if seat in self._open and not self._left[seat]:
            self._open.remove(seat)

    def _call(self, operator: Operator, tool: str, arguments: Mapping[str, Any]) -> dict[str, Json]:
        """Carry out a call and say what came of it; `error` where nothing did."""
        seat = operator.seat
        if seat not in self._open:
            return {"tool": tool, "error": "the day is over"}
        if not self._left[seat]:
            return {"tool": tool, "error": "the calls of the day are used up"}
        self._left[seat] -= 1
        problem = self._checks.error(tool, arguments)
        if problem is not None:
            return {"tool": tool, "error": problem}
        if tool in mutations.MUTATIONS:
            return {"tool": tool, **mutations.run(operator, tool, arguments["items"])}
        if tool in views.VIEWS:
            return self._view(operator, tool, arguments)
        if tool == "end_day":
            self._open.remove(seat)
            return {"tool": tool}
        if tool == "read_notes":
            return {"tool": tool, "text": operator.notes}
        if len(arguments["text"]) > self._rules.notes:
            return {"tool": tool, "error": f"notes have at most {self._rules.notes} characters"}
        operator.notes = arguments["text"]
        return {"tool": tool}

    def _view(self, operator: Operator, tool: str, arguments: Mapping[str, Any]) -> dict[str, Json]:
        own = self._names[operator.seat]
        rivals = {name: shown for name, shown in self._displays.items() if name != own}
        try:
            seen = views.VIEWS[tool](Scene(operator, self.calendar, rivals), arguments)
        except mutations.RefusedError as error:
            return {"tool": tool, "error": str(error)}
        return {"tool": tool, **seen}

    def _note(self, operator: Operator, tool: str, result: Mapping[str, Json]) -> None:
        """Count a call and write it down."""
        error = result.get("error")
        batch = error is None and tool in mutations.MUTATIONS
        done = len(result["done"]) if batch else None
        refused = len(result["refused"]) if batch else None
        operator.counts.calls += 1
        operator.counts.refused += (refused or 0) + (error is not None)
        operator.events.append(
            events.Call(self._day, self._turn, operator.seat, tool, error, done, refused)
        )
