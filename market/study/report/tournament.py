"""What the page of many episodes shows: estimates with intervals, and what drawing needs.

Everything estimated is a line of `Findings`; here lines are only put beside each other. The primary
outcome comes first and every other section is exploratory. Where a design does not allow a section
the page has the sentence that says which design would.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from market.study.estimands.effects import CONDITIONAL
from market.study.estimands.findings import Findings
from market.study.estimands.games import ALIKE
from market.study.report.estimates import Table
from market.study.report.invasions import Invasion, invasions
from market.study.report.paths import Path, capital, indices, names
from market.study.report.sections import effects_lead, others, sections
from market.study.report.standings import Market, Standings, market_of, standings

if TYPE_CHECKING:
    from market.study.recording import Run


@dataclass(frozen=True, slots=True)
class TournamentView:
    """Everything that a page shows of many episodes.

    Attributes:
        name: The run's name.
        environment: Its environment.
        primary: The outcome that was named before it was played; None for none.
        outcome: The outcome that estimands are of.
        reference: Whom others are held against; empty where nobody.
        counts: Episodes begun, finished and valid.
        seeds: Seeds behind them.
        rosters: Different rosters.
        standings: Leaderboards.
        sections: Tables of estimates by the section that they belong to, of the market in detail
            where there are several designs.
        others: Those of other markets and designs.
        effects: What the tables of effects hold, by the design.
        invasions: Matrices of one among many.
        market: The market and design of which paths, indices and an episode are shown.
        capital: Net worth per retailer.
        indices: Market indices by name.
        points: Per retailer of known cost its name, cost, score and whether it is on the frontier.
        notes: What cannot be said of the run, and why.
    """

    name: str
    environment: str
    primary: str | None
    outcome: str
    reference: str
    counts: Mapping[str, int]
    seeds: int
    rosters: int
    standings: tuple[Standings, ...]
    sections: Mapping[str, Sequence[Table]]
    others: Mapping[str, Sequence[Table]] = field(default_factory=dict)
    effects: str = ""
    invasions: tuple[Invasion, ...] = ()
    market: Market = ("", "")
    capital: tuple[Path, ...] = ()
    indices: Mapping[str, Path] = field(default_factory=dict)
    points: tuple[tuple[str, float, float, bool], ...] = ()
    notes: tuple[str, ...] = ()

    def example(self, run: Run) -> str | None:
        """The first finished episode of the market and design that is shown in detail."""
        for episode in names(run, self.market)["episode"]:
            return str(episode)
        return None


def gather(run: Run, found: Findings) -> TournamentView:
    """Put a run's findings beside each other.

    Args:
        run: The recording.
        found: Its findings.
    """
    episodes = run.episodes
    market = _detailed(found)
    shown = sections(found, market)
    return TournamentView(
        name=found.name,
        environment=found.environment,
        primary=found.primary,
        outcome=found.outcome,
        reference=found.reference or "",
        counts=found.episodes,
        seeds=int(episodes["seed"].nunique()),
        rosters=int(episodes["roster"].nunique()),
        standings=tuple(standings(run, found)),
        sections=shown,
        others=others(found, market),
        effects=effects_lead(shown["effects"], found.reference or ""),
        invasions=tuple(invasions(found.of("invasion"))),
        market=market,
        capital=tuple(capital(run, market)),
        indices=indices(found.of("indices"), market),
        points=tuple(_points(found)),
        notes=tuple(note for note in found.notes if note != CONDITIONAL),
    )


def _detailed(found: Findings) -> Market:
    """The market and design of which paths are shown: one that treats all alike, if there is."""
    markets = list(dict.fromkeys(market_of(line) for line in found.of("indices")))
    markets += [market_of(line) for line in found.of("standings")]
    alike = [market for market in markets if market[1] in ALIKE]
    return (alike or markets or [("", "")])[0]


def _points(found: Findings) -> Iterable[tuple[str, float, float, bool]]:
    """Cost and score in the first market that has both."""
    costs = [line for line in found.of("frontier") if line.figure == "cost"]
    for line in costs:
        if market_of(line) != market_of(costs[0]) or line.estimate.value is None:
            continue
        name = str(line.about["retailer"])
        on, score = (
            next(
                (
                    each.estimate.value
                    for each in found.of(table)
                    if each.figure == figure
                    and each.about.get("retailer") == name
                    and market_of(each) == market_of(line)
                ),
                None,
            )
            for table, figure in (("frontier", "on the frontier"), ("standings", "mean"))
        )
        if score is not None:
            yield name, line.estimate.value, score, bool(on)
