"""Figures of the whole market, step by step: who has how much, what things cost, who gained.

`MarketStep` is what a step leaves behind, in arrays over the seats the episode began with: a
retailer that left stays in every index, with a net worth of 0. `figures` makes one flat row of
it and `item_figures` one row per item. What is not defined is None.

The published CR4 and HHI cannot stand on the same shares (with 20 sellers a CR4 of 0.23 caps the
HHI at 0.0567, yet 0.08 to 0.10 is reported), so both are given over revenue and over net worth.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import fsum
from typing import NamedTuple, Protocol

from market.arena.metrics import SIMILARITY_UNITS, Figure
from market.study.estimands.indices import (
    coefficient_of_variation,
    concentration_ratio,
    effective_number,
    gini,
    gini_corrected,
    hhi,
    hhi_normalised,
    mean,
    rank_mobility,
)

Row = dict[str, Figure]


@dataclass(frozen=True, slots=True)
class ItemStep:
    """What a step left behind for one item; arrays are over seats.

    Attributes:
        item: Its name.
        base: Its base price.
        revenue: Money taken for it.
        sold: Units of it sold.
        prices: Price asked for it; None where it was not offered.
        provisional: Price bid for it in the round before the settling one (see `bid_price`).
        final: Price bid for it in the settling round.
    """

    item: str
    base: int
    revenue: tuple[int, ...]
    sold: tuple[int, ...]
    prices: tuple[int | None, ...]
    provisional: tuple[float | None, ...]
    final: tuple[float | None, ...]


@dataclass(frozen=True, slots=True)
class Trade:
    """What changed hands in a step, in money, over the whole market.

    Attributes:
        spend: What retailers paid the supplier.
        won_value: What they won, at base price: the supplier's cost.
        sold_value: What buyers took, at base price.
        surplus: What buyers would have paid for what they took less what they paid; None when
            they have no willingness to pay.
        bound: The greatest possible gain (`bounds.industry_bound_of`); None likewise.
    """

    spend: int
    won_value: int
    sold_value: int
    surplus: int | None
    bound: float | None


@dataclass(frozen=True, slots=True)
class MarketStep:
    """What a step left behind; arrays are over the seats the episode began with.

    Attributes:
        net_worth: At the end of the step; 0 for those who left.
        revenue: Money taken from buyers.
        cost_of_goods: Average cost of the units sold.
        profit: Step profit.
        sold: Units sold.
        offered: Valid prices on items held.
        won: Units won.
        items: One record per item.
        trade: What changed hands.
        convergence: Mean pairwise cosine of slogans in 1e-6; None below two slogans.
    """

    net_worth: tuple[int, ...]
    revenue: tuple[int, ...]
    cost_of_goods: tuple[int, ...]
    profit: tuple[int, ...]
    sold: tuple[int, ...]
    offered: tuple[int, ...]
    won: tuple[int, ...]
    items: tuple[ItemStep, ...]
    trade: Trade
    convergence: int | None


class Ranking(Protocol):
    """What ranks retailers at the end of a step, over its seats."""

    @property
    def net_worth(self) -> Sequence[int]:
        """At the end of the step."""
        ...

    @property
    def profit(self) -> Sequence[int]:
        """Of the step."""
        ...


class Ranked(NamedTuple):
    """A `Ranking` by itself."""

    net_worth: tuple[int, ...]
    profit: tuple[int, ...]


def figures(step: MarketStep, before: Ranking | None = None) -> Row:
    """The market's indices at the end of a step.

    Args:
        step: The step.
        before: The step before it, for rank mobility; None in the first.
    """
    revenue = sum(step.revenue)
    return {
        "gini_net_worth": gini(step.net_worth),
        "gini_net_worth_corrected": gini_corrected(step.net_worth),
        **concentration(step.revenue, "_revenue"),
        **concentration(step.net_worth, "_net_worth"),
        "rank_mobility_net_worth": (
            rank_mobility(before.net_worth, step.net_worth) if before else None
        ),
        "rank_mobility_profit": rank_mobility(before.profit, step.profit) if before else None,
        "active_sold": _share_positive(step.sold),
        "active_offered": _share_positive(step.offered),
        "active_won": _share_positive(step.won),
        "slogan_convergence": (
            None if step.convergence is None else step.convergence / SIMILARITY_UNITS
        ),
        "bluff": bluff(step.items),
        "gross_margin": (revenue - sum(step.cost_of_goods)) / revenue if revenue else None,
        "net_margin": sum(step.profit) / revenue if revenue else None,
        "price_dispersion": _mean_known(map(_dispersion, step.items)),
        **welfare(step.trade, revenue=revenue, profit=sum(step.profit)),
    }


def item_figures(step: MarketStep) -> dict[str, Row]:
    """The figures of each item in a step, by item.

    `price_*` are of prices asked, in multiples of the base price; `paid` is the mean multiple
    paid; `price_dispersion` is the population coefficient of variation of the prices asked, None
    for fewer than two.
    """
    return {item.item: _item_row(item) for item in step.items}


def welfare(trade: Trade, *, revenue: int, profit: int) -> Row:
    """Who gained how much in a step.

    Consumers gain what their purchases are worth to them less what they paid, retailers their
    step profit, the supplier what it was paid above base price. Allocative efficiency is the
    worth of what buyers took, less base price, over the industry bound; it can exceed 1 in a
    step that sells from earlier stock if the bound knows only the step's supply. Where buyers
    have no willingness to pay, consumer surplus and efficiency are not defined.
    """
    surplus, bound = trade.surplus, trade.bound
    return {
        "consumer_surplus": surplus,
        "retailer_surplus": profit,
        "supplier_surplus": trade.spend - trade.won_value,
        "allocative_efficiency": (
            (surplus + revenue - trade.sold_value) / bound
            if surplus is not None and bound
            else None
        ),
    }


def bluff(items: Iterable[ItemStep]) -> float | None:
    """Mean over seats and items of |final - provisional| / provisional bid price.

    Only where a seat bid for the item in both rounds; None where nobody did.
    """
    moves = [
        abs(final - provisional) / provisional
        for item in items
        for provisional, final in zip(item.provisional, item.final, strict=True)
        if provisional and final is not None
    ]
    return mean(moves)


def bid_price(lines: Iterable[tuple[int, int]]) -> float | None:
    """The one price that stands for a seat's (quantity, price) lines on an item.

    The mean price by quantity: the price itself for a single line. None if nothing is bid for.
    """
    units = cost = 0
    for quantity, price in lines:
        units += quantity
        cost += quantity * price
    return cost / units if units else None


def means(rows: Sequence[Mapping[str, Figure]]) -> Row:
    """The mean of each figure over steps, those where it is None left out."""
    return {name: _mean_known(row[name] for row in rows) for name in (rows[0] if rows else ())}


def _item_row(item: ItemStep) -> Row:
    asked = [price for price in item.prices if price is not None]
    units, revenue = sum(item.sold), sum(item.revenue)
    average = mean(asked)
    return {
        **concentration(item.revenue, "_revenue"),
        "sellers": len(asked),
        "sold": units,
        "price_mean": None if average is None else average / item.base,
        "price_low": min(asked) / item.base if asked else None,
        "price_high": max(asked) / item.base if asked else None,
        "paid": revenue / (units * item.base) if units else None,
        "price_dispersion": _dispersion(item),
    }


def _dispersion(item: ItemStep) -> float | None:
    asked = [price for price in item.prices if price is not None]
    return coefficient_of_variation(asked) if len(asked) > 1 else None


def concentration(values: Sequence[int], suffix: str) -> Row:
    """HHI, effective number and share of the four largest, named with a suffix."""
    return {
        f"hhi{suffix}": hhi(values),
        f"hhi{suffix}_normalised": hhi_normalised(values),
        f"effective_number{suffix}": effective_number(values),
        f"cr4{suffix}": concentration_ratio(values),
    }


def _share_positive(values: Sequence[int]) -> float | None:
    return sum(value > 0 for value in values) / len(values) if values else None


def _mean_known(values: Iterable[Figure]) -> float | None:
    known = [value for value in values if value is not None]
    return fsum(known) / len(known) if known else None
