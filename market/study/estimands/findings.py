"""All that a recorded run shows, as one list of lines.

    found = load("runs/scripted").findings(reference="markup")
    found.of("replacement")

The study file may name one primary outcome, before anything is played; the estimates of that are
primary, on the valid episodes, and every other line is exploratory. A run that named none has
exploratory lines only. What the design does not allow has no lines, and `notes` say which design
would.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from market.environment import Json
from market.study.estimands import dynamics, effects, frontier, validity
from market.study.estimands.effects import Measure
from market.study.estimands.finding import Finding, Selection
from market.study.estimands.games import Game
from market.study.estimands.pass_through import pass_through
from market.study.estimands.separability import separability
from market.study.estimands.strengths import strengths

if TYPE_CHECKING:
    import pandas as pd

    from market.study.recording import Run

#: The tables whose lines are estimates of an outcome, and may be primary.
ESTIMANDS = (
    "replacement", "externality", "self-play", "invasion", "standings", "separability", "ratings",
)  # fmt: skip

_DESIGNS = {
    "replacement": "no seat was played by the reference and by another with all else equal: add "
    "the design `replacement`",
    "self-play": "no market was of one kind alone: add the design `self-play`",
    "invasion": "no market was one among many: add the design `one-among-many`",
    "standings": "no design treats all retailers alike: add `all`, `latin` or `subsets`",
}


@dataclass(frozen=True, slots=True)
class Findings:
    """What a run shows.

    Attributes:
        name: The run's name.
        environment: Its environment.
        primary: The outcome that the study named before it was played; None where it named none.
        outcome: The outcome that the estimands are of.
        reference: The retailer that others were held against; None where no game allows it.
        episodes: Episodes begun, finished and valid.
        lines: All lines, in the order of their tables.
        notes: What cannot be said of this run, and why; a sentence each.
    """

    name: str
    environment: str
    primary: str | None
    outcome: str
    reference: str | None
    episodes: Mapping[str, int]
    lines: tuple[Finding, ...]
    notes: tuple[str, ...]

    def of(self, table: str, episodes: Selection = "valid") -> list[Finding]:
        """The lines of one table."""
        return [line for line in self.lines if line.table == table and line.episodes == episodes]

    @property
    def frame(self) -> pd.DataFrame:
        """All lines, one row each; see `frames.COLUMNS`."""
        import pandas as pd

        from market.study.frames import COLUMNS

        rows = [line.json() for line in self.lines]
        flat = [{**row, **row["estimate"]} for row in rows]
        return pd.DataFrame(flat, columns=list(COLUMNS["findings"]))

    def as_json(self) -> dict[str, Json]:
        """As plain data."""
        return {
            "name": self.name,
            "environment": self.environment,
            "primary": self.primary,
            "outcome": self.outcome,
            "reference": self.reference,
            "episodes": dict(self.episodes),
            "lines": [line.json() for line in self.lines],
            "notes": list(self.notes),
        }


def find(run: Run, outcome: str | None = None, reference: str | None = None) -> Findings:
    """Estimate all that a run's design allows.

    Args:
        run: The recording.
        outcome: What the estimands are of; the study's primary outcome where not given, and the
            score where it names none.
        reference: Whom others are held against; that of the first design `replacement` where not
            given, and the first retailer where there is none.

    Raises:
        market.study.recording.StudyError: If no finished episode has the outcome.
    """
    primary = _primary(run)
    outcome = outcome or primary or "score"
    reference = reference or _reference(run)
    lines = list(validity.validity(run))
    frame = run.episodes
    counted: dict[Selection, list[str]] = {
        "valid": frame[frame["valid"]]["episode"].tolist(),
        "all": frame[frame["finished"]]["episode"].tolist(),
    }
    found: list[Finding] = []
    for selection, episodes in counted.items():
        if selection == "all" and episodes == counted["valid"]:
            found += [replace(line, episodes=selection, primary=False) for line in found]
            break
        for line in _estimated(run, outcome, reference, episodes, selection == "valid"):
            named = selection == "valid" and line.table in ESTIMANDS and line.outcome == primary
            found.append(replace(line, episodes=selection, primary=named))
    lines += found
    return Findings(
        name=str(run.config.get("name") or run.folder.name),
        environment=run.kind.name,
        primary=primary,
        outcome=outcome,
        reference=reference,
        episodes={
            "begun": len(frame),
            "finished": len(counted["all"]),
            "valid": len(counted["valid"]),
        },
        lines=tuple(lines),
        notes=tuple(_notes(lines, len(frame), counted)),
    )


def estimands(games: Sequence[Game], reference: str, measure: Measure) -> Iterator[Finding]:
    """The estimands of some games; those of seats alone where the outcome is one of seats."""
    replaced = list(effects.replacement(games, reference, measure))
    if any(line.estimate.value is not None for line in replaced):
        yield from replaced
    yield from effects.self_play(games, measure)
    if any(game.market is not None for game in games):
        return
    yield from effects.presence(games, measure)
    yield from effects.invasion(games, measure)
    yield from effects.standings(games, measure)
    yield from separability(games, measure)
    yield from strengths(games, measure)


def _estimated(
    run: Run, outcome: str, reference: str, episodes: Sequence[str], valid: bool
) -> Iterator[Finding]:
    games = run.games(outcome, valid)
    unit = "score" if outcome == "score" else f"of `{outcome}`"
    yield from estimands(games, reference, Measure(outcome, unit))
    scored = games if outcome == "score" else run.games("score", valid)
    yield from frontier.frontier(scored, frontier.costs(run))
    if run.kind.gain:
        gained = run.games(run.kind.gain, valid)
        yield from frontier.gains(gained, frontier.costs(run), run.kind.gain)
    yield from frontier.shares(scored, frontier.yardsticks(run, scored))
    yield from frontier.references(run, scored)
    yield from dynamics.welfare(run, episodes)
    yield from pass_through(run, episodes)
    yield from dynamics.associations(run, episodes)
    yield from dynamics.indices(run, episodes)


def _primary(run: Run) -> str | None:
    study = run.config.get("study")
    primary = study.get("primary") if isinstance(study, Mapping) else None
    return None if primary is None else str(primary)


def _reference(run: Run) -> str:
    """Whom the configuration's design names, or else its first retailer."""
    section = run.config.get("study") or run.config.get("tournament") or {}
    named = [
        str(design["reference"])
        for design in section.get("rosters", ())
        if isinstance(design, Mapping) and design.get("reference")
    ]
    return named[0] if named else str(run.config["retailers"][0]["name"])


def _notes(
    lines: Iterable[Finding], begun: int, counted: Mapping[Selection, Sequence[str]]
) -> Iterator[str]:
    tables = {line.table for line in lines}
    for table, why in _DESIGNS.items():
        if table not in tables:
            yield f"There are no lines of `{table}`, for {why}."
    if any(line.sentence == effects.CONDITIONAL for line in lines):
        yield effects.CONDITIONAL
    if left := begun - len(counted["all"]):
        yield f"{left} of {begun} episodes are not finished and count nowhere but in the rates."
    if spoilt := len(counted["all"]) - len(counted["valid"]):
        yield (
            f"In {spoilt} finished episodes a provider left a seat unanswered; they are left out "
            "of what counts valid episodes."
        )
