"""From a checked configuration to a folder of results."""

from __future__ import annotations

import asyncio
import json
import os
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from actors.budget import budget_of, owners
from actors.collecting import relaxed
from actors.errors import UserError
from actors.places import crowded, inline, on_ray
from actors.progress.audience import Audience
from actors.roster import Seat, distinct_models, roster
from actors.summary import summarise
from actors.tournament import CALLS, JOURNAL, Ended, Tournament, finished, header_of
from market import variables
from market.calls import read_calls
from market.config import Config, resolved, seat_ids
from market.config.plans import EpisodePlan, expand
from market.environment import Json
from market.journal import has_header
from market.language import ModelSettings
from market.storage import LOCAL, Storage

#: Memory of a retailer's process, and episodes per core where models are waited for.
PROCESS_BYTES = 130 * 2**20
EPISODES_PER_CORE = 4


@dataclass(frozen=True, slots=True)
class RunOutcome:
    """What a run left.

    Attributes:
        folder: Where.
        summary: What `summary.json` holds; None while episodes are owed.
        owed: Why an episode could not go on; None when none waits.
        failed: For each episode that failed, what failed.
    """

    folder: Path
    summary: dict[str, Json] | None
    owed: str | None
    failed: tuple[str, ...] = ()


def run(
    config: Config,
    out: Path,
    audience: Audience,
    resume: bool = False,
    storage: Storage = LOCAL,
) -> RunOutcome:
    """Play what a configuration asks for and write the results.

    Args:
        config: The configuration.
        out: Folder for the results: new or empty, or that of the run to resume.
        audience: Who is told.
        resume: Go on where an earlier run of the same configuration ended.
        storage: Where the records are kept; what is made of them is left in the folder.

    Raises:
        UserError: If something of the user's cannot work, before anything is written.
        market.journal.ConfigChangedError: If the run to resume had another configuration.
    """
    began = time.monotonic()
    if config.study is not None:
        raise UserError(f"{config.name} is a study; play it with `market study`.")
    if resume and not (out / "episodes").exists():
        raise UserError(f"{out} holds no run to resume; leave out --resume.")
    ended = asyncio.run(play_all(config, expand(config), out, audience, storage))
    owed = [one.played.owed for one in ended if one.played is not None and one.played.owed]
    failed = tuple(one.error for one in ended if one.error is not None)
    if owed or not any((out / "episodes").glob(f"*/{JOURNAL}")):
        return RunOutcome(out, None, owed[0] if owed else None, failed)
    seconds = time.monotonic() - began
    with relaxed():
        summary = _conclude(config, out, roster(config), seconds, failed)
    if summary is not None:
        audience.finished(summary)
    return RunOutcome(out, summary, None, failed)


async def play_all(
    config: Config, plans: Sequence[EpisodePlan], out: Path, audience: Audience, storage: Storage
) -> list[Ended]:
    """Play what is not finished; a place is only made if anything is left to play.

    Args:
        config: What they have in common: where they are played, and what models may take.
        plans: The episodes.
        out: Folder for the results.
        audience: Who is told.
        storage: Where the records are kept.
    """
    todo = [
        plan
        for plan in plans
        if not finished(out / "episodes" / plan.id / JOURNAL, header_of(plan))
    ]
    for plan in todo:
        if plan.config.fork and not has_header(out / "episodes" / plan.id / JOURNAL):
            raise UserError(f"{plan.id} goes on from a recording; play it by `market fork`.")
    if not todo:
        return []
    refuse_unset(todo)
    budget = budget_of(config)
    for plan in plans:
        budget.count(read_calls(out / "episodes" / plan.id / CALLS), owners(plan.config))
    models: list[ModelSettings] = []
    for plan in todo:
        seats = roster(plan.config)
        crowded(plan.config, -(-len(seats) // plan.config.retailers_per_actor))
        models += [one for one in distinct_models(seats) if one not in models]
    place = inline if config.inline and len(todo) == 1 else on_ray
    facts = any(plan.config.kind.facts for plan in todo)
    async with place(config, models, facts) as there:
        out.mkdir(parents=True, exist_ok=True)
        write_json(out / "config.json", resolved(config), storage)
        at_once = sum(episodes_at_once(todo, *machine) for machine in machines(config))
        tournament = Tournament(
            todo, out, there, at_once, audience.watch, audience.ended, storage, budget
        )
        return await tournament.play()


def refuse_unset(plans: Sequence[EpisodePlan]) -> None:
    """Refuse episodes that cannot be built for want of an environment variable.

    Raises:
        UserError: If one is not set.
    """
    for config in {id(plan.config.rules): plan.config for plan in plans}.values():
        if (problem := variables.problem(config.kind, config.rules)) is not None:
            raise UserError(problem)


def _conclude(
    config: Config, out: Path, seats: Sequence[Seat], seconds: float, failed: Sequence[str]
) -> dict[str, Json] | None:
    from market.study.report import Gathered, write_report
    from market.tables import write_tables

    if failed and len(failed) == len(expand(config)):
        return None
    gathered = Gathered()
    write_tables(out, gathered.play)
    described = [
        {"seat": seat.casting.seat, "policy": seat.policy, "model": seat.model} for seat in seats
    ]
    summary = summarise(out, config, described, seconds)
    write_json(out / "summary.json", summary)
    write_report(out, gathered=gathered)
    return summary


def machines(config: Config) -> list[tuple[int, int]]:
    """Cores and bytes of memory of each machine that episodes are played on."""
    if config.address is None:
        memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
        return [(len(os.sched_getaffinity(0)), memory)]
    from actors.ray_actors import nodes

    return [(max(1, int(node.cores)), int(node.memory)) for node in nodes()]


def episodes_at_once(plans: Sequence[EpisodePlan], cores: int, memory: int) -> int:
    """How many episodes to play at the same time on a machine: what it carries.

    Scripts keep a core busy each. Models are waited for, so memory is the bound there.
    """
    seats = max(len(seat_ids(plan.config)) for plan in plans)
    waiting = any(distinct_models(roster(plan.config)) for plan in plans)
    if all(plan.config.inline for plan in plans) and not waiting:
        return cores
    size = max(plan.config.retailers_per_actor for plan in plans)
    processes = -(-seats // size)
    carried = max(1, int(memory / 2 / ((processes + 2) * PROCESS_BYTES)))
    return min(carried, len(plans), cores * (EPISODES_PER_CORE if waiting else 1))


def write_json(path: Path, data: Json, storage: Storage = LOCAL) -> None:
    """Write a file for people and programs; it appears whole or not at all."""
    text = json.dumps(data, indent=2, ensure_ascii=False) + "\n"
    storage.write(path, text.encode())
