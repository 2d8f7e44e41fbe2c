"""Plays a study of scripts into a folder: thousands of episodes, packed into a few processes.

    DIR/study.json       the question and the plan with its SHA-256, before the first episode
    DIR/config.json      the configuration, re-runnable
    DIR/parts/           one Parquet file per shard, there once it is whole
    DIR/errors/          what failed, by shard; such a shard has no part and is played on resuming
    DIR/tables/          units.parquet, cells.parquet
    DIR/summary.json, DIR/report.html

The driver alone writes. A part is all that is remembered of a shard, so a sweep that was killed
goes on with the shards that have none.
"""

from __future__ import annotations

import io
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Protocol

from actors.errors import UserError
from actors.roster import distinct_models, roster
from actors.run import write_json
from actors.studies.packing import Outside, Packed, Packer, play
from actors.studies.registering import CONFIG, STUDY, ends, planned, registered_in, taken_up
from market import variables
from market.config import Config, configure, documents
from market.config.cells import cells
from market.config.loading import configured
from market.config.plans import EpisodePlan
from market.environment import OUTSIDE, Answer, Decision, Result
from market.storage import LOCAL, Storage
from market.study.sweeps import concluding, outcomes
from market.study.sweeps.concluding import Conclusion
from market.study.sweeps.plan import Shard, Sweep


class Progress(Protocol):
    """Who is told how far a sweep is."""

    def started(self, units: int, done: int) -> None:
        """It begins, or goes on where so many units were played before."""
        ...

    def played(self, units: int) -> None:
        """So many more units were played."""
        ...


@dataclass(frozen=True, slots=True)
class Swept:
    """What a sweep left.

    Attributes:
        sweep: Its plan.
        played: Units of which there are results.
        failures: For each unit that failed by a bug, in this run, the last line of what it said.
        seconds: Wall time of playing.
        memory: For each process that played, bytes after its first and after its last shard.
        owed: Why an episode waits for its provider; None when none does.
        apart: For each unit over which a worker died, in this run, what came of playing it apart.
    """

    sweep: Sweep
    played: int
    failures: dict[str, str] = field(default_factory=dict)
    seconds: float = 0.0
    memory: tuple[tuple[int, int], ...] = ()
    owed: str | None = None
    apart: dict[str, str] = field(default_factory=dict)


def sweep(
    config: Config,
    out: Path,
    progress: Progress,
    resume: bool = False,
    storage: Storage = LOCAL,
    extend: bool = False,
) -> Swept:
    """Play what is left of a study of scripts.

    Args:
        config: Its configuration.
        out: Folder for the results: new or empty, or that of the sweep to resume.
        progress: Who is told.
        resume: Go on where an earlier sweep of the same configuration ended.
        storage: Where study, configuration and parts are kept.
        extend: Give the sweep to resume the seeds and repetitions that are new.

    Raises:
        UserError: If something of the user's cannot work, before anything is written.
        market.journal.ConfigChangedError: If the sweep to resume had another configuration.
        market.study.recording.StudyError: If it cannot be extended so.
    """
    whole = taken_up(config, out, resume, extend)
    if asks_models(config):
        raise UserError(f"{config.name} has retailers that ask models, which cannot be packed.")
    if not (resume and storage.exists(out / STUDY)):
        refuse_unknown(whole)
    with registered_in(out, whole, storage):
        names = storage.names(out / "parts")
        done = {name.partition(".")[0] for name in names if name.endswith(".parquet")}
        todo = [shard for shard in whole.shards if shard.name not in done]
        return _play(whole, todo, out, progress, storage)


def conclude(swept: Swept, folder: Path) -> Conclusion | None:
    """Write tables, summary and page of a sweep; None where nothing was played.

    Args:
        swept: What was played.
        folder: Its folder.
    """
    conclusion = concluding.conclude(swept.sweep, folder)
    if conclusion is not None:
        summary = {**conclusion.summary, "play_seconds": round(swept.seconds, 3)}
        write_json(folder / "summary.json", summary)
    return conclusion


def retell(folder: Path) -> Path:
    """Make tables and page of a study anew from its parts, and return the page.

    Raises:
        UserError: If nothing was played yet.
    """
    config = configure(documents.read(folder / CONFIG), str(folder / CONFIG))
    if concluding.conclude(planned(config, folder), folder) is None:
        raise UserError(f"{folder} holds no played episode yet; go on with it by --resume.")
    return folder / "report.html"


