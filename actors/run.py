"""Runs one episode from a checked configuration to a folder of results."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

from actors.correspondence import Correspondence
from actors.driver import Driver, Played
from actors.errors import UserError
from actors.places import crowded, inline, on_ray
from actors.roster import Seat, distinct_models, may_cost, roster
from actors.staging import Script, grouped
from actors.summary import summarise
from actors.watch import Plan, Watcher
from market.calls import CallLog, read_calls
from market.config import Config, recorded, resolved, rules
from market.environment import Json
from market.journal import Header, JournalWriter, read


@dataclass(frozen=True, slots=True)
class RunOutcome:
    """What a run left.

    Attributes:
        folder: Where.
        summary: What `summary.json` holds; None when the episode is owed.
        owed: Why the episode could not go on; None when it is finished.
    """

    folder: Path
    summary: dict[str, Json] | None
    owed: str | None


def run(config: Config, out: Path, watcher: Watcher, resume: bool = False) -> RunOutcome:
    """Play the episode of a configuration and write its results.

    Args:
        config: The configuration.
        out: Folder for the results: new or empty, or that of the run to resume.
        watcher: Who is told.
        resume: Go on where an earlier run of the same configuration ended.

    Raises:
        UserError: If something of the user's cannot work, before anything is written.
        market.journal.ConfigChangedError: If the run to resume had another configuration.
    """
    began = time.monotonic()
    seats = roster(config)
    header = Header.of(recorded(config), config.kind.rules_version, f"seed-{config.seed}")
    folder = out / "episodes" / header.episode
    if not (resume and _is_finished(folder / "journal.jsonl", header)):
        crowded(config, -(-len(seats) // config.retailers_per_actor))
        played = asyncio.run(_play(config, seats, header, folder, out, watcher, resume))
        if played.owed is not None:
            return RunOutcome(out, None, played.owed)
    seconds = time.monotonic() - began
    return RunOutcome(out, _conclude(config, out, seats, seconds, watcher), None)


async def _play(
    config: Config,
    seats: Sequence[Seat],
    header: Header,
    folder: Path,
    out: Path,
    watcher: Watcher,
    resume: bool,
) -> Played:
    steps = int(getattr(rules(config), "steps", 0))
    place = inline if config.inline else on_ray
    script = Script(
        config=header.config,
        castings=grouped([seat.casting for seat in seats], config.retailers_per_actor),
        begin=header.digest,
        deadline=config.deadline_seconds,
    )
    async with place(config, distinct_models(seats)) as there:
        with ExitStack() as stack:
            folder.mkdir(parents=True, exist_ok=True)
            begin = JournalWriter.reopen if resume else JournalWriter.create
            journal = stack.enter_context(
                begin(folder / "journal.jsonl", header, durable=may_cost(seats))
            )
            write_json(out / "config.json", resolved(config))
            earlier = read_calls(folder / "calls.jsonl")
            log = stack.enter_context(CallLog(folder / "calls.jsonl"))
            watcher.started(
                Plan(
                    config.name,
                    config.environment,
                    tuple((seat.casting.seat, seat.policy, seat.model) for seat in seats),
                    steps,
                )
            )
            driver = Driver(
                lambda: there.open(script),
                journal,
                Correspondence(header.episode, log, there.language, earlier),
                watcher,
                steps,
                suspend=config.on_provider_failure == "suspend",
            )
            return await driver.play()


def _is_finished(journal: Path, header: Header) -> bool:
    """Whether a journal is whole; then only what is made of it may be missing."""
    if not journal.exists():
        if not journal.parent.parent.exists():
            raise UserError(f"{journal.parents[2]} holds no run to resume; leave out --resume.")
        return False
    if b"\n" not in journal.open("rb").readline():
        return False
    found = read(journal)
    if keys := found.header.differences(header):
        from market.journal import ConfigChangedError

        raise ConfigChangedError(journal, keys)
    return found.result is not None


def _conclude(
    config: Config, out: Path, seats: Sequence[Seat], seconds: float, watcher: Watcher
) -> dict[str, Json]:
    from market.study.report import write_report
    from market.tables import write_tables

    write_tables(out)
    described = [
        {"seat": seat.casting.seat, "policy": seat.policy, "model": seat.model} for seat in seats
    ]
    summary = summarise(out, config, described, seconds)
    write_json(out / "summary.json", summary)
    write_report(out)
    watcher.finished(summary)
    return summary


def write_json(path: Path, data: Json) -> None:
    """Write a file for people and programs; it appears whole or not at all."""
    text = json.dumps(data, indent=2, ensure_ascii=False) + "\n"
    part = path.with_name(path.name + ".part")
    part.write_text(text, encoding="utf-8")
    part.replace(path)
