"""What a retailer does, to itself and to others, named by the question that it answers.

Retailers of one market interfere: "the profit of M" means nothing without saying among whom. Four
estimands mean something, and each needs a design of its own (`market.study.designs`):

    replacement   what M gains over a reference in its place: same seat, seed and rivals
    externality   what that replacement, or M's presence, does to the others
    self-play     what a market of M's kind alone comes to
    invasion      what one M gets among many B, and one B among many M

What is compared is found by who sat where, not by names of rosters: any games will do in which one
seat is played by two retailers and everything else is equal. `standings` is the mean of each
retailer with its rank, which for a single company of retailers holds in that company only.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from market.study.estimands.finding import About, Cells, Finding
from market.study.estimands.games import Game, by_market, comparable, mean, retailers
from market.study.statistics.estimates import Estimate
from market.study.statistics.ranks import rank_sets

#: Who sits where, of one roster: (seat, retailer) each.
Seating = frozenset[tuple[str, str]]

#: The design in which one of two is one among many too.
ONE_AMONG_MANY = "one-among-many"

CONDITIONAL = (
    "One market of all together: this order holds in this company of retailers only, and says "
    "nothing of how any of them would do among others."
)


@dataclass(frozen=True, slots=True)
class Measure:
    """An outcome and its unit."""

    outcome: str = "score"
    unit: str = "score"

    def finding(
        self, table: str, figure: str, about: About, cells: Cells, sentence: str, missing: str
    ) -> Finding:
        """A line of what some cells come to."""
        estimate = cells.estimate(missing)
        return Finding(table, figure, self.outcome, about, estimate, self.unit, sentence)


SCORE = Measure()


def replacement(
    games: Sequence[Game], reference: str, measure: Measure = SCORE
) -> Iterator[Finding]:
    """What each retailer gains over the reference in its place, and what that does to the rest.

    Per market and retailer two lines: the *replacement effect*, outcome of the retailer less that
    of the reference in the same seat, seed and repetition among the same rivals in the same
    seats; and the *externality*, the mean change of the others' outcomes. Both are averaged over
    the companies of rivals and the seats that were played. For an outcome of the whole market
    there is one line instead, its change.
    """
    for market, own in by_market(games):
        contexts = _contexts(own)
        for name in retailers(own):
            if name == reference:
                continue
            effect, rest, whole = Cells(), Cells(), Cells()
            for context, (seat, players) in contexts.items():
                if name in players and reference in players:
                    for new, old in _paired(players[name], players[reference]):
                        effect.add(new.seed, context, _less(new, old, [seat]))
                        rest.add(new.seed, context, _less(new, old, _others(new, {seat})))
                        whole.add(new.seed, context, _market_less(new, old))
            about = _about(market, retailer=name, reference=reference)
            missing = f"no seat was played by both {name} and {reference} with all else equal"
            where = (
                f"over {_count(effect.rosters or whole.rosters, 'company', 'companies')} of rivals"
            )
            if whole.values:
                yield measure.finding(
                    "replacement", "effect on the market", about, whole,
                    f"What changes in the market when {name} plays instead of {reference}: same "
                    f"seat, seed and rivals, averaged {where}.", missing,
                )  # fmt: skip
                continue
            yield measure.finding(
                "replacement", "replacement effect", about, effect,
                f"What {name} gets more than {reference} in its place: same seat, seed and "
                f"rivals, averaged {where}.", missing,
            )  # fmt: skip
            yield measure.finding(
                "externality", "externality of replacement", about, rest,
                f"What each of the others gets more, on average, when {name} plays instead of "
                f"{reference}: same seat and seed, averaged {where}.", missing,
            )  # fmt: skip


def presence(games: Sequence[Game], measure: Measure = SCORE) -> Iterator[Finding]:
    """What the others get more where a retailer is there than where its seats are left out.

    One line per retailer of which some roster is another's less one of its seats, or all.
    """
    for market, own in by_market(games):
        rosters = _rosters(own)
        for name in retailers(own):
            cells = Cells()
            for seating, with_it in rosters.items():
                for left in _left_out(seating, name):
                    for more, less in _paired(with_it, rosters.get(left, [])):
                        seats = [seat for seat, _ in left if dict(left)[seat] != name]
                        cells.add(more.seed, (seating, left), _less(more, less, seats))
            if cells.values:
                yield measure.finding(
                    "externality", "externality of presence", _about(market, retailer=name), cells,
                    f"What each of the others gets more, on average, where {name} is there than "
                    "where its seat is empty: same seats and seed.", "no such pair",
                )  # fmt: skip


def self_play(games: Sequence[Game], measure: Measure = SCORE) -> Iterator[Finding]:
    """What a market of one kind comes to, per seat; for an outcome of the market, the market's."""
    for market, own in by_market(games):
        for size, name, alone in _monocultures(own):
            cells = Cells()
            for game in alone:
                cells.add(game.seed, game.company, game.whole)
            yield measure.finding(
                "self-play", "self-play outcome", _about(market, retailer=name, seats=size), cells,
                f"What a market of {size} copies of {name} comes to"
                f"{'' if alone[0].market is not None else ' per seat'}; it compares markets, and "
                "says nothing of one against another.", "undefined in every game",
            )  # fmt: skip


