"""What is made of a sweep once its parts are there: tables, summary and page."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from market.study.sweeps import gathering
from market.study.sweeps.contrasts import Told, row, tell, write_cells
from market.study.sweeps.gathering import Gathered
from market.study.sweeps.page import write_sweep_report
from market.study.sweeps.plan import Sweep, registered
from market.study.sweeps.published import beside


@dataclass(frozen=True, slots=True)
class Conclusion:
    """What a sweep came to.

    Attributes:
        summary: What `summary.json` holds, without what the run itself took.
        told: Every outcome in every game.
    """

    summary: dict[str, Any]
    told: Sequence[Told]


def conclude(sweep: Sweep, folder: Path) -> Conclusion | None:
    """Write tables and page of what was played; None where nothing was.

    Args:
        sweep: The plan.
        folder: Its folder, with the parts that were played.
    """
    study = sweep.config.study
    assert study is not None
    if not gathering.parts(folder):
        return None
    gathered, told = tabulate(sweep, folder)
    settings = {cell.id: cell.settings for cell in sweep.cells}
    seeds = gathered.episodes.index.get_level_values("seed")
    summary = {
        "name": sweep.config.name,
        "environment": sweep.config.environment,
        "primary": study.primary,
        "primary_and_plan_sha256": registered(sweep.config).config_digest,
        "amendments": [each.json() for each in sweep.amendments],
        "units": sweep.units,
        "played": len(gathered.episodes),
        "cells": len(sweep.cells),
        "seeds": int(seeds.nunique()),
        "outcomes": [row(line, settings[line.cell]) for line in told],
        "published": [
            {
                "outcome": each.outcome,
                "ours": each.ours,
                "published": each.published,
                "sentence": each.sentence,
            }
            for each in beside(told, study.published)
        ],
    }
    write_sweep_report(sweep, gathered, told, summary, folder)
    return Conclusion(summary, told)


def tabulate(sweep: Sweep, folder: Path) -> tuple[Gathered, Sequence[Told]]:
    """Write the tables of what was played, and return what they are made of.

    Args:
        sweep: The plan.
        folder: Its folder, with one part at least.

    Raises:
        market.study.recording.StudyError: If a part cannot be read.
    """
    study = sweep.config.study
    assert study is not None
    gathering.write_units(sweep, folder)
    gathered = gathering.gather(folder, study.told)
    told = tell(sweep, gathered)
    write_cells(sweep, told, folder)
    return gathered, told
