"""What words are worth: three numbers that answer three questions and are never mixed.

*Direct*: what a retailer's own words bring it. Its profit less that with the mean of its rivals'
similarities in place of its own, persona by persona; everybody's prices and stock as recorded, mean
over redrawn luck. What one gains by speaking better another loses, so these hardly add up to
anything.

*Market*: what it changes for all that buyers listen. Profit of all, consumer surplus and Gini of
wealth, less the same with all similarities equal; answers as recorded.

*Total*: the same figures between live arms, one in which buyers listen and one in which they do not
(`attention.tau` without bound), in which retailers may have acted otherwise. Whether those of the
second arm know that words are idle is the arms' own: told by their instructions, or left to find
out.

Direct and market are one-step: each recorded selling step is settled again by itself, with the
stock with which it opened. They are exactly 0 where words cannot matter: at a temperature at which
weights are equal, and where everybody considers every seller.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from statistics import fmean, stdev

import numpy as np
from numpy.typing import NDArray

from market.arena.counterfactual.board import Row
from market.arena.counterfactual.crowd import Crowd, Shops
from market.arena.counterfactual.redraws import REDRAWS
from market.arena.counterfactual.scene import Scene, scenes
from market.arena.events import Index
from market.replay import Replay, ReplayError
from market.study.estimands.indices import gini
from market.study.statistics import intervals
from market.study.statistics.estimates import Estimate


@dataclass(frozen=True, slots=True)
class Direct:
    """What one seat's words brought it in an episode, in money.

    Attributes:
        profit: Mean profit of the selling steps with its own words.
        value: That less the profit with the mean of its rivals' words.
        error: Standard error of the value, which is a mean over finitely many redraws.
    """

    profit: float
    value: float
    error: float


@dataclass(frozen=True, slots=True)
class Figures:
    """A market, or what was added to it: mean over redraws of sums over selling steps.

    Attributes:
        profit: Profit of all retailers, in money.
        surplus: Gain of the buyers, in money; None where they have no limits.
        gini: Gini of initial funds and profit, none below 0; None where nobody has anything.
    """

    profit: float
    surplus: float | None
    gini: float | None

    def less(self, other: Figures) -> Figures:
        """The difference, undefined where one of both is."""
        return Figures(
            self.profit - other.profit,
            _minus(self.surplus, other.surplus),
            _minus(self.gini, other.gini),
        )


@dataclass(frozen=True, slots=True)
class Market:
    """What it changed that buyers listen.

    Attributes:
        heard: With the similarities as they are.
        deaf: With all similarities equal.
    """

    heard: Figures
    deaf: Figures

    @property
    def value(self) -> Figures:
        """The difference."""
        return self.heard.less(self.deaf)


@dataclass(frozen=True, slots=True)
class MarketEstimates:
    """Profit, surplus and Gini that words added, with intervals by seed."""

    profit: Estimate
    surplus: Estimate
    gini: Estimate


@dataclass(frozen=True, slots=True)
class Words:
    """Direct and market value over recorded episodes, with intervals by seed.

    Attributes:
        direct: Per seat, in money per episode.
        share: Per seat, as a share of its profit.
        market: For all.
    """

    direct: Mapping[str, Estimate]
    share: Mapping[str, Estimate]
    market: MarketEstimates


@dataclass(frozen=True, slots=True)
class Total:
    """Total value between live arms: heard less deaf, in pairs of equal seeds.

    Attributes:
        seats: Score per seat.
        market: For all; the Gini is that of net worth at the end.
    """

    seats: Mapping[str, Estimate]
    market: MarketEstimates


def direct(steps: Sequence[Scene], redraws: int = REDRAWS) -> dict[str, Direct]:
    """What each seat's own words brought it in an episode.

    Args:
        steps: Selling steps of one episode.
        redraws: How often each is settled again; the recorded luck alone if 0.
    """
    lucks = _lucks(redraws)
    profits: dict[str, list[float]] = {}
    values: dict[str, list[float]] = {}
    for scene in steps:
        shops = Shops(scene)
        weight = shops.weights(shops.said)
        muted = {seat: shops.weights(_muted(shops, seat)) for seat in shops.sellers}
        for at, luck in enumerate(lucks):
            crowd = Crowd(shops, luck)
            heard = shops.profits(crowd.sales(weight), crowd.buyers)
            for seat, own in heard.items():
                profits.setdefault(seat, [0.0] * len(lucks))[at] += own
                gains = values.setdefault(seat, [0.0] * len(lucks))
                if seat in muted and not np.array_equal(muted[seat], weight):
                    gains[at] += own - shops.profit(seat, crowd.sales(muted[seat]), crowd.buyers)
    return {
        seat: Direct(fmean(profits[seat]), fmean(gains), _error(gains))
        for seat, gains in values.items()
    }


def market(steps: Sequence[Scene], redraws: int = REDRAWS) -> Market:
    """What it changed for all that buyers listened in an episode.

    Args:
        steps: Selling steps of one episode, one at least.
        redraws: How often each is settled again; the recorded luck alone if 0.
    """
    shops = [Shops(scene) for scene in steps]
    arms = [
        (each.weights(each.said), each.weights([_nothing(each)] * len(each.sellers)))
        for each in shops
    ]
    found = []
    for luck in _lucks(redraws):
        heard, deaf = _Sums(), _Sums()
        for shop, (listening, idle) in zip(shops, arms, strict=True):
            crowd = Crowd(shop, luck)
            heard.add(shop, crowd, listening)
            deaf.add(shop, crowd, idle)
        found.append((heard.figures(steps[0]), deaf.figures(steps[0])))
    return Market(*(_average(arm) for arm in zip(*found, strict=True)))


def words(journals: Iterable[Path], redraws: int = REDRAWS, level: float = 0.95) -> Words:
    """Direct and market value over recorded episodes; those of one seed are one block.

    Args:
        journals: The recordings.
        redraws: How often each step is settled again.
        level: Confidence of the intervals.

    Raises:
        market.journal.JournalError: If a journal is damaged.
        market.replay.ReplayError: If one is not a recording of the arena's game.
    """
    gains: dict[str, _Blocks] = {}
    profits: dict[str, _Blocks] = {}
    added: dict[int, list[Figures]] = {}
    for journal in journals:
        steps = list(scenes(journal))
        if not steps:
            continue
        seed = int(steps[0].seed)
        for seat, found in direct(steps, redraws).items():
            gains.setdefault(seat, {}).setdefault(seed, []).append(found.value)
            profits.setdefault(seat, {}).setdefault(seed, []).append(found.profit)
        added.setdefault(seed, []).append(market(steps, redraws).value)
    return Words(
        direct={seat: intervals.mean(_means(of), level) for seat, of in gains.items()},
        share={
            seat: intervals.ratio(_means(of), _means(profits[seat]), level)
            for seat, of in gains.items()
        },
        market=_estimates(added, level),
    )


def total(heard: Iterable[Path], deaf: Iterable[Path], level: float = 0.95) -> Total:
    """Total value of words between two live arms.

    Episodes of one seed are one block; seeds that only one arm has are left out.

    Args:
        heard: Finished journals of the arm in which buyers listen.
        deaf: Those of the arm in which they do not.
        level: Confidence of the intervals.

    Raises:
        market.journal.JournalError: If a journal is damaged.
        market.replay.ReplayError: If one is unfinished, or the recording of another game.
    """
    arms = [_arm(heard), _arm(deaf)]
    seeds = sorted(arms[0].keys() & arms[1].keys())
    seats: dict[str, list[float]] = {}
    added: dict[int, list[Figures]] = {}
    for seed in seeds:
        (scores, figures), (others, without) = arms[0][seed], arms[1][seed]
        added[seed] = [figures.less(without)]
        for seat in scores.keys() & others.keys():
            seats.setdefault(seat, []).append(scores[seat] - others[seat])
    found = {seat: intervals.mean(of, level) for seat, of in sorted(seats.items())}
    return Total(found, _estimates(added, level))


_Blocks = dict[int, list[float]]


def _lucks(redraws: int) -> range:
    """The redraws to settle; the recorded luck alone if there are none."""
    return range(1, redraws + 1) if redraws else range(1)


def _muted(shops: Shops, seat: str) -> list[Row]:
    """What is said where a seat's words are as good as its open rivals' on average."""
    said, own = [*shops.said], shops.sellers.index(seat)
    rivals = said[:own] + said[own + 1 :]
    if rivals:
        said[own] = tuple(round(sum(each) / len(rivals)) for each in zip(*rivals, strict=True))
    return said


def _nothing(shops: Shops) -> Row:
    """The similarities of an empty slogan."""
    return (0,) * len(shops.scene.rules.personas)


@dataclass(slots=True)
class _Sums:
    """Sums over steps under one luck."""

    profits: dict[str, int] = field(default_factory=dict)
    surplus: int = 0

    def add(self, shops: Shops, crowd: Crowd, weight: NDArray[np.float64]) -> None:
        """Add a step with sellers of these weights."""
        sales = crowd.sales(weight)
        for seat, profit in shops.profits(sales, crowd.buyers).items():
            self.profits[seat] = self.profits.get(seat, 0) + profit
        self.surplus += int(sales.surplus.sum())

    def figures(self, first: Scene) -> Figures:
        """What they come to, in the market of the first step."""
        funds = first.rules.funds(len(self.profits))
        wealth = [max(0, funds + profit) for profit in self.profits.values()]
        surplus = None if first.rules.willingness_to_pay is None else self.surplus
        return Figures(sum(self.profits.values()), surplus, gini(wealth))


def _arm(journals: Iterable[Path]) -> dict[int, tuple[dict[str, float], Figures]]:
    """Per seed the mean scores of seats, and the figures of the market."""
    found: dict[int, list[tuple[dict[str, float], Figures]]] = {}
    for journal in journals:
        played = Replay(journal)
        gains: list[float | None] = []
        for moment in played:
            gains += [
                row.value
                for row in moment.events
                if isinstance(row, Index) and row.index == "consumer_surplus" and not row.item
            ]
        if not played.finished:
            raise ReplayError(f"{journal} is unfinished; a live arm is made of finished episodes.")
        result = played.environment.result
        scores = {seat: float(ended.score) for seat, ended in result.seats.items()}
        known = [gain for gain in gains if gain is not None]
        surplus = sum(known) if known and len(known) == len(gains) else None
        figures = Figures(sum(scores.values()), surplus, result.totals.get("gini_net_worth"))
        found.setdefault(played.header.seed, []).append((scores, figures))
    return {
        seed: (
            {
                seat: fmean(scores[seat] for scores, _ in episodes if seat in scores)
                for seat in {seat for scores, _ in episodes for seat in scores}
            },
            _average([figures for _, figures in episodes]),
        )
        for seed, episodes in found.items()
    }


def _average(each: Sequence[Figures]) -> Figures:
    def mean(values: list[float | None]) -> float | None:
        known = [value for value in values if value is not None]
        return fmean(known) if len(known) == len(values) else None

    return Figures(
        fmean(one.profit for one in each),
        mean([one.surplus for one in each]),
        mean([one.gini for one in each]),
    )


def _estimates(added: Mapping[int, Sequence[Figures]], level: float) -> MarketEstimates:
    """Intervals over seeds; what one seed leaves undefined has no estimate."""
    blocks = [_average(of) for _, of in sorted(added.items())]

    def estimate(values: list[float | None], why: str) -> Estimate:
        known = [value for value in values if value is not None]
        if len(known) < len(values):
            return Estimate.missing(why, blocks=len(values), level=level)
        return intervals.mean(known, level)

    return MarketEstimates(
        estimate([one.profit for one in blocks], "no profit"),
        estimate([one.surplus for one in blocks], "buyers have no limits, so no surplus"),
        estimate([one.gini for one in blocks], "nobody has anything in some episode"),
    )


def _means(blocks: _Blocks) -> list[float]:
    return [fmean(of) for _, of in sorted(blocks.items())]


def _minus(left: float | None, right: float | None) -> float | None:
    return None if left is None or right is None else left - right


def _error(values: Sequence[float]) -> float:
    return stdev(values) / len(values) ** 0.5 if len(values) > 1 else 0.0