def invasion(games: Sequence[Game], measure: Measure = SCORE) -> Iterator[Finding]:
    """The matrix of one among many: for each (entrant, host) and size, up to five lines.

    `entrant` is what the one gets and `residents` what each of the many gets; `advantage` their
    difference in one market; `gain` what the one gets more than a copy of the host does where all
    are copies, on the same seed, which is what a copy would gain by becoming the entrant; and
    `loss` what the residents get less than they do among themselves, copy by copy.
    """
    for market, own in by_market(games):
        alone = {(size, name): each for size, name, each in _monocultures(own)}
        for size, one, many, among in _invasions(own):
            figures = {
                name: Cells() for name in ("entrant", "residents", "advantage", "gain", "loss")
            }
            for game in among:
                entrant, residents = game.of(one), game.of(many)
                figures["entrant"].add(game.seed, game.company, entrant)
                figures["residents"].add(game.seed, game.company, residents)
                figures["advantage"].add(game.seed, game.company, _minus(entrant, residents))
            for game, pure in _paired(among, alone.get((size, many), [])):
                figures["gain"].add(game.seed, game.company, _minus(game.of(one), pure.whole))
                kept = [seat for seat in game.outcomes if seat in pure.outcomes]
                figures["loss"].add(game.seed, game.company, _less(pure, game, kept))
            about = _about(market, entrant=one, host=many, seats=size)
            for figure, cells in figures.items():
                yield measure.finding(
                    "invasion", figure, about, cells, _invasion_sentence(figure, one, many, size),
                    f"no game of {size} copies of {many} on the same seed",
                )  # fmt: skip


def standings(games: Sequence[Game], measure: Measure = SCORE) -> Iterator[Finding]:
    """The mean outcome of each retailer over the games it was in, and its simultaneous rank set.

    `rank` has the rank by means as its value, and the ranks that are not ruled out at 95% as low
    and high. Only designs that treat all retailers alike count, each by itself.
    """
    for market, mixed in comparable(game for game in games if len(game.company) > 1):
        companies = {game.company for game in mixed}
        sentence = (
            CONDITIONAL
            if len(companies) == 1
            else f"The mean over the {len(companies)} companies of retailers that were played; it "
            "holds for companies drawn as these were."
        )
        found: dict[str, Cells] = {}
        for name in retailers(mixed):
            cells = found[name] = Cells()
            for game in mixed:
                cells.add(game.seed, game.company, game.of(name))
            yield measure.finding(
                "standings", "mean", _about(market, retailer=name), cells, sentence,
                "undefined in every game",
            )  # fmt: skip
        yield from _ranks(market, found, measure, sentence)


def _ranks(
    market: About, found: dict[str, Cells], measure: Measure, sentence: str
) -> Iterator[Finding]:
    """Rank sets over the seeds on which everybody played."""
    means = {name: cells.seeds for name, cells in found.items() if cells.values}
    shared = sorted(set.intersection(*(set(seeds) for seeds in means.values()))) if means else []
    if len(shared) < 2 or len(means) < 2:
        for name in found:
            reason = "ranks take two retailers and two seeds on which all of them played"
            about = _about(market, retailer=name)
            estimate = Estimate.missing(reason, blocks=len(shared))
            yield Finding("standings", "rank", measure.outcome, about, estimate, "rank", sentence)
        return
    scores = np.array([[seeds[seed] for seeds in means.values()] for seed in shared])
    order = scores.mean(axis=0)
    for at, (name, ranks) in enumerate(zip(means, rank_sets(scores), strict=True)):
        rank = 1 + int((order > order[at]).sum())
        estimate = Estimate(rank, ranks.low, ranks.high, len(shared), "simultaneous rank sets")
        about = _about(market, retailer=name)
        yield Finding("standings", "rank", measure.outcome, about, estimate, "rank", sentence)


