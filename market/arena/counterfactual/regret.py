"""Regret: what another bid, price or slogan would have brought a seat in a recorded step.

One step, open loop: rivals' recorded answers are kept, and later steps are not played on. A seat
that could have reacted, and rivals that could not have answered back, would find more: what is
found here is a lower bound on the regret of the closed loop, as far as rivals do not retaliate.

Regret is *ex ante*. In hindsight, with the buyers known, almost any answer could have been
bettered, and the best of many alternatives looks better than it is. Here an alternative is chosen
on one half of the redraws and valued on the other, then the halves swap places: the estimate is the
mean of both, has no such bias, and can be negative where the recorded answer was as good as any.
Beside it stand the two figures that flatter hindsight: `in_sample`, valued on the half on which it
was chosen, and `hindsight`, chosen and valued on the recorded luck. Neither can be negative.

    v(S) = what the best answer in S brings, S any subset of {bid, price, slogan}, less v({})

Parts of S are answered together: bid and price item by item (`bids`, `prices`), the slogan in turn
with them, from the best that any part of S found. Shapley's split of v({bid, price, slogan})
attributes it. What is valued is the gain in net worth, as `seat` defines it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from market.arena.counterfactual import slogans
from market.arena.counterfactual.bids import Bidding, Quote
from market.arena.counterfactual.board import Board, Row
from market.arena.counterfactual.prices import Candidates, best_price, candidates
from market.arena.counterfactual.redraws import REDRAWS
from market.arena.counterfactual.scene import Scene
from market.arena.counterfactual.seat import Lot, Seat, columns
from market.arena.counterfactual.shapley import shapley, subsets

#: What a seat decides, in the order of a subset's name such as `bid+price`.
PARTS = ("bid", "price", "slogan")

#: Rounds in which slogan, and bid and price, answer each other.
_ROUNDS = 2
#: Normal quantile of a 95% interval.
_TWO_SIDED = 1.959964

_SUBSETS = tuple(subset for subset in subsets(PARTS) if subset)


def named(subset: Iterable[str]) -> str:
    """The name of a subset: its parts joined by a plus, in the order of `PARTS`."""
    return "+".join(part for part in PARTS if part in set(subset))


@dataclass(frozen=True, slots=True)
class Gain:
    """What the best answer in a subset would have brought, in money.

    Attributes:
        value: Cross-fitted: chosen on one half, valued on the other, mean of both ways.
        error: Its standard error over redraws, the choices being given.
        in_sample: Valued on the half on which it was chosen; never negative.
        hindsight: Chosen and valued on the recorded luck; never negative.
    """

    value: float
    error: float
    in_sample: float
    hindsight: float

    @property
    def interval(self) -> tuple[float, float]:
        """The 95% interval over redraws: of this game, not of games like it."""
        return self.value - _TWO_SIDED * self.error, self.value + _TWO_SIDED * self.error

    def __add__(self, other: Gain) -> Gain:
        """The gain of two steps, whose luck is independent."""
        return Gain(
            self.value + other.value,
            float(np.hypot(self.error, other.error)),
            self.in_sample + other.in_sample,
            self.hindsight + other.hindsight,
        )


@dataclass(frozen=True, slots=True)
class Plan:
    """What a seat might have done in a step.

    Attributes:
        prices: Price per item, 0 for no offer.
        units: Units to win per item; None for the recorded bid.
        said: Similarities of the slogan with each persona, in 1e-6.
    """

    prices: tuple[int, ...]
    units: tuple[int, ...] | None
    said: Row


@dataclass(frozen=True, slots=True)
class StepRegret:
    """One seat in one step.

    Attributes:
        step: The step.
        gains: By the name of the subset (`bid`, `price`, `slogan`, `bid+price`, ...).
        parts: Shapley's part of bid, price and slogan in the gain of all three: exact fractions
            that add up to it.
        chosen: The two alternatives chosen, one on each half, by the name of the subset.
    """

    step: int
    gains: Mapping[str, Gain]
    parts: Mapping[str, Fraction]
    chosen: Mapping[str, tuple[Plan, Plan]]


@dataclass(frozen=True, slots=True)
class SeatRegret:
    """One seat in an episode.

    Attributes:
        steps: Each selling step.
        gains: Their sums, by the name of the subset.
        parts: Sums of Shapley's parts.
    """

    steps: tuple[StepRegret, ...]
    gains: Mapping[str, Gain]
    parts: Mapping[str, Fraction]


@dataclass(frozen=True, slots=True)
class Regret:
    """An episode.

    Attributes:
        seats: Per seat that was asked for prices.
        slogans: What was said in the run, by its similarities.
        redraws: Redraws per step, half of them for choosing.
        undefined: Why there is nothing to tell.
    """

    seats: Mapping[str, SeatRegret]
    slogans: Mapping[Row, str]
    redraws: int
    undefined: str | None = None


def regret(
    scenes: Iterable[Scene], redraws: int = REDRAWS, seats: Sequence[str] | None = None
) -> Regret:
    """Find what each seat could have gained by other answers.

    Takes some 20 bytes x redraws x buyers x retailers of memory at a time.

    Args:
        scenes: The selling steps of one episode (`scene.scenes`).
        redraws: Redraws per step; an even number, at least 4.
        seats: Whose; everybody's where None.

    Raises:
        ValueError: If there are too few redraws, or they cannot be halved.
    """
    if redraws < 4 or redraws % 2:
        raise ValueError(f"{redraws} redraws cannot be halved; take an even number of at least 4")
    played = list(scenes)
    texts = slogans.seen(played)
    if not played:
        return Regret({}, texts, redraws, "no step in which goods were sold to buyers")
    rules = played[0].rules
    if rules.willingness_to_pay is None and rules.price_cap is None:
        why = "neither buyers nor a cap limit the price: no price is the best one"
        return Regret({}, texts, redraws, why)
    steps: dict[str, list[StepRegret]] = {}
    for scene in played:
        board = Board(scene, redraws)
        for seat in columns(board, seats):
            steps.setdefault(seat.name, []).append(_Search(seat, list(texts)).step())
    return Regret({seat: _summed(of) for seat, of in steps.items()}, texts, redraws)


def _summed(steps: Sequence[StepRegret]) -> SeatRegret:
    gains = dict(steps[0].gains)
    for step in steps[1:]:
        gains = {name: gain + step.gains[name] for name, gain in gains.items()}
    parts = {part: sum((step.parts[part] for step in steps), Fraction(0)) for part in PARTS}
    return SeatRegret(tuple(steps), gains, parts)


@dataclass(slots=True, eq=False)
class _Search:
    """The alternatives of one seat in one step."""

    seat: Seat
    options: list[Row]
    recorded: Plan = field(init=False)
    bidding: Bidding = field(init=False)
    _tried: list[Candidates] = field(init=False)
    _lots: list[Lot] = field(init=False)
    _values: dict[tuple[int, int, int | None, Row], NDArray[np.float64]] = field(init=False)

    #: By what they depend on. Stocks are kept with their lots, so that no id is used twice.
    _quotes: dict[tuple[object, ...], Quote] = field(default_factory=dict)

    def __post_init__(self) -> None:
        seat, board = self.seat, self.seat.board
        items = range(len(board.rules.items))
        front = board.scene.fronts[seat.name]
        posted = [front.prices.get(item.item, 0) for item in board.rules.items]
        # A price refused for want of stock is what the seat would ask had it bid otherwise.
        stated = [board.prices[seat.column][item] for item in items]
        prices = [now or then for now, then in zip(posted, stated, strict=True)]
        self.recorded = Plan(tuple(prices), None, seat.said)
        self.bidding = Bidding(seat)
        self._tried = [candidates(seat, item) for item in items]
        self._lots = [seat.recorded_lot(item) for item in items]
        self._values = {}

    def step(self) -> StepRegret:
        """Find the best answers and value them."""
        middle = (self.seat.board.rows + 1) // 2
        first, second = slice(1, middle), slice(middle, self.seat.board.rows)
        now, once, twice = (self._plans(rows) for rows in (slice(0, 1), first, second))
        recorded = self.values(self.recorded)
        gains, chosen = {frozenset[str](): Gain(0.0, 0.0, 0.0, 0.0)}, {}
        for subset in _SUBSETS:
            one, two = once[subset], twice[subset]
            from_one, from_two = self.values(one) - recorded, self.values(two) - recorded
            best = self.values(now[subset]) - recorded
            gains[subset] = Gain(
                value=float(from_one[second].mean() + from_two[first].mean()) / 2,
                error=float(np.hypot(_error(from_one[second]), _error(from_two[first]))) / 2,
                in_sample=float(from_one[first].mean() + from_two[second].mean()) / 2,
                hindsight=float(best[0]),
            )
            chosen[named(subset)] = (one, two)
        parts = shapley(PARTS, {subset: gain.value for subset, gain in gains.items()})
        del gains[frozenset()]
        return StepRegret(
            step=self.seat.board.scene.step,
            gains={named(subset): gain for subset, gain in gains.items()},
            parts=parts,
            chosen=chosen,
        )

    def values(self, plan: Plan) -> NDArray[np.float64]:
        """What a plan brings, per row."""
        total = np.zeros(self.seat.board.rows)
        for item, price in enumerate(plan.prices):
            total += self._value(item, price, plan)
        return total

    def _value(self, item: int, price: int, plan: Plan) -> NDArray[np.float64]:
        units = None if plan.units is None else plan.units[item]
        known = (item, price, units, plan.said)
        if known not in self._values:
            lot = self._lot(item, plan)
            self._values[known] = self.seat.payoff(item, price, lot, plan.said)
        return self._values[known]

    def _lot(self, item: int, plan: Plan) -> Lot:
        if plan.units is None:
            return self._lots[item]
        return self.bidding.lot(item, plan.units[item])

    def _plans(self, rows: slice) -> dict[frozenset[str], Plan]:
        """The best answer found in every subset, on some rows."""
        found = {frozenset[str](): self.recorded}
        for subset in _SUBSETS:
            starts = [plan for smaller, plan in found.items() if smaller < subset]
            plan = self._best(starts, rows)
            for _ in range(_ROUNDS if len(subset) > 1 and "slogan" in subset else 1):
                before = plan
                for answer in self._answers(subset, plan, rows):
                    plan = self._best([plan, answer], rows)
                if plan == before:
                    break
            found[subset] = plan
        return found

    def _answers(self, subset: frozenset[str], plan: Plan, rows: slice) -> Iterable[Plan]:
        """Best answers to a plan, one part after the other."""
        if "bid" in subset:
            plan = self._bid(plan, rows, "price" in subset)
            yield plan
        if "price" in subset:
            plan = self._price(plan, rows)
            yield plan
        if "slogan" in subset:
            yield self._slogan(plan, rows)

    def _best(self, plans: Sequence[Plan], rows: slice) -> Plan:
        """The best of some plans; the first of equals, so that nothing is changed in vain."""
        return max(plans, key=lambda plan: float(self.values(plan)[rows].mean()))

    def _price(self, plan: Plan, rows: slice) -> Plan:
        prices = [
            self._quote(item, self._lot(item, plan), plan.said, rows)[0]
            for item in range(len(plan.prices))
        ]
        return Plan(tuple(prices), plan.units, plan.said)

    def _bid(self, plan: Plan, rows: slice, priced: bool) -> Plan:
        def quote(item: int, lot: Lot) -> Quote:
            if priced:
                return self._quote(item, lot, plan.said, rows)
            return self._sales(item, plan.prices[item], lot, plan.said, rows)

        units, prices = self.bidding.best(quote)
        return Plan(tuple(prices), tuple(units), plan.said)

    def _quote(self, item: int, lot: Lot, said: Row, rows: slice) -> Quote:
        """The best price of an item."""
        known = (item, lot.held, id(lot.stocks), said, rows.start)
        if known not in self._quotes:
            self._quotes[known] = best_price(self.seat, item, lot, said, rows, self._tried[item])
        return self._quotes[known]

    def _sales(self, item: int, price: int, lot: Lot, said: Row, rows: slice) -> Quote:
        """What sells at a given price."""
        known = (item, price, lot.held, id(lot.stocks), said, rows.start)
        if known not in self._quotes:
            if price and lot.held:
                sold = self.seat.sold(item, price, lot.held, lot.stocks, said, rows)
            else:
                sold = np.zeros(len(lot.stocks[rows]), np.int64)
            self._quotes[known] = price, sold
        return self._quotes[known]

    def _slogan(self, plan: Plan, rows: slice) -> Plan:
        def worth(said: Row) -> NDArray[np.float64]:
            return self.values(Plan(plan.prices, plan.units, said))[rows]

        return Plan(plan.prices, plan.units, slogans.best_slogan(self.options, worth, plan.said))


def _error(values: NDArray[np.float64]) -> float:
    return float(values.std(ddof=1) / len(values) ** 0.5)
