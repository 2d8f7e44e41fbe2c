"""From a checked configuration to a folder of results."""

from __future__ import annotations

import asyncio
import json
import os
import time
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from actors.budget import budget_of, owners
from actors.collecting import relaxed
from actors.errors import UserError
from actors.places import crowded, inline, on_ray
from actors.progress.audience import Audience
from actors.roster import Seat, distinct_models, roster
from actors.summary import summarise
from actors.tournament import AS_BEGUN, CALLS, JOURNAL, Ended, Tournament, header_of, unfinished
from market import variables
from market.calls import CallLogError, read_calls
from market.config import Config, resolved, seat_ids
from market.config.plans import EpisodePlan, expand
from market.config.spending import Limits
from market.environment import Json
from market.journal import ConfigChangedError, JournalReader, has_header
from market.language import ModelSettings
from market.storage import LOCAL, Lock, LockedError, Storage

CONFIG, SUMMARY = "config.json", "summary.json"

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
        failed: For each episode that failed, or whose records are damaged, what is wrong.
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
        market.storage.LockedError: If another command plays there.
    """
    if config.study is not None:
        raise UserError(f"{config.name} is a study; play it with `market study`.")
    if resume and not storage.names(out):
        raise UserError(f"{out} holds no run to resume; leave out --resume.")
    with alone_in(out, storage) as lock:
        # Who was killed before the first episode left nothing but a lock that was taken before.
        if resume and lock.epoch == 1 and not (out / "episodes").exists():
            raise UserError(f"{out} holds no run to resume; name another folder with --out.")
        return _play(config, out, audience, storage)


def _play(config: Config, out: Path, audience: Audience, storage: Storage) -> RunOutcome:
    began = time.monotonic()
    plans = expand(config)
    refuse_another(plans, out, storage)
    ended = asyncio.run(play_all(config, plans, out, audience, storage))
    owed = [one.played.owed for one in ended if one.played is not None and one.played.owed]
    failed = tuple(one.error for one in ended if one.error is not None)
    if owed or not any((out / "episodes").glob(f"*/{JOURNAL}")):
        return RunOutcome(out, None, owed[0] if owed else None, failed)
    # Who plays nothing takes no time of play; who goes on adds to what there was.
    seconds = _seconds_before(out) + (time.monotonic() - began if ended else 0.0)
    with relaxed():
        summary, left_out = _conclude(config, out, roster(config), seconds, failed)
    if summary is not None:
        audience.finished(summary)
    told = {one.plan.id for one in ended if one.error is not None}
    failed += tuple(why for episode, why in left_out.items() if episode not in told)
    return RunOutcome(out, summary, None, failed)


@contextmanager
def alone_in(out: Path, storage: Storage = LOCAL) -> Iterator[Lock]:
    """Hold the folder of a run, so that no other command plays there.

    It is made if need be, and removed again if nothing came into it.

    Raises:
        market.storage.LockedError: If another command holds it.
    """
    new = [folder for folder in (out, *out.parents) if not folder.exists()]
    try:
        storage.make_folder(out)
        try:
            lock = storage.lock(out / CONFIG)
        except LockedError as error:
            raise LockedError(
                f"Another command plays in {out}; wait until it has ended, or name another folder "
                "with --out."
            ) from error
        try:
            yield lock
        finally:
            lock.release(remove=True)
    finally:
        for folder in new:
            with suppress(OSError):  # something is in it
                folder.rmdir()


def refuse_another(plans: Sequence[EpisodePlan], out: Path, storage: Storage = LOCAL) -> None:
    """Refuse a folder in which other episodes were begun, and none of these.

    Raises:
        ConfigChangedError: If it is one.
    """
    journals = [out / "episodes" / name / JOURNAL for name in storage.names(out / "episodes")]
    begun = [path for path in journals if has_header(path, storage)]
    if not begun or {path.parent.name for path in begun} & {plan.id for plan in plans}:
        return
    with closing(JournalReader(begun[0], storage)) as reader:
        keys = reader.header.differences(header_of(plans[0]))
    named = tuple(key for key in keys if key != "episode")
    raise ConfigChangedError(begun[0], named or ("tournament",), AS_BEGUN)


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
    todo = unfinished(plans, out, storage)
    for plan in todo:
        if plan.config.fork and not has_header(out / "episodes" / plan.id / JOURNAL, storage):
            raise UserError(f"{plan.id} goes on from a recording; play it by `market fork`.")
    if not todo:
        return []
    refuse_unset(todo)
    budget = budget_of(config)
    for plan in plans:
        try:
            log = read_calls(out / "episodes" / plan.id / CALLS, storage)
        except CallLogError as error:
            if not limited(config):
                continue  # whoever goes on with the episode says so; the others are played
            raise UserError(
                f"{error}, so nobody knows how much of the budget is spent; put the file back as "
                "it was, or go on without a budget."
            ) from error
        budget.count(log, owners(plan.config))
    models: list[ModelSettings] = []
    for plan in todo:
        seats = roster(plan.config)
        crowded(plan.config, -(-len(seats) // plan.config.retailers_per_actor))
        models += [one for one in distinct_models(seats) if one not in models]
    place = inline if config.inline and len(todo) == 1 else on_ray
    facts = any(plan.config.kind.facts for plan in todo)
    async with place(config, models, facts) as there:
        write_json(out / CONFIG, resolved(config), storage)
        at_once = sum(episodes_at_once(todo, *machine) for machine in machines(config))
        tournament = Tournament(
            plans, out, there, at_once, audience.watch, audience.ended, storage, budget
        )
        return await tournament.play(todo)


def limited(config: Config) -> bool:
    """Whether there is a budget: of the run, or of a retailer."""
    budgets = [config.budget, *(retailer.budget for retailer in config.retailers)]
    return any(budget != Limits() for budget in budgets)


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
) -> tuple[dict[str, Json] | None, dict[str, str]]:
    """Write tables, summary and page; returns the summary, and what the tables leave out."""
    from market.study.report import Gathered, write_report
    from market.tables import write_tables

    if failed and len(failed) == len(expand(config)):
        return None, {}
    gathered = Gathered()
    left_out = write_tables(out, gathered.play).left_out
    described = [
        {"seat": seat.casting.seat, "policy": seat.policy, "model": seat.model} for seat in seats
    ]
    summary = summarise(out, config, described, seconds)
    write_json(out / SUMMARY, summary)
    write_report(out, gathered=gathered)
    return summary, left_out


def _seconds_before(out: Path) -> float:
    """Seconds of play that the run's last summary tells; 0 where there is none."""
    try:
        return float(json.loads((out / SUMMARY).read_text(encoding="utf-8"))["wall_seconds"])
    except (OSError, ValueError, TypeError, KeyError):
        return 0.0


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