def _play(
    whole: Sweep, todo: Sequence[Shard], out: Path, progress: Progress, storage: Storage
) -> Swept:
    before = whole.units - sum(len(shard.units) for shard in todo)
    progress.started(whole.units, before)
    failures: dict[str, str] = {}
    apart: dict[str, str] = {}
    held: dict[int, list[int]] = {}
    began = time.monotonic()
    played = before
    with _place(whole, todo) as place:
        for packed in place.play(todo):
            held.setdefault(packed.process, []).append(packed.memory)
            apart |= packed.notes
            errors = out / "errors" / f"part-{packed.number:05}.txt"
            if packed.failures:
                failures |= {unit: text.splitlines()[-1] for unit, text in packed.failures.items()}
                storage.make_folder(errors.parent)
                told = "\n".join(f"{unit}\n{text}" for unit, text in packed.failures.items())
                storage.write(errors, told.encode(errors="replace"))
                continue
            write_part(out, packed.number, packed.table, storage)
            storage.remove(errors)
            played += packed.units
            progress.played(packed.units)
    seconds = time.monotonic() - began
    memory = tuple((each[0], each[-1]) for each in held.values())
    return Swept(whole, played, failures, seconds, memory, apart=apart)


class _Here:
    """Plays shards in this process."""

    def __init__(self, config: Config) -> None:
        from actors.studies.vectors import facts_here

        self._packer = Packer(config, facts_here)

    def play(self, shards: Sequence[Shard]) -> Iterator[Packed]:
        for shard in shards:
            yield self._packer.play(shard)


@contextmanager
def _place(whole: Sweep, todo: Sequence[Shard]) -> Iterator[Any]:
    """Where shards are played: in this process if the configuration says so, else on Ray."""
    config = whole.config
    if config.inline or not todo:
        yield _Here(config)
        return
    from actors.cluster import connected

    with connected(config.address):
        from actors.studies.pool import Pool

        known: dict[str, str] = {}
        for each in ends(whole):
            known |= variables.held(each.config.kind, each.config.rules)
        yield Pool(config, len(todo), known)


def asks_models(config: Config) -> bool:
    """Whether a retailer of any cell asks a model, so that episodes cannot be packed."""
    study = config.study
    if study is None:
        return False
    varied = any(key.startswith("retailers") for key in study.vary)
    made = cells(study)
    return any(
        distinct_models(roster(configured(config, cell))) for cell in (made if varied else made[:1])
    )


def refuse_unknown(whole: Sweep) -> None:
    """Play one unit to see whether there are the outcomes that are asked.

    It is played without an encoder, and by nobody's policies: they may hang or end this process.

    Raises:
        UserError: If one is not there.
    """
    study = whole.config.study
    assert study is not None
    packer = Packer(whole.config, lambda _: _nothing_known, _play_idly)
    rows = list(packer.rows(whole.shards[0].units[0]))
    columns = {column for row in rows for column in row}
    retailers = [retailer.name for retailer in whole.config.retailers]
    for outcome in study.told:
        if (what := outcomes.problem(outcome, columns, retailers)) is not None:
            where = "primary" if outcome == study.primary else "outcomes"
            raise UserError(f"`study.{where}`: {what}.")


def _play_idly(plan: EpisodePlan, outside: Outside) -> Result:
    """Play an episode in which nobody does anything; its results have the same names."""
    nobody = {"policy": "idle", "options": {}}
    idle = [retailer.model_copy(update=nobody) for retailer in plan.config.retailers]
    config = plan.config.model_copy(update={"retailers": idle})
    return play(replace(plan, config=config), outside)


def _nothing_known(decision: Decision) -> Answer:
    """Facts as good as any for an episode whose results nobody reads."""
    if decision.seat != OUTSIDE or decision.kind != "similarities":
        return Answer(decision.form.example)
    asked = decision.observation.private
    rows = [[0] * len(asked["references"]) for _ in asked["texts"]]
    return Answer({"similarities": rows, "convergence": None})


def write_part(out: Path, number: int, table: Any, storage: Storage) -> None:
    """Write what was played of a shard; it is there whole or not at all."""
    import pyarrow.parquet as pq

    buffer = io.BytesIO()
    pq.write_table(table, buffer, compression="zstd")
    storage.write(out / "parts" / f"part-{number:05}.parquet", buffer.getvalue())