def _rosters(games: Iterable[Game]) -> dict[Seating, list[Game]]:
    """The games of each roster, whatever it is called."""
    found: dict[Seating, list[Game]] = {}
    for game in games:
        found.setdefault(frozenset(game.players.items()), []).append(game)
    return found


def _contexts(games: Iterable[Game]) -> dict[Hashable, tuple[str, dict[str, list[Game]]]]:
    """Per seat and company of rivals in their seats, the games of whoever played that seat."""
    found: dict[Hashable, tuple[str, dict[str, list[Game]]]] = {}
    for seating, own in _rosters(games).items():
        for seat, player in seating:
            context = (seat, seating - {(seat, player)})
            found.setdefault(context, (seat, {}))[1].setdefault(player, []).extend(own)
    return {context: each for context, each in found.items() if len(each[1]) > 1}


def _paired(first: Iterable[Game], second: Iterable[Game]) -> Iterator[tuple[Game, Game]]:
    """Games of equal seed and repetition."""
    known = {(game.seed, game.repetition): game for game in second}
    for game in first:
        if (game.seed, game.repetition) in known:
            yield game, known[game.seed, game.repetition]


def _left_out(seating: Seating, name: str) -> list[Seating]:
    """A roster without each one of a retailer's seats, and without all of them."""
    own = [place for place in seating if place[1] == name]
    single = [seating - {place} for place in own]
    return single if len(own) < 2 else [*single, seating - set(own)]


def _monocultures(games: Iterable[Game]) -> Iterator[tuple[int, str, list[Game]]]:
    """Seats, retailer and games of the markets of one kind."""
    found: dict[tuple[int, str], list[Game]] = {}
    for game in games:
        if len(game.company) == 1 and len(game.players) > 1:
            found.setdefault((len(game.players), game.company[0][0]), []).append(game)
    for (size, name), own in found.items():
        yield size, name, own


def _invasions(games: Iterable[Game]) -> Iterator[tuple[int, str, str, list[Game]]]:
    """Seats, the one, the many and the games of one among many."""
    found: dict[tuple[int, str, str], list[Game]] = {}
    for game in games:
        if len(game.company) == 2 and (len(game.players) > 2 or game.design == ONE_AMONG_MANY):
            for (one, seats), (many, _) in (game.company, game.company[::-1]):
                if seats == 1:
                    found.setdefault((len(game.players), one, many), []).append(game)
    for (size, one, many), own in found.items():
        yield size, one, many, own


def _invasion_sentence(figure: str, one: str, many: str, size: int) -> str:
    there = f"one {one} among {size - 1} {many}"
    return {
        "entrant": f"What the one gets: {there}.",
        "residents": f"What each of the many gets: {there}.",
        "advantage": f"What the one gets more than each of the many beside it: {there}.",
        "gain": f"What one of {size} {many} would gain by becoming {one}, the others as they are.",
        "loss": f"What each of the {many} gets less with one {one} than among themselves.",
    }[figure]


def _others(game: Game, seats: set[str]) -> list[str]:
    return [seat for seat in game.players if seat not in seats]


def _less(first: Game, second: Game, seats: Iterable[str]) -> float | None:
    """The mean over seats of the first game's outcome less the second's."""
    return mean(
        first.outcomes[seat] - second.outcomes[seat]
        for seat in seats
        if seat in first.outcomes and seat in second.outcomes
    )


def _market_less(first: Game, second: Game) -> float | None:
    return _minus(first.market, second.market)


def _minus(first: float | None, second: float | None) -> float | None:
    return None if first is None or second is None else first - second


def _about(market: About, **more: str | int) -> About:
    return {**market, **more}


def _count(number: int, one: str, many: str) -> str:
    return f"{number} {one if number == 1 else many}"
