"""The population of buyers of a step.

Buyers are numbered in the order in which they arrive, and everything else about them is drawn
without looking at the number: so arrival is in random order. Each property comes from a stream of
its own, read in buyer order, one uniform through an inverse CDF (or one word) per buyer. Hence
buyer k stays who they are when another property is switched off, when the market has other sellers,
and, unless a property is stratified, when more buyers follow.

Personas may also be given, of buyers who come again (`regulars`); all else is drawn for them too.

Shares are turned into CDFs by plain sums, and draws into buyers by comparisons and single IEEE
operations: the same buyers on every machine.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import accumulate
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from market.rng import generator

Draw = Literal["iid", "stratified"]

#: Multiples of the base price between which a willingness to pay is uniform, or a mixture of such:
#: the weight of each part, and its ends.
Willingness = tuple[float, float] | Sequence[tuple[float, float, float]]

#: The limit of a buyer who pays any price.
NO_LIMIT = -1

#: Most buyers of a step whose draws are kept.
BUYERS_KEPT = 512

_FIT_ROUNDS = 10_000
_FIT_ERROR = 1e-12
_LAST_BELOW_ONE = 1 - 2**-53


@dataclass(frozen=True, slots=True, eq=False)
class Buyers:
    """Buyers in order of arrival, one element each in arrays of equal length.

    Attributes:
        persona: Position of the persona.
        item: Position of the only item wanted.
        units: Units wanted.
        limit: Highest acceptable price per unit, in whole money; `NO_LIMIT` for none.
        luck: Random word that orders equally cheap sellers for this buyer.
    """

    persona: NDArray[np.int16]
    item: NDArray[np.int16]
    units: NDArray[np.int64]
    limit: NDArray[np.int64]
    luck: NDArray[np.uint64]

    def __len__(self) -> int:
        return len(self.item)

    def part(self, span: slice) -> Buyers:
        """A run of buyers, sharing memory with the whole."""
        return Buyers(
            self.persona[span], self.item[span], self.units[span], self.limit[span], self.luck[span]
        )


def draw_buyers(
    seed: int,
    step: int,
    *,
    demand: int,
    buyers: int,
    shares: Sequence[float],
    supply: Sequence[int],
    bases: Sequence[int],
    willingness: Sequence[Willingness | None] | None = None,
    affinity: Sequence[Sequence[float]] | None = None,
    persona_draw: Draw = "iid",
    item_draw: Draw = "iid",
    appetites: Sequence[float] | None = None,
    personas: NDArray[np.int16] | None = None,
    homes: Sequence[float] | None = None,
) -> Buyers:
    """Draw the buyers of a step.

    Args:
        seed: Seed of the episode.
        step: Step of the episode.
        demand: Units wanted by all buyers together, at least one each.
        buyers: Number of buyers.
        shares: Share of each persona.
        supply: Units of each item, to which its demand is proportional.
        bases: Base price of each item.
        willingness: Per persona the lowest and highest willingness to pay, in multiples of the
            base price, between which it is uniform, or a mixture of such; None where any price is
            paid.
        affinity: Per persona and item a factor on its chance, fitted so that the shares of
            personas and of items both hold (`fitted`); None for no difference between personas.
        persona_draw: `iid`, or `stratified` to hold numbers of buyers to their shares.
        item_draw: The same for items; with an affinity, within each persona.
        appetites: Per persona the units that a buyer wants, relatively; None for all the same.
            Units are then near their proportion, and a buyer may want none.
        personas: Those of the buyers, in order of arrival, where they are not to be drawn.
        homes: Chance of each of several linked markets that a buyer lives there. Bases are then
            those of every item in every market, and so are the items wanted; None for one market.

    Raises:
        ValueError: If there are fewer units than buyers, or the affinity cannot be fitted.
    """
    if not 0 < buyers <= demand:
        raise ValueError(f"{demand} units of demand do not go round {buyers} buyers")

    def uniforms(purpose: str) -> NDArray[np.float64]:
        return _drawn(seed, purpose, step, buyers)

    def choose(
        uniform: NDArray[np.float64], weights: Sequence[float], draw: Draw, *offset: int | str
    ) -> NDArray[np.intp]:
        if draw == "stratified":
            uniform = _spread(uniform, generator(seed, "strata", step, *offset).random())
        return np.searchsorted(_cumulative(tuple(weights)), uniform, side="right")

    persona = personas
    if persona is None:
        persona = choose(uniforms("persona"), shares, persona_draw, "persona").astype(np.int16)
    wanted = shares
    if appetites is not None:
        wanted = [share * each for share, each in zip(shares, appetites, strict=True)]
    item_uniform = uniforms("item")
    item = np.empty(buyers, np.int16)
    if affinity is None:
        item[:] = choose(item_uniform, supply, item_draw, "item")
    else:
        for index, row in enumerate(fitted(wanted, supply, affinity)):
            own = persona == index
            if own.any():
                item[own] = choose(item_uniform[own], row, item_draw, "item", index)
    if homes is not None:
        item = (item * len(homes) + choose(uniforms("home"), homes, "iid")).astype(np.int16)
    return Buyers(
        persona=persona,
        item=item,
        units=_units(demand, uniforms("units"))
        if appetites is None
        else _apportioned(demand, uniforms("units")[0], np.array(appetites)[persona]),
        limit=_limits(seed, step, persona, item, bases, willingness),
        luck=_drawn(seed, "ties", step, buyers).copy(),
    )


def _drawn(seed: int, purpose: str, step: int, buyers: int) -> NDArray[Any]:
    """What is drawn for each buyer of a step: a word for `ties`, else a uniform. Read-only."""
    draw = _draw if buyers > BUYERS_KEPT else _kept
    return draw(seed, purpose, step, buyers)


def _draw(seed: int, purpose: str, step: int, buyers: int) -> NDArray[Any]:
    stream = generator(seed, purpose, step)
    drawn: NDArray[Any] = (
        stream.integers(2**64, size=buyers, dtype=np.uint64)
        if purpose == "ties"
        else stream.random(buyers)
    )
    drawn.flags.writeable = False
    return drawn


#: Few buyers are kept: the other cells of a study meet the same ones on a seed.
_kept = lru_cache(maxsize=128)(_draw)


def draw_personas(
    seed: int, step: int, *, buyers: int, shares: Sequence[float]
) -> NDArray[np.int16]:
    """The personas of a step's buyers in order of arrival, each drawn alone by share."""
    uniform = _drawn(seed, "persona", step, buyers)
    return np.searchsorted(_cumulative(tuple(shares)), uniform, side="right").astype(np.int16)


