"""One strength per player from games of changing company (Plackett 1975, Luce 1959).

A rating needs a design in which everybody is linked to everybody through games, and outcomes in
which nobody is always above the rest: otherwise some distance has no finite estimate, and the
ratings are refused with the names. It is a summary beside the leaderboard, never the headline: the
model says that what two players do against each other does not hang on who else is there, which a
market need not obey. How well it fits is therefore told: McFadden's pseudo R2 against all orders
being equally likely, and the share of pairs ordered rightly in blocks that were not fitted.

The fit is `choix` (iterative Luce spectral ranking, Maystre and Grossglauser 2015; the maximum of
the likelihood). OpenSkill was left: it rates games one after the other, so its ratings hang on
their order, which episodes of a study do not have. Intervals are percentiles over resampled
blocks. In some resamples somebody is always above the rest: a small constant keeps their distance
finite, and if they are more than a tail of the interval there is no interval. Equal scores are put
in an order drawn per game.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from math import fsum, lgamma

import numpy as np
from numpy.typing import NDArray

from market.rng import draws as stream
from market.rng import generator
from market.study.statistics.bootstrap import FEW_BLOCKS
from market.study.statistics.estimates import Estimate

#: Keeps resampled and held-out fits finite; a game adds rates of about 1.
_SMALL = 1e-3
_FOLDS = 10

Rankings = list[tuple[int, ...]]


@dataclass(frozen=True, slots=True)
class Game:
    """One game.

    Attributes:
        block: Its block (seed).
        scores: Score of each player in it, more is better.
    """

    block: Hashable
    scores: Mapping[str, float]


@dataclass(frozen=True, slots=True)
class Ratings:
    """Ratings of all players.

    Attributes:
        players: Log strength of each, in the order of their names, with mean 0. The chance that
            one ends above another is 1/(1 + exp(-difference)).
        pseudo_r2: One minus the log likelihood over that of equal strengths; in-sample.
        held_out: Share of pairs in a game ordered rightly by ratings from other blocks, ties
            apart; 0.5 is chance. None for one block or if all pairs are tied.
        tied: Share of pairs with equal scores, whose order was drawn.
        undefined: Why there are none.
    """

    players: Mapping[str, Estimate] = field(default_factory=dict)
    pseudo_r2: float | None = None
    held_out: float | None = None
    tied: float | None = None
    undefined: str | None = None


def ratings(games: Sequence[Game], level: float = 0.95, draws: int = 200, seed: int = 0) -> Ratings:
    """Rate the players of some games.

    Args:
        games: The games; those of one player say nothing and are left out.
        level: Confidence.
        draws: Resamples of blocks.
        seed: Seed of the resampling and of the order of ties.
    """
    played = [game for game in games if len(game.scores) > 1]
    if not played:
        return Ratings(undefined="no game has two players")
    names = sorted({name for game in played for name in game.scores})
    numbers = {name: number for number, name in enumerate(names)}
    rankings = [_ranking(game, numbers, seed, place) for place, game in enumerate(played)]
    refusal = _refusal(names, rankings)
    if refusal is not None:
        return Ratings(undefined=refusal)
    by_block: dict[Hashable, list[int]] = {}
    for place, game in enumerate(played):
        by_block.setdefault(game.block, []).append(place)
    blocks = list(by_block.values())
    fitted = _fit(len(names), rankings)
    players = _estimates(fitted, rankings, blocks, level, draws, seed)
    likelihood = fsum(_log_likelihood(fitted, ranking) for ranking in rankings)
    equal = -fsum(lgamma(len(ranking) + 1) for ranking in rankings)
    gaps = [_gap(game, a, b) for game in played for a, b in combinations(game.scores, 2)]
    return Ratings(
        dict(zip(names, players, strict=True)),
        pseudo_r2=1 - likelihood / equal,
        held_out=_held_out(played, rankings, blocks, numbers),
        tied=sum(gap == 0 for gap in gaps) / len(gaps),
    )


def _gap(game: Game, a: str, b: str) -> float:
    return float(game.scores[a]) - float(game.scores[b])


def _ranking(game: Game, numbers: Mapping[str, int], seed: int, place: int) -> tuple[int, ...]:
    """Players from best to worst."""
    names = stream(seed, "statistics", "ties", place).shuffled(sorted(game.scores))
    return tuple(numbers[name] for name in sorted(names, key=lambda name: -game.scores[name]))


def _refusal(names: Sequence[str], rankings: Rankings) -> str | None:
    """Why no finite ratings exist (Ford 1957): no way from somebody to somebody through losses."""
    for links, words in (
        ("weak", "the design is not connected: no game links"),
        ("strong", "some are always above the others, so no distance is finite: apart are"),
    ):
        groups = _groups(len(names), rankings, links)
        if len(groups) > 1:
            told = sorted("{" + ", ".join(names[one] for one in group) + "}" for group in groups)
            return f"{words} {' and '.join(told)}"
    return None


def _groups(players: int, rankings: Rankings, links: str) -> list[list[int]]:
    """Players that are linked: by games ("weak"), or by ways through losses there and back."""
    from scipy.sparse.csgraph import connected_components

    above = np.zeros((players, players), dtype=bool)
    for ranking in rankings:
        # A chain of neighbours leads wherever the pairs of a game do.
        above[list(ranking[:-1]), list(ranking[1:])] = True
    count, part = connected_components(above, directed=True, connection=links)
    return [np.flatnonzero(part == group).tolist() for group in range(count)]


def _fit(
    players: int, rankings: Rankings, start: NDArray[np.float64] | None = None, small: float = 0.0
) -> NDArray[np.float64]:
    import choix

    found: NDArray[np.float64] = choix.ilsr_rankings(
        players, rankings, alpha=small, initial_params=start, max_iter=10_000, tol=1e-6
    )
    return found


def _estimates(
    fitted: NDArray[np.float64],
    rankings: Rankings,
    blocks: Sequence[Sequence[int]],
    level: float,
    draws: int,
    seed: int,
) -> list[Estimate]:
    """The strengths of all players with percentiles over resampled blocks."""
    count = len(blocks)
    values = fitted.tolist()
    if count < FEW_BLOCKS:
        reason = f"fewer than {FEW_BLOCKS} blocks"
        return [Estimate.missing(reason, value=v, blocks=count, level=level) for v in values]
    rng = generator(seed, "statistics", "ratings")
    resampled = [
        [rankings[place] for block in chosen for place in blocks[block]]
        for chosen in rng.integers(0, count, (draws, count))
    ]
    apart = sum(len(_groups(len(fitted), drawn, "strong")) > 1 for drawn in resampled)
    if apart > draws * (1 - level) / 2:
        reason = "some are always above the others in too many resamples of blocks"
        return [Estimate.missing(reason, value=v, blocks=count, level=level) for v in values]
    fits = [_fit(len(fitted), drawn, fitted, _SMALL) for drawn in resampled]
    ends = np.quantile(fits, [(1 - level) / 2, (1 + level) / 2], axis=0).T.tolist()
    return [
        Estimate(value, low, high, count, "percentile bootstrap", level)
        for value, (low, high) in zip(values, ends, strict=True)
    ]


def _log_likelihood(fitted: NDArray[np.float64], ranking: Sequence[int]) -> float:
    """Of one order: each place is won against all that are left."""
    strengths = fitted[list(ranking)]
    left = np.logaddexp.accumulate(strengths[::-1])[::-1]
    return float((strengths - left).sum())


def _held_out(
    games: Sequence[Game],
    rankings: Rankings,
    blocks: Sequence[Sequence[int]],
    numbers: Mapping[str, int],
) -> float | None:
    """Share of untied pairs that ratings from other blocks order rightly."""
    if len(blocks) < 2:
        return None
    right = total = 0
    for fold in range(min(_FOLDS, len(blocks))):
        tested = {place for block in blocks[fold::_FOLDS] for place in block}
        known = [ranking for place, ranking in enumerate(rankings) if place not in tested]
        fitted = _fit(len(numbers), known, small=_SMALL)
        for place in tested:
            for a, b in combinations(games[place].scores, 2):
                gap = _gap(games[place], a, b)
                total += gap != 0
                right += gap * float(fitted[numbers[a]] - fitted[numbers[b]]) > 0
    return right / total if total else None
