"""Strengths of retailers who met in changing company, beside the leaderboard and never its head.

Only where the company changes from game to game does a rating tell what a table of means does not:
it takes into account whom each retailer met. It is held to its own fit, which stands beside it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from market.study.estimands.effects import SCORE, Measure
from market.study.estimands.finding import Finding
from market.study.estimands.games import Game, comparable, retailers
from market.study.statistics import ratings as rated
from market.study.statistics.estimates import Estimate

_STRENGTH = (
    "Log strength by Plackett and Luce, mean 0: {name} ends above a retailer of strength s with "
    "chance 1/(1 + exp(s - strength)), if company does not matter to that."
)
_FIT = {
    "pseudo R2": "How much likelier the orders are than if all were equally strong (McFadden).",
    "held out": "Share of pairs ordered rightly by strengths from other seeds; 0.5 is chance.",
    "tied": "Share of pairs with equal scores, whose order was drawn.",
}


def strengths(games: Iterable[Game], measure: Measure = SCORE) -> Iterator[Finding]:
    """Per market and design with changing company, the strength of each retailer and the fit.

    Nothing for one company. Where no strengths exist, the reason stands in every line.
    """
    for market, mixed in comparable(games):
        if len({game.company for game in mixed}) < 2:
            continue
        names = retailers(mixed)
        played = []
        for game in mixed:
            scores = {name: score for name in names if (score := game.of(name)) is not None}
            played.append(rated.Game(game.seed, scores))
        found = rated.ratings(played)
        reason = found.undefined or ""
        for name in names:
            estimate = found.players.get(name) or Estimate.missing(reason or "it has no score")
            sentence = _STRENGTH.format(name=name)
            about = {**market, "retailer": name}
            yield Finding(
                "ratings", "strength", measure.outcome, about, estimate, "log odds", sentence
            )
        fit = {"pseudo R2": found.pseudo_r2, "held out": found.held_out, "tied": found.tied}
        for figure, value in fit.items():
            why = "a measure of fit has no interval" if value is not None else ""
            estimate = Estimate.missing(why or reason or "one seed", value=value)
            yield Finding(
                "ratings", figure, measure.outcome, market, estimate, "share", _FIT[figure]
            )