def fitted(
    shares: Sequence[float], supply: Sequence[float], affinity: Sequence[Sequence[float]]
) -> list[list[float]]:
    """Fit the joint chance of persona and item by iterative proportional fitting.

    Starting from share x supply x affinity, rows and columns are scaled in turn until both the
    persona shares and the item shares hold (Deming and Stephan 1940); what the affinity says of
    odds ratios is kept.

    Returns:
        Per persona and item the chance of the pair; all sum to 1.

    Raises:
        ValueError: If zeros in the affinity leave no such table.
    """
    table = _fitted(tuple(shares), tuple(supply), tuple(map(tuple, affinity)))
    return [list(line) for line in table]


@lru_cache(maxsize=64)
def _fitted(
    shares: tuple[float, ...], supply: tuple[float, ...], affinity: tuple[tuple[float, ...], ...]
) -> list[list[float]]:
    """The table, found once per market and not once per step."""
    rows = [share / sum(shares) for share in shares]
    columns = [units / sum(supply) for units in supply]
    table = [
        [row * column * factor for column, factor in zip(columns, factors, strict=True)]
        for row, factors in zip(rows, affinity, strict=True)
    ]
    for _ in range(_FIT_ROUNDS):
        for column, target in enumerate(columns):
            factor = _ratio(target, sum(line[column] for line in table))
            for line in table:
                line[column] *= factor
        error = sum(abs(sum(line) - target) for line, target in zip(table, rows, strict=True))
        if error <= _FIT_ERROR:
            return table
        for line, target in zip(table, rows, strict=True):
            factor = _ratio(target, sum(line))
            line[:] = [chance * factor for chance in line]
    raise ValueError("no demand fits the affinity: its zeros contradict the shares or the supply")


