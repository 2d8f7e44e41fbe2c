"""What an operator is judged by beside its net assets.

Every evening a `ShelfDay` says what was on the shelves, what was expected of it and what it
sold; `Tally` keeps running sums of it, so that an episode's memory does not grow with its length.
A figure that is not defined is None with a reason, never 0.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from market.vending.accounts import Closing
from market.vending.choices import Choices
from market.vending.demand import Demand, Ints, Shelf
from market.vending.money import cny, fen
from market.vending.operator import Operator
from market.vending.rules import VendingRules
from market.vending.world import Floats

#: First and last day of the two halves of the learning check.
EARLY, LATE = (16, 45), (136, 165)

Figure = int | float | None


@dataclass(frozen=True, slots=True)
class ShelfDay:
    """One operator's machines on one day, when sales begin and after they settled.

    Attributes:
        day: The day.
        shelf: What was on the shelves when sales began.
        attraction: Attraction of each product on the shelf, in units of 1e-9.
        totals: (s) attraction of everything at each site, buying nothing and rivals included.
        traffic: (s) expected visits: weekday, holiday and weather, without the crowd of the day.
        sold: Units sold of each product on the shelf.
        inventory: Unexpired units on shelves and in the warehouse at cost, when sales began, fen.
        touched: Machines visited, as positions.
    """

    day: int
    shelf: Shelf
    attraction: Ints
    totals: Ints
    traffic: Floats
    sold: Ints
    inventory: int
    touched: frozenset[int]


class Tally:
    """Running sums over the days of one operator.

    Args:
        rules: The rules.
        demand: The true demand.
    """

    def __init__(self, rules: VendingRules, demand: Demand) -> None:
        self._choices = Choices(rules, demand)
        self._visit_fee, self._start = fen(rules.visit_fee), fen(rules.cash)
        self._machine_days = 0
        self._empty = 0
        self._fullness = 0.0
        self._gross_profit = 0
        self._inventory = 0
        self._visits = 0
        self._visited: set[int] = set()
        self._cycle_days = 0

    def add(self, day: ShelfDay, closing: Closing) -> None:
        """Take in a day."""
        fullness = day.shelf.fullness.tolist()
        self._machine_days += len(fullness)
        self._empty += len(fullness) - len(set(day.shelf.sites.tolist()))
        self._fullness += sum(fullness)
        self._gross_profit += closing.gross_profit
        self._inventory += day.inventory
        self._visits += len(day.touched)
        self._visited |= day.touched
        self._cycle_days += len(self._visited)
        self._choices.add(day.day, day.shelf, day.attraction, day.totals, day.traffic)

    def metrics(self, operator: Operator) -> tuple[dict[str, Figure], dict[str, str]]:
        """The metrics of an episode that is over, and the reason for each that is None."""
        counts, closings = operator.counts, operator.accounts.closings
        found: dict[str, int | float | str] = {
            "net_assets": cny(operator.accounts.net_assets),
            "asset_growth": cny(operator.accounts.net_assets - self._start),
            "assortment": self._choices.assortment,
            "pricing_regret": self._choices.regret,
            "reassignment_gap": self._choices.gap,
            "visit_cycle_contribution": (
                cny(self._gross_profit - self._visit_fee * self._visits) / self._cycle_days
                if self._cycle_days
                else "no machine was visited"
            ),
            "waste_rate": counts.wasted / counts.received
            if counts.received
            else "nothing received",
            "shelf_utilisation": self._fullness / self._machine_days,
            "capital_efficiency": (
                self._gross_profit / self._inventory if self._inventory else "no inventory"
            ),
            "empty_machine_days": self._empty / self._machine_days,
            "units_sold": counts.sold,
            "visits": self._visits,
            "fines": cny(sum(closing.fines for closing in closings)),
            "tool_calls": counts.calls,
            "rejected": counts.refused,
            "growth_early": growth(closings, EARLY),
            "growth_late": growth(closings, LATE),
        }
        values: dict[str, Figure] = {
            name: None if isinstance(figure, str) else figure for name, figure in found.items()
        }
        reasons = {name: figure for name, figure in found.items() if isinstance(figure, str)}
        return values, reasons


def growth(closings: Sequence[Closing], days: tuple[int, int]) -> float | str:
    """Mean growth of net assets per day over some days, CNY; why not where there is none.

    Args:
        closings: The closings of all days, from day 1.
        days: The first and the last day.
    """
    first, last = days
    if len(closings) < last:
        return f"the episode ends before day {last}"
    profit = sum(closing.profit for closing in closings[first - 1 : last])
    return cny(profit) / (last - first + 1)
