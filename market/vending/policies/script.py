"""The frame of the vending scripts: look in the morning, decide, act, and end the day.

Views come in pages: the first page of each is asked for, and the others of all in the next turn.
Acts are sent in as few turns as an answer's size allows. What a day's calls do not suffice for is
dropped, so a script puts first what matters most.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from market.environment import Answer, Decision
from market.policies.policy import Policy

#: A call of a tool, as answers carry it.
Call = dict[str, Any]
Item = dict[str, Any]
Row = dict[str, Any]

#: Most rows of a page.
ROWS = 50
#: Most items in one answer: each takes less than 80 of the 65,536 characters that it may have.
ITEMS = 800
#: Days of a week, the time between rounds of weekly scripts.
WEEK = 7


@dataclass
class Script(Policy):
    """A scripted operator."""

    def __post_init__(self) -> None:
        """Prepare memory."""
        self._sent: list[Call] = []
        self._unseen: list[Call] = []
        self._seen: list[tuple[Call, Row]] = []
        self._todo: list[Call] | None = None

    def act(self, decision: Decision) -> Answer:
        """Views until all are seen, then what was decided, then the end of the day."""
        if decision.turn == 0:
            self._seen, self._todo = [], None
            self._unseen = self.look(decision)
        else:
            self._read(decision.observation.private["results"])
        if self._unseen:
            return self._send(self._unseen)
        if self._todo is None:
            self._todo = self.decide(decision)
        calls = []
        room = ITEMS
        while self._todo and (room := room - len(self._todo[0]["arguments"].get("items", ()))) >= 0:
            calls.append(self._todo.pop(0))
        return self._send(calls if self._todo else [*calls, call("end_day")])

    @abstractmethod
    def look(self, decision: Decision) -> list[Call]:
        """What to look at in the morning: views, the first page of each."""

    @abstractmethod
    def decide(self, decision: Decision) -> list[Call]:
        """What to do, once all is seen."""

    def rows(self, tool: str) -> Iterator[tuple[Call, Row]]:
        """The rows that a view showed this morning, each with the arguments of its call."""
        for made, result in self._seen:
            if made["tool"] == tool:
                for row in result.get("rows", ()):
                    yield made["arguments"], row

    def _send(self, calls: list[Call]) -> Answer:
        self._sent, self._unseen = calls, []
        return Answer(list(calls))

    def _read(self, results: Sequence[Row]) -> None:
        for made, result in zip(self._sent, results, strict=True):
            self._seen.append((made, result))
            if result.get("page") == 1:
                self._unseen += [
                    call(made["tool"], **{**made["arguments"], "page": page})
                    for page in range(2, result["pages"] + 1)
                ]


def call(tool: str, **arguments: Any) -> Call:
    """A call of a tool."""
    return {"tool": tool, "arguments": arguments}


def view(tool: str, **arguments: Any) -> Call:
    """The first page of a view, as long as pages are."""
    return call(tool, rows=ROWS, page=1, **arguments)


def affordable(items: Iterable[Item], costs: Mapping[str, float], cash: float) -> list[Item]:
    """Orders as far as the cash goes, the first ones first.

    Args:
        items: The items of `order_stock`.
        costs: Unit costs of their products, CNY.
        cash: The cash, CNY.
    """
    left, found = round(100 * cash), []
    for item in items:
        cost = round(100 * costs[item["product"]])
        units = min(item["quantity"], left // cost)
        if units > 0:
            left -= units * cost
            found.append({"product": item["product"], "quantity": units})
    return found


def batches(tool: str, items: Iterable[Item], most: int) -> list[Call]:
    """Calls that carry out items, so many each."""
    every = list(items)
    return [call(tool, items=every[i : i + most]) for i in range(0, len(every), most)]