def _ratio(target: float, now: float) -> float:
    if now > 0:
        return target / now
    if target > 0:
        raise ValueError("an affinity of zero leaves an item without buyers or a persona without")
    return 0.0


@lru_cache(maxsize=256)
def _cumulative(weights: tuple[float, ...]) -> NDArray[np.float64]:
    """The CDF of weights. It ends at exactly 1, so that no uniform falls past the last weight."""
    sums = list(accumulate(weights))
    return np.array([value / sums[-1] for value in sums])


def _spread(uniform: NDArray[np.float64], offset: float) -> NDArray[np.float64]:
    """Systematic sampling: spaced evenly, in the order of the uniforms, from a random offset.

    Each share then receives its expected number of buyers, rounded up or down.
    """
    rank = np.empty(len(uniform))
    rank[np.argsort(uniform, kind="stable")] = np.arange(len(uniform))
    return np.minimum((rank + offset) / len(uniform), _LAST_BELOW_ONE)


def _units(demand: int, uniform: NDArray[np.float64]) -> NDArray[np.int64]:
    """Equal units for all, and one more for the buyers of the smallest uniforms."""
    each, more = divmod(demand, len(uniform))
    units = np.full(len(uniform), each, np.int64)
    if more:
        last = np.partition(uniform, more - 1)[more - 1]
        units[uniform < last] += 1
        on_the_line = np.flatnonzero(uniform == last)
        units[on_the_line[: demand - units.sum()]] += 1
    return units


def _apportioned(demand: int, offset: float, appetite: NDArray[np.float64]) -> NDArray[np.int64]:
    """Units near their proportion to appetites: systematic sampling from one random offset.

    Everybody gets the expected units, rounded up or down, and all of them add up to the demand.
    """
    sums = np.cumsum(appetite)
    ends = np.floor(demand * (sums / sums[-1]) + offset).astype(np.int64)
    units: NDArray[np.int64] = np.diff(ends, prepend=0)
    return units


def _limits(
    seed: int,
    step: int,
    persona: NDArray[np.int16],
    item: NDArray[np.int16],
    bases: Sequence[int],
    willingness: Sequence[Willingness | None] | None,
) -> NDArray[np.int64]:
    if willingness is None:
        return np.full(len(item), NO_LIMIT, np.int64)
    bounded: NDArray[Any] = np.array([bounds is not None for bounds in willingness])
    uniform = _drawn(seed, "willingness", step, len(item))
    if any(bounds is not None and isinstance(bounds[0], tuple) for bounds in willingness):
        multiple = _from_mixtures(persona, uniform, willingness)
    else:
        low, high = np.array([bounds or (0.0, 0.0) for bounds in willingness]).T
        multiple = low[persona] + (high - low)[persona] * uniform
    # The allowance keeps 1.15 x 100, which is 114.999... in binary, at 115.
    price = multiple * np.array(bases, np.float64)[item]
    limit: NDArray[np.int64] = np.floor(price + 1e-9).astype(np.int64)
    limit[~bounded[persona]] = NO_LIMIT
    return limit


def _from_mixtures(
    persona: NDArray[np.int16],
    uniform: NDArray[np.float64],
    willingness: Sequence[Any],
) -> NDArray[np.float64]:
    """Multiples of base: where a uniform falls among the weights, and where within its part."""
    multiple = np.zeros(len(persona))
    for index, given in enumerate(willingness):
        own = persona == index
        if given is None or not own.any():
            continue
        parts = given if isinstance(given[0], tuple) else ((1.0, *given),)
        weight, low, high = np.array(parts).T
        ends = _cumulative(tuple(weight.tolist()))
        starts = np.concatenate([[0.0], ends[:-1]])
        part = np.searchsorted(ends, uniform[own], side="right")
        within = (uniform[own] - starts[part]) / (ends - starts)[part]
        multiple[own] = low[part] + (high - low)[part] * within
    return multiple
