"""What difference a study can detect, before anything is spent."""

from __future__ import annotations

from pathlib import Path

from actors.errors import UserError
from actors.roster import distinct_models, roster
from actors.studies.packing import Packer, table_of
from actors.studies.registering import planned
from actors.studies.sweep import refuse_unknown
from actors.studies.vectors import facts_here
from market.config import Config
from market.config.tournament import Seeds
from market.study.statistics import power
from market.study.sweeps import outcomes, pilot
from market.study.sweeps.pilot import Scatter
from market.study.sweeps.plan import Sweep, Unit, plans_of


def told_power(config: Config, folder: Path | None = None) -> str:
    """Say what difference of the primary outcome a study can detect.

    Args:
        config: Its configuration.
        folder: Results of an earlier study or run that show how far seeds scatter; without them,
            and without `study.power.deviation`, a few other seeds are played by the scripts.

    Raises:
        UserError: If nothing shows how far they scatter.
    """
    whole = planned(config)
    study = config.study
    assert study is not None
    plans = plans_of(config, whole.cells[0]).values()
    games = {(plan.preset, plan.roster) for plan in plans}
    seeds = len({plan.seed for plan in plans})
    if outcomes.of_cell(study.primary):
        raise UserError(
            f"`{study.primary}` is a figure of a whole cell, not of a seed; name a primary outcome "
            "of episodes to reckon with."
        )
    if folder is not None:
        scatter = pilot.of_folder(folder, study.primary)
        known = scatter.told
    elif study.power.deviation is not None:
        scatter = Scatter(study.power.deviation, 0, paired=True)
        known = f"deviation {scatter.deviation:,.4g}, as configured"
    else:
        scatter = _played(whole)
        known = f"{scatter.told}, played by the scripts of the roster"
    comparisons = max(1, (len(whole.cells) - 1) * len(games))
    sentence = power.told(
        scatter.deviation, seeds, power=study.power.share, comparisons=comparisons
    )
    return f"Primary outcome {study.primary}: {known}.\n{sentence}"


def _played(whole: Sweep) -> Scatter:
    """Play the first cell and the last on seeds that the study does not have."""
    config, study = whole.config, whole.config.study
    assert study is not None
    plans = plans_of(config, whole.cells[0]).values()
    if distinct_models(roster(next(iter(plans)).config)):
        raise UserError(
            "the roster asks models, so a pilot would cost money; name earlier results with "
            "--pilot, or set `study.power.deviation`."
        )
    refuse_unknown(whole)
    seeds = Seeds(first=max(plan.seed for plan in plans) + 1, count=study.power.pilot_seeds)
    changed = study.model_copy(update={"seeds": seeds, "repetitions": 1})
    other = config.model_copy(update={"study": changed})
    packer = Packer(other, facts_here)
    # The ends of the design differ most, and one market and roster stands for all.
    first = next(iter(plans))
    rows = [
        row
        for cell in dict.fromkeys((0, len(whole.cells) - 1))
        for name, plan in plans_of(other, whole.cells[cell]).items()
        if (plan.preset, plan.roster) == (first.preset, first.roster)
        for row in packer.rows(Unit(cell, name, 0))
    ]
    table = table_of(rows).to_pandas()
    values = outcomes.of_episodes(table, [study.primary])[study.primary]
    return pilot.of_episodes(values, "the pilot")
