"""What profit costs, and how much of what could be had was had.

*Cost* is what the models of a retailer's seats took, in US dollars. A script costs nothing and is
known to. The cost of a retailer is unknown if that of one of its calls is: a call that the provider
did not count, or that was lost after it was sent. What is unknown is never 0: such a retailer is
on no frontier and rules nobody out of it. Only designs that treat all retailers alike count.

*Share of bound minus floor* is (score - floor) / (bound - floor), with the floor and bounds that
the environment names (`market.study.yardsticks`), as a ratio of means over seats.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from market import registry
from market.calls import Outcome
from market.study.estimands.finding import Cells, Finding
from market.study.estimands.games import Game, by_market, comparable, mean, retailers
from market.study.statistics.estimates import Estimate
from market.study.statistics.intervals import ratio

if TYPE_CHECKING:
    import pandas as pd

    from market.study.recording import Run
    from market.study.yardsticks import Rows, Yardsticks

#: Episode and seat.
Place = tuple[str, str]

#: The model that runs here and costs nothing.
FREE = "local"

_COST = "US dollars that its models took, per seat and episode."
_PER_DOLLAR = "Mean score per seat over mean cost per seat: not the mean of single ratios."
_GAIN = "Mean gain per seat over mean cost per seat: not the mean of single ratios."
_ON = (
    "1 if no retailer of known cost has a better mean score for as little, or as good a one for "
    "less; 0 if one has."
)
_SHARE = "Score less floor, over the most that the seat could have had less floor."
_COMPUTED = "it is computed from the rules and has no interval"
_UNKNOWN = "the cost of some of its calls is unknown"


def costs(run: Run) -> dict[Place, float | None]:
    """What the models of each seat took in each episode, in US dollars; None where unknown.

    Seats that called no model are not there: they cost 0.
    """
    names = ["episode", "step", "turn", "seat", "attempt", "outcome", "model", "cost_usd"]
    rows = run.table("calls", names)
    replied = rows["outcome"] == str(Outcome.REPLIED)
    last = ~rows.duplicated(["episode", "step", "turn", "seat", "attempt"], keep="last")
    lost = rows["outcome"] == str(Outcome.LOST)
    lost |= last & (rows["outcome"] == str(Outcome.SENT))
    found: dict[Place, float | None] = {}
    taken = rows[replied | (lost & (rows["model"] != FREE))]
    for place, own in taken.groupby(["episode", "seat"]):
        known = own["cost_usd"].notna().all()
        episode, seat = place
        found[str(episode), str(seat)] = float(own["cost_usd"].sum()) if known else None
    return found


def frontier(games: Sequence[Game], spent: Mapping[Place, float | None]) -> Iterator[Finding]:
    """Per retailer its cost, its score per dollar, and whether it is on the cost-score frontier.

    Args:
        games: Games with scores.
        spent: What each seat cost in each episode; 0 where it is not there.
    """
    for market, own in comparable(games):
        points: dict[str, tuple[float, float]] = {}
        for name in retailers(own):
            scored, paid, unknown = _summed(own, name, spent)
            about = {**market, "retailer": name}
            cost_of = Estimate.missing(_UNKNOWN) if unknown else paid.estimate("no games")
            yield Finding("frontier", "cost", "", about, cost_of, "USD", _COST)
            per_dollar = Estimate.missing(_UNKNOWN) if unknown else _per_dollar(scored, paid)
            yield Finding(
                "frontier", "score per dollar", "score", about, per_dollar, "score per USD",
                _PER_DOLLAR,
            )  # fmt: skip
            score = mean(scored.seeds.values())
            if cost_of.value is not None and score is not None:
                points[name] = cost_of.value, score
        for name in retailers(own):
            yield Finding(
                "frontier", "on the frontier", "score", {**market, "retailer": name},
                _on_frontier(name, points), "yes or no", _ON,
            )  # fmt: skip


def gains(
    games: Sequence[Game], spent: Mapping[Place, float | None], metric: str
) -> Iterator[Finding]:
    """Per retailer what it gained per US dollar, where a score is not what was gained.

    Args:
        games: Games with the metric as their outcome.
        spent: What each seat cost in each episode; 0 where it is not there.
        metric: The metric of gains.
    """
    for market, own in comparable(games):
        for name in retailers(own):
            gained, paid, unknown = _summed(own, name, spent)
            per_dollar = Estimate.missing(_UNKNOWN) if unknown else _per_dollar(gained, paid)
            yield Finding(
                "frontier", f"{metric} per dollar", metric, {**market, "retailer": name},
                per_dollar, f"{metric} per USD", _GAIN,
            )  # fmt: skip


def pareto(points: Mapping[str, tuple[float, float]]) -> set[str]:
    """Who is on the frontier of (cost, score): nobody is as good in both and better in one."""
    return {
        name
        for name, (cost, score) in points.items()
        if not any(
            other_cost <= cost
            and other_score >= score
            and (other_cost, other_score) != (cost, score)
            for other_cost, other_score in points.values()
        )
    }


def yardsticks(run: Run, games: Sequence[Game]) -> dict[str, Yardsticks]:
    """What the scores of each game that compares are held against.

    Empty where the environment names nothing.
    """
    if not run.kind.bounds:
        return {}
    compute = registry.load(run.kind.bounds)
    model = registry.load(run.kind.rules)
    tables = _Tables(run)
    return {
        game.episode: compute(
            model.model_validate(run.seatings[game.episode].config["rules"]),
            tuple(game.players),
            game.seed,
            tables.of(game.episode),
        )
        for _, own in comparable(games)
        for game in sorted(own, key=lambda game: game.seed)
    }


def shares(games: Sequence[Game], held: Mapping[str, Yardsticks]) -> Iterator[Finding]:
    """Per retailer the share of bound minus floor."""
    for market, own in comparable(games):
        for name in retailers(own):
            above, room = Cells(), Cells()
            reasons: dict[str, None] = {}
            for game in own:
                stick = held.get(game.episode)
                if stick is None:
                    continue
                for seat, score in game.outcomes.items():
                    if game.players[seat] == name and seat in stick.bounds:
                        above.add(game.seed, "all", score - stick.floor)
                        room.add(game.seed, "all", stick.bounds[seat] - stick.floor)
                    elif game.players[seat] == name:
                        reasons[stick.undefined] = None
            missing = next(iter(reasons), "the environment names no bound")
            share = (
                ratio(list(above.seeds.values()), list(room.seeds.values()))
                if above.values
                else Estimate.missing(missing)
            )
            yield Finding(
                "bounds", "share of bound minus floor", "score",
                {**market, "retailer": name}, share, "share", _SHARE,
            )  # fmt: skip


def references(run: Run, games: Sequence[Game]) -> Iterator[Finding]:
    """Scores per seat in markets worth comparing with, where the environment names any."""
    if not run.kind.references:
        return
    compute = registry.load(run.kind.references)
    model = registry.load(run.kind.rules)
    for market, own in by_market(games):
        for size, game in {len(game.players): game for game in own}.items():
            rules = model.model_validate(run.seatings[game.episode].config["rules"])
            for name, value in compute(rules, size).items():
                reason = "undefined in this market" if value is None else _COMPUTED
                yield Finding(
                    "bounds", name, "score", {**market, "seats": size},
                    Estimate.missing(reason, value=value), "score",
                    "What a seat would come to in a market worth comparing with.",
                )  # fmt: skip


def _summed(
    games: Sequence[Game], name: str, spent: Mapping[Place, float | None]
) -> tuple[Cells, Cells, bool]:
    """Outcomes of a retailer, what its seats cost, and whether some of the cost is unknown."""
    scored, paid, unknown = Cells(), Cells(), False
    for game in games:
        seats = [seat for seat, player in game.players.items() if player == name]
        cost = [spent.get((game.episode, seat), 0.0) for seat in seats]
        unknown |= None in cost
        scored.add(game.seed, game.company, game.of(name))
        paid.add(game.seed, game.company, mean(each for each in cost if each is not None))
    return scored, paid, unknown


def _per_dollar(scored: Cells, paid: Cells) -> Estimate:
    scores, dollars = scored.seeds, paid.seeds
    seeds = [seed for seed in scores if seed in dollars]
    if not any(dollars[seed] for seed in seeds):
        return Estimate.missing("it cost nothing", blocks=len(seeds))
    return ratio([scores[seed] for seed in seeds], [dollars[seed] for seed in seeds])


def _on_frontier(name: str, points: Mapping[str, tuple[float, float]]) -> Estimate:
    if name not in points:
        return Estimate.missing("its mean cost or score is unknown")
    on = float(name in pareto(points))
    return Estimate.missing("a yes or no by means has no interval", value=on)


class _Tables:
    """Rows of tables by episode, each table read once."""

    def __init__(self, run: Run) -> None:
        self._run = run
        self._read: dict[str, tuple[pd.DataFrame, Mapping[Any, Any]]] = {}

    def of(self, episode: str) -> Rows:
        """The rows of an episode."""
        return partial(self._rows, episode)

    def _rows(self, episode: str, table: str) -> pd.DataFrame:
        if table not in self._read:
            frame = self._run.table(table)
            self._read[table] = frame, frame.groupby("episode").indices
        frame, places = self._read[table]
        return frame.take(places.get(episode, ()))
