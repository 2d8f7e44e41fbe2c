"""Plays forks: finds the recorded episode, begins its journals and resumes them as a run does."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from actors.errors import UserError
from actors.progress.audience import Audience
from actors.run import RunOutcome, run
from actors.tournament import JOURNAL, header_of
from market.config import Config, configure, documents
from market.config.overrides import override
from market.config.plans import EpisodePlan, expand
from market.journal import has_header, read
from market.study.interventions.fork import Outlook, begin
from market.study.statistics.estimates import Estimate


def recorded_episode(
    folder: Path, episode: str | None, overrides: Sequence[str] = ()
) -> tuple[Config, Path]:
    """An episode of a run: its configuration, with what the header leaves out, and its journal.

    Args:
        folder: Folder of the run.
        episode: Id of the episode; needed where there are several.
        overrides: `key=value` for the configuration, of which only what is operational may change.

    Raises:
        UserError: If there is no such episode, or several and none is named.
        market.config.ConfigError: If its configuration is refused.
    """
    known = sorted(path.parent.name for path in folder.glob(f"episodes/*/{JOURNAL}"))
    if not known:
        raise UserError(f"{folder} holds no recorded episode; name the folder of a run.")
    if episode is None and len(known) > 1:
        raise UserError(
            f"{folder} holds {len(known)} episodes; name one with --episode, such as {known[0]}."
        )
    name = episode or known[0]
    if name not in known:
        raise UserError(f"{folder} holds no episode `{name}`; there are {', '.join(known[:20])}.")
    journal = folder / "episodes" / name / JOURNAL
    values = _values(folder, name, journal)
    for text in overrides:
        _, values = override(values, text)
    return configure(values, f"the configuration of {name}"), journal


def begun(config: Config, journal: Path, out: Path) -> tuple[EpisodePlan, ...]:
    """Begin the journals of an arm of a fork, as far as they are not; a run goes on with them.

    Args:
        config: The arm, from `market.study.interventions.fork.arms`.
        journal: The recorded episode.
        out: Folder of the arm.

    Raises:
        market.replay.ReplayError: If the recording does not come to the step.
    """
    plans = expand(config)
    for plan in plans:
        target = out / "episodes" / plan.id / JOURNAL
        if not has_header(target):
            begin(journal, target, header_of(plan))
    return plans


def play(config: Config, journal: Path, out: Path, audience: Audience) -> RunOutcome:
    """Play an arm of a fork, or what is left of it.

    Args:
        config: The arm, from `market.study.interventions.fork.arms`.
        journal: The recorded episode.
        out: Folder of the arm.
        audience: Who is told.

    Raises:
        UserError: As `run`.
        market.replay.ReplayError: As `begun`.
    """
    begun(config, journal, out)
    return run(config, out, audience, resume=True)


def _values(folder: Path, episode: str, journal: Path) -> dict[str, object]:
    """What the episode was configured with: from the run's file, or else from the journal."""
    path = folder / "config.json"
    if path.exists():
        for plan in expand(configure(documents.read(path), str(path))):
            if plan.id == episode:
                return plan.config.model_dump(mode="json")
    return dict(read(journal).header.config)


def as_text(found: Sequence[Outlook]) -> str:
    """What each seat comes to, as a table for people."""
    swapped = any(each.swapped for each in found)
    heads = ["seat", "recorded", "forked", *(["swapped", "difference"] if swapped else [])]
    rows = [heads]
    for each in found:
        recorded = "unfinished" if each.recorded is None else f"{each.recorded:,.0f}"
        cells = [each.seat, recorded, _interval(each.original)]
        rows.append(
            cells + ([_interval(each.swapped), _interval(each.difference)] if swapped else [])
        )
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = [
        "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True))
        for row in rows
    ]
    return "".join(f"{line.rstrip()}\n" for line in lines)


def _interval(estimate: Estimate | None) -> str:
    if estimate is None or estimate.value is None:
        return "undefined"
    if estimate.low is None or estimate.high is None:
        return f"{estimate.value:,.0f}"
    return f"{estimate.value:,.0f} [{estimate.low:,.0f}, {estimate.high:,.0f}]"
