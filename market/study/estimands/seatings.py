"""Who plays each recorded episode: from the plan of the tournament, or from the journal's header.

Only the plan knows which retailer of the pool plays a neutral seat, so a tournament is read with
its plan, and a folder of journals alone takes each entry of a header for a retailer.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path

from pydantic import ValidationError

from market.config.complaints import invalid
from market.config.plans import EpisodePlan, PlanError, expand
from market.config.schema import Config, parse, recorded
from market.config.sources import Layer
from market.environment import Json
from market.journal import Header, JournalReader
from market.registry import UnknownNameError
from market.seats import entry_seats
from market.study.frames import Seating
from market.study.recording import StudyError


def seatings(config: Mapping[str, Json], journals: Iterable[Path]) -> dict[str, Seating]:
    """The seating of each journal's episode, by its id.

    Args:
        config: The configuration of the run.
        journals: The journals, each in a folder named by its episode.

    Raises:
        StudyError: If the configuration is none of this version.
        market.journal.JournalError: If a header that is needed is damaged.
    """
    plans = _plans(config)
    found = {}
    for path in journals:
        episode = path.parent.name
        plan = plans.get(episode)
        found[episode] = _of_header(path) if plan is None else _of_plan(plan)
    return found


def _plans(config: Mapping[str, Json]) -> dict[str, EpisodePlan]:
    if not config.get("tournament"):
        return {}
    try:
        played = parse(Config, {**config, "study": None})  # which only says what is asked of it
        return {plan.id: plan for plan in expand(played)}
    except (ValidationError, PlanError, UnknownNameError) as error:
        why: Exception = error
        if isinstance(error, ValidationError):
            why = invalid(error, Config, config, (), [Layer("config.json", config)])
        raise StudyError(f"its configuration is none of this version: {why}") from error


def _of_plan(plan: EpisodePlan) -> Seating:
    entries = plan.config.retailers
    return Seating(
        preset=plan.preset,
        roster=plan.roster,
        design=plan.design,
        seed=plan.seed,
        repetition=plan.repetition,
        names={seat: entry.retailer for entry in entries for seat in entry.seats},
        policies={seat: entry.policy for entry in entries for seat in entry.seats},
        models={seat: _model(entry.options) for entry in entries for seat in entry.seats},
        config=recorded(plan.config),
    )


def _of_header(path: Path) -> Seating:
    reader = JournalReader(path)
    reader.close()
    header: Header = reader.header
    entries = [(entry, entry_seats(entry)) for entry in header.config["retailers"]]
    return Seating(
        preset=None,
        roster="all",
        design="all",
        seed=header.seed,
        repetition=1,
        names={seat: str(entry["name"]) for entry, seats in entries for seat in seats},
        policies={seat: str(entry["policy"]) for entry, seats in entries for seat in seats},
        models={
            seat: _model(entry.get("options", {})) for entry, seats in entries for seat in seats
        },
        config=header.config,
    )


def _model(options: Mapping[str, Json]) -> str | None:
    model = options.get("model")
    return None if model is None else str(model)
