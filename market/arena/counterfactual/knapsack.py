"""Choice of one option per item under a budget: the multiple-choice knapsack, exactly.

Depth first over items would be exponential, a table over money as long as the funds. Here partial
choices are kept as (spent, value) pairs, and dropped where another spends no more for no less, or
where even a relaxed completion stays below a choice already known. The relaxation is Lagrange's:
with a price lambda on money, every item by itself takes its best option, which is an upper bound
for any lambda >= 0. The lambda used is the one at which the relaxed choice crosses the budget,
found by bisection; its affordable side is the first choice known. So few pairs survive that the
search ends in milliseconds, and it is exact for any lambda, only slower with a bad one.

Money is whole. Values are floats: two choices whose values differ by less than their rounding may
be taken for one another.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

#: (costs in whole money, values) of an item's options. One of them must cost nothing.
Options = tuple[NDArray[np.int64], NDArray[np.float64]]

_BISECTIONS = 40


def choose(items: Sequence[Options], budget: int, within: float = 0.0) -> list[int]:
    """Pick one option per item, of greatest value together, within the budget.

    Args:
        items: Per item its options.
        budget: Money that may be spent, at least 0.
        within: By how much the value may fall short of the greatest. Hundreds of options per item
            leave many choices that are nearly best, and telling them apart takes the most time.

    Returns:
        The position of the option picked, per item; the first one where several are as good.

    Raises:
        ValueError: If an item cannot be had for nothing, or the budget is below 0.
    """
    if budget < 0 or not all((costs == 0).any() and (costs >= 0).all() for costs, _ in items):
        raise ValueError("every item needs an option that costs nothing, and a budget of 0 or more")
    kept = [_undominated(costs, values, budget) for costs, values in items]
    free = [int(values[index].argmax()) for (_, values), index in zip(items, kept, strict=True)]
    reduced = [
        (costs[index], values[index]) for (costs, values), index in zip(items, kept, strict=True)
    ]
    if sum(int(costs[pick]) for (costs, _), pick in zip(reduced, free, strict=True)) > budget:
        free = _searched(reduced, budget, within)
    return [int(index[pick]) for index, pick in zip(kept, free, strict=True)]


def _undominated(
    costs: NDArray[np.int64], values: NDArray[np.float64], budget: int
) -> NDArray[np.intp]:
    """Positions of the options worth a thought: dearer ones must be better."""
    if (costs[1:] > costs[:-1]).all():
        order = np.arange(np.searchsorted(costs, budget, "right"))
    else:
        order = np.lexsort((-values, costs))
        order = order[costs[order] <= budget]
    ranked = values[order]
    better = np.ones(len(order), np.bool_)
    better[1:] = ranked[1:] > np.maximum.accumulate(ranked)[:-1]
    return order[better]


class _Table:
    """The options of all items side by side, short rows filled up with what nobody takes."""

    def __init__(self, items: Sequence[Options]) -> None:
        shape = len(items), max(len(costs) for costs, _ in items)
        self.costs = np.zeros(shape, np.int64)
        self.values = np.full(shape, -np.inf)
        for row, (costs, values) in enumerate(items):
            self.costs[row, : len(costs)], self.values[row, : len(values)] = costs, values
        self._rows = np.arange(len(items))

    def relaxed(self, price: float) -> NDArray[np.intp]:
        """What each item takes when money has a price."""
        taken: NDArray[np.intp] = (self.values - price * self.costs).argmax(axis=1)
        return taken

    def spent(self, picks: NDArray[np.intp]) -> int:
        """What a pick of each item costs."""
        return int(self.costs[self._rows, picks].sum())

    def filled(self, picks: NDArray[np.intp], budget: int) -> list[int]:
        """Spend what is left, each time on the item where that gains most."""
        picks = picks.copy()
        left = budget - self.spent(picks)
        while True:
            costs = self.costs[self._rows, picks][:, None]
            values = self.values[self._rows, picks][:, None]
            able = np.where(self.costs <= left + costs, self.values - values, -np.inf)
            item, option = divmod(int(able.argmax()), able.shape[1])
            if able[item, option] <= 0:
                return [int(pick) for pick in picks]
            left -= int(self.costs[item, option] - costs[item, 0])
            picks[item] = option


def _searched(items: Sequence[Options], budget: int, within: float) -> list[int]:
    low, high = 0.0, max(float(values.max() - values.min()) for _, values in items) + 1.0
    table = _Table(items)
    taken = table.relaxed(high)  # at this price nothing is worth any money
    for _ in range(_BISECTIONS):
        price = (low + high) / 2
        tried = table.relaxed(price)
        if table.spent(tried) > budget:
            low = price
        else:
            high, taken = price, tried
    picks = table.filled(taken, budget)
    known = sum(float(values[pick]) for (_, values), pick in zip(items, picks, strict=True))
    gains = [float((values - high * costs).max()) for costs, values in items]
    # Items with many options last: they are multiplied with few survivors.
    order = sorted(range(len(items)), key=lambda item: len(items[item][0]))
    spent, value = np.zeros(1, np.int64), np.zeros(1)
    trail: list[tuple[NDArray[np.intp], NDArray[np.intp]]] = []
    rest = sum(gains)
    slack = max(within, 1e-9 * max(1.0, abs(known)))
    for item in order:
        costs, values = items[item]
        rest -= gains[item]
        all_spent = (spent[:, None] + costs).ravel()
        all_value = (value[:, None] + values).ravel()
        bound = all_value + rest + high * (budget - all_spent)
        alive = np.flatnonzero((all_spent <= budget) & (bound > known + slack))
        if not len(alive):
            return picks
        alive = alive[_undominated(all_spent[alive], all_value[alive], budget)]
        spent, value = all_spent[alive], all_value[alive]
        trail.append((alive // len(costs), alive % len(costs)))
    last = int(value.argmax())
    if value[last] <= known:
        return picks
    for item, (parents, options) in zip(reversed(order), reversed(trail), strict=True):
        picks[item] = int(options[last])
        last = int(parents[last])
    return picks
