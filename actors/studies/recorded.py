"""Plays a study whose retailers ask models: its episodes are those of a tournament.

Each has its journal and its calls, costs what it costs, is owed when a provider fails and is gone
on with when the study is resumed. What the tables are made of is then read from the journals, in
the parts that a packed study has.
"""

from __future__ import annotations

import asyncio
import hashlib
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from typing import Any

from actors.errors import UserError
from actors.progress.audience import Audience
from actors.run import play_all
from actors.studies.packing import references_of, rows_of, table_of
from actors.studies.registering import registered_in, taken_up
from actors.studies.sweep import Swept, write_part
from actors.tournament import JOURNAL
from market.config import Config
from market.config.plans import EpisodePlan
from market.journal import has_header, read
from market.storage import LOCAL, Storage
from market.study.sweeps.plan import Shard, Sweep, plans_of, unit_id

#: Longest name of an episode's folder, in characters.
MOST_NAME = 200

#: The episodes of a shard, each with the id of its cell; their ids name their folders.
Named = Callable[[Shard], Iterator[tuple[EpisodePlan, str]]]


def play_recorded(
    config: Config,
    out: Path,
    audience: Audience,
    resume: bool = False,
    storage: Storage = LOCAL,
    extend: bool = False,
) -> Swept:
    """Play what is left of a study, with a journal for each episode.

    Args:
        config: Its configuration.
        out: Folder for the results: new or empty, or that of the study to resume.
        audience: Who is told.
        resume: Go on where an earlier run of the same study ended.
        storage: Where the records are kept.
        extend: Give the study to resume the seeds and repetitions that are new.

    Raises:
        UserError: If something of the user's cannot work, before anything is played.
        market.journal.ConfigChangedError: If the study to resume was another.
    """
    whole = taken_up(config, out, resume, extend)
    assert config.study is not None
    if "encoder.model" in config.study.vary:
        raise UserError("`study.vary.encoder.model`: encoders can be varied among scripts only.")
    began = time.monotonic()
    with registered_in(out, whole, storage):
        named = _named(whole)
        plans = episodes(whole)
        ended = asyncio.run(play_all(config, plans, out, audience, storage))
        played = 0
        for shard in whole.shards:
            rows = [row for plan, cell in named(shard) for row in _rows(out, plan, cell)]
            if rows:
                write_part(out, shard.number, table_of(rows), storage)
            played += len({row["unit"] for row in rows})
    owed = [one.played.owed for one in ended if one.played is not None and one.played.owed]
    return Swept(
        whole,
        played,
        {one.plan.id: one.error for one in ended if one.error is not None},
        time.monotonic() - began,
        owed=owed[0] if owed else None,
    )


def episodes(whole: Sweep) -> list[EpisodePlan]:
    """The episodes of a study, each under the name of its folder."""
    named = _named(whole)
    return [plan for shard in whole.shards for plan, _ in named(shard)]


def _named(whole: Sweep) -> Named:
    plans = lru_cache(64)(lambda number: plans_of(whole.config, whole.cells[number]))

    def named(shard: Shard) -> Iterator[tuple[EpisodePlan, str]]:
        for unit in shard.units:
            cell = whole.cells[unit.cell]
            plan = plans(unit.cell)[unit.episode]
            yield replace(plan, id=_folder(unit_id(cell, plan.id))), cell.id

    return named


def _rows(out: Path, plan: EpisodePlan, cell: str) -> Iterator[dict[str, Any]]:
    """The rows of an episode that is finished; none of another."""
    journal = out / "episodes" / plan.id / JOURNAL
    result = read(journal).result if has_header(journal) else None
    if result is not None:
        yield from rows_of(plan.id, cell, plan, result, references_of(plan))


def _folder(name: str) -> str:
    if len(name) <= MOST_NAME:
        return name
    told = hashlib.blake2b(name.encode(), digest_size=6).hexdigest()
    return f"{name[: MOST_NAME - len(told) - 1]}-{told}"
