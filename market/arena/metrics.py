"""The nine metrics of a retailer, from what it did step by step.

A metric that is not defined is None with a reason, never 0: a retailer that was never asked for
a unit has no fill rate. Ratios are taken of sums over the episode, which are whole numbers, so
each metric is rounded once or twice and equal games give equal bits.

Profit, net profit margin, risk-adjusted return, inventory efficiency, stockout rate, fill rate,
bid efficiency, order stability and mean match bear the names and the intent of Market-Bench
(arXiv 2604.05523); the formulas are this project's reading of them.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import sqrt
from typing import NamedTuple

from market.study.estimands.indices import deviation

#: Similarities are whole numbers of this fraction of one.
SIMILARITY_UNITS = 1_000_000


class SeatStep(NamedTuple):
    """One retailer's accounts of one step. Money and goods are whole numbers.

    Attributes:
        step: The step, from 1.
        revenue: Money taken from buyers.
        cost_of_goods: Average cost of the units sold.
        holding: Holding costs.
        fixed: Fixed costs.
        write_down: Loss of stock at its terminal value, booked in the last step.
        liquidated: Gain (or, below zero, loss) of stock sold at salvage to pay costs.
        shortfall: Costs that could not be paid, booked to `default`.
        profit: Profit of the step.
        sold: Units sold.
        won: Units won in the settling round.
        spend: Money paid for them.
        won_value: The same units at base price.
        bid_units: Units bid for in the settling round, void lines included.
        bid_value: The same units at base price.
        attempts: Times a buyer still wanting units reached the retailer at an acceptable price.
        failed: Attempts that found no stock.
        asked: Units asked for in all attempts.
        stock: Units in stock at the end of the step.
        match_sum: Sum over buyers of the slogan's similarity to their persona, in 1e-6.
        match_buyers: Buyers in that sum; 0 when the slogan is empty.
    """

    step: int
    revenue: int
    cost_of_goods: int
    holding: int
    fixed: int
    write_down: int
    liquidated: int
    shortfall: int
    profit: int
    sold: int
    won: int
    spend: int
    won_value: int
    bid_units: int
    bid_value: int
    attempts: int
    failed: int
    asked: int
    stock: int
    match_sum: int
    match_buyers: int


#: No step at all, as the sum of none.
_NOTHING = SeatStep._make([0] * len(SeatStep._fields))

Figure = int | float | None


def metrics(steps: Sequence[SeatStep]) -> tuple[dict[str, Figure], dict[str, str]]:
    """A retailer's metrics over an episode, and the reason for each that is None.

    Args:
        steps: One record per step of the episode, those after the retailer left included.
    """
    total = SeatStep._make(map(sum, zip(*(_NOTHING, *steps), strict=True)))
    profit, revenue, sold, stock = total.profit, total.revenue, total.sold, total.stock
    attempts, asked = total.attempts, total.asked
    buyers, matched = total.match_buyers, total.match_sum

    found: dict[str, int | float | str] = {
        "profit": profit,
        "net_profit_margin": profit / revenue if revenue else "no revenue",
        "risk_adjusted_return": _risk_adjusted([step.profit for step in steps]),
        "inventory_efficiency": sold / (sold + stock) if sold + stock else "no sales and no stock",
        "stockout_rate": total.failed / attempts if attempts else "no attempts",
        "fill_rate": sold / asked if asked else "no attempts",
        "bid_efficiency": _bid_efficiency(total, by_value=False),
        "bid_efficiency_by_value": _bid_efficiency(total, by_value=True),
        "order_stability": _order_stability(
            [step.won for step in steps], [step.sold for step in steps]
        ),
        "mean_match": matched / (buyers * SIMILARITY_UNITS) if buyers else "no slogan",
    }
    values: dict[str, Figure] = {
        name: None if isinstance(figure, str) else figure for name, figure in found.items()
    }
    reasons = {name: figure for name, figure in found.items() if isinstance(figure, str)}
    return values, reasons


def _risk_adjusted(profits: Sequence[int]) -> float | str:
    """Mean over sample standard deviation of step profit."""
    spread = deviation(profits, sample=True)
    if spread is None:
        return "fewer than two steps"
    return sum(profits) / len(profits) / spread if spread else "equal profit in every step"


def _bid_efficiency(total: SeatStep, *, by_value: bool) -> float | str:
    """(Won / bid for) x (base value of won / spend).

    The first factor counts units or, by value, units at base price. It counts what was bid for
    in the settling round whether or not the line was valid.
    """
    bid = total.bid_value if by_value else total.bid_units
    value, spend = total.won_value, total.spend
    won = value if by_value else total.won
    if not bid:
        return "no bids"
    if not won:
        return 0.0
    return won * value / (bid * spend) if spend else "units won cost nothing"


def _order_stability(orders: Sequence[int], sales: Sequence[int]) -> float | str:
    """The smaller over the larger of the coefficients of variation of orders and of sales.

    Both are population coefficients. With n values their square is (n sum x^2 - (sum x)^2) /
    (sum x)^2, a fraction of whole numbers, so the quotient is rounded once before its root.
    A mean of zero comes first: a retailer that neither orders nor sells is not stable, it is
    absent.
    """
    total_orders, total_sales = sum(orders), sum(sales)
    if not total_orders:
        return "no units won"
    if not total_sales:
        return "no units sold"
    n = len(orders)
    of_orders = (n * sum(x * x for x in orders) - total_orders**2) * total_sales**2
    of_sales = (n * sum(x * x for x in sales) - total_sales**2) * total_orders**2
    larger = max(of_orders, of_sales)
    return sqrt(min(of_orders, of_sales) / larger) if larger else 1.0
