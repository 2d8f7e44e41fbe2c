"""A recorded selling step settled again: under other luck, with other answers, or both.

Redraw 0 is the recorded luck. Redraw k > 0 is the luck of an episode whose seed is drawn from the
stream (seed, "redraw", k), step by step: buyers (persona, item, units, limit, order of arrival),
the exponential times of attention, and the words by which buyers and sellers break ties between
equal prices. What was answered, the stock and what slogans mean are kept; so are, where buyers
remember, their places before the step, of which it is drawn anew who returns. The auction is not
played again: what was won, ties there included, is part of the scene.

Numbers are common: redraw k is the same luck for every seat, every alternative and every step of
its number, so that two alternatives differ by what they do and by nothing else.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from market.arena import settlement
from market.arena.books import Books
from market.arena.counterfactual.scene import Scene
from market.arena.selling import RetailOutcome, Selling
from market.arena.storefront import Storefront
from market.rng import key

#: Redraws where nobody says how many.
REDRAWS = 64


def redraw_seed(seed: int, redraw: int) -> int:
    """Seed of a redraw; that of the episode for redraw 0."""
    return key(seed, "redraw", redraw) % 2**63 if redraw else seed


def settle(
    scene: Scene,
    redraw: int,
    *,
    fronts: Mapping[str, Storefront] | None = None,
    similarities: Mapping[str, Sequence[int]] | None = None,
    stock: Mapping[str, Sequence[int]] | None = None,
) -> RetailOutcome:
    """Settle a step under some luck, with the recorded answers unless others are given.

    Args:
        scene: The recorded step.
        redraw: Which luck; 0 for the recorded one, under which the recorded answers give the
            recorded sales, revenue and attempts exactly.
        fronts: Instead of what was posted.
        similarities: Slogan -> similarity per persona in 1e-6, instead of the recorded ones.
        stock: Units per item by seat, instead of what was held.
    """
    return Selling(scene.rules, redraw_seed(scene.seed, redraw), scene.clientele).sell(
        scene.step,
        scene.fronts if fronts is None else fronts,
        scene.stock if stock is None else stock,
        scene.similarities if similarities is None else similarities,
    )


@dataclass(frozen=True, slots=True)
class StepAccount:
    """A step's profit as the arena books it, in whole money.

    Attributes:
        revenue: Money taken.
        cost_of_goods: Average cost of the units sold.
        holding: Holding cost due on the units left.
        fixed: Fixed cost due.
        liquidated: Proceeds less cost of stock sold to pay costs.
        shortfall: Costs that could not be paid.
        write_down: Stock written down to its terminal value, in the last step.
    """

    revenue: int
    cost_of_goods: int
    holding: int
    fixed: int
    liquidated: int
    shortfall: int
    write_down: int

    @property
    def profit(self) -> int:
        """Profit of the step, terminal write-down included."""
        return (
            self.revenue - self.cost_of_goods - self.holding - self.fixed
            + self.liquidated + self.shortfall - self.write_down
        )  # fmt: skip


def step_account(
    scene: Scene,
    outcome: RetailOutcome,
    seat: str,
    *,
    fronts: Mapping[str, Storefront] | None = None,
) -> StepAccount:
    """The books of one seat after an outcome of the step.

    Args:
        scene: The recorded step, whose stock, costs and funds the seat opened with.
        outcome: What retail brought (`settle`).
        seat: The seat.
        fronts: What was posted, if not what was recorded.
    """
    rules = scene.rules
    posted = scene.fronts if fronts is None else fronts
    funds = scene.funds[seat] + sum(scene.costs[seat])
    books = Books([seat], rules.items, funds, rules.terminal_stock)
    for item, (units, cost) in enumerate(zip(scene.stock[seat], scene.costs[seat], strict=True)):
        books.procure(seat, item, units, cost)
    settlement.book_sales(books, _alone(outcome, seat), posted)
    settlement.book_costs(books, [rules.holding(item) for item in rules.items], rules.fixed_cost)
    if scene.last:
        books.write_down()
    tally = books.accounts[seat].tally
    return StepAccount(
        revenue=tally.revenue,
        cost_of_goods=tally.cost_of_goods,
        holding=tally.holding,
        fixed=tally.fixed,
        liquidated=tally.liquidated,
        shortfall=tally.shortfall,
        write_down=tally.write_down,
    )


def step_profit(
    scene: Scene,
    outcome: RetailOutcome,
    seat: str,
    *,
    fronts: Mapping[str, Storefront] | None = None,
) -> int:
    """Profit of the step, in whole money: `step_account(...).profit`."""
    return step_account(scene, outcome, seat, fronts=fronts).profit


def _alone(outcome: RetailOutcome, seat: str) -> RetailOutcome:
    """The part of an outcome that concerns one seat."""
    return RetailOutcome(
        {seat: outcome.seats[seat]},
        outcome.buyers,
        outcome.priced_out,
        outcome.unserved,
        outcome.limited,
    )
