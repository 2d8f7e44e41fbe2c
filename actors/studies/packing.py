"""Plays the units of a shard, one after the other, in one process.

An episode is played by the code that plays any: `Retailers` build and ask the policies and bound
what they say, and what is parsed back from the text of an answer is what is applied. There is no
actor and no journal, so thousands fit into a process. Where the process is only there to play, a
script that does not answer in time ends it (`deadline`), and whoever gave it the shard plays that
episode apart (`actors.studies.apart`). `journal` records an episode as a run would, for audits.
"""

from __future__ import annotations

import os
import signal
import traceback
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from actors.episode import ask_of, stage_of
from actors.language.redaction import know_all, known_keys, redacted
from actors.retailer import Retailers
from actors.roster import roster
from embeddings import EncoderError
from market import canonical, registry
from market.config import Config, recorded, rules, seat_ids
from market.config.cells import cells
from market.config.plans import EpisodePlan
from market.environment import OUTSIDE, Answer, ContractError, Decision, NoAction, Result
from market.journal import Header, JournalWriter
from market.language import Request
from market.replay import build_environment
from market.study.sweeps.plan import Shard, Unit, plans_of, unit_id

if TYPE_CHECKING:
    import pyarrow as pa

#: Cells whose episodes are kept at hand.
CELLS_AT_HAND = 64

#: Columns of a part that hold no figure.
_WORDS = ("unit", "cell", "preset", "roster", "seat", "retailer", "undefined")
_NUMBERS = ("seed", "repetition")

#: Knows facts from outside the market.
Outside = Callable[[Decision], Answer]
#: Gives who knows them by the sentence encoder of a name.
Facts = Callable[[str], Outside]
#: Plays an episode to its end.
Player = Callable[[EpisodePlan, Outside], Result]


@dataclass(frozen=True, slots=True)
class Packed:
    """A shard that was played.

    Attributes:
        number: Its number.
        units: Units that were played to their end.
        table: One row per seat and one per episode (`rows_of`).
        failures: For each unit that failed by a bug, its id and the traceback.
        memory: Bytes that the process held afterwards.
        process: Its id.
        notes: For each unit that was played apart, what was noted of it.
    """

    number: int
    units: int
    table: pa.Table
    failures: Mapping[str, str] = field(default_factory=dict)
    memory: int = 0
    process: int = 0
    notes: Mapping[str, str] = field(default_factory=dict)


class Packer:
    """Plays shards of one sweep.

    Args:
        config: The configuration of the study.
        facts: Who knows facts, by the name of the sentence encoder.
        player: Plays each episode; `play` where not given.
    """

    def __init__(self, config: Config, facts: Facts, player: Player | None = None) -> None:
        assert config.study is not None
        know_all([retailer.options for retailer in config.retailers])
        self._config = config
        self._player = player or play
        self._facts = lru_cache(None)(facts)
        self._cells = cells(config.study)
        self._plans = lru_cache(CELLS_AT_HAND)(lambda number: plans_of(config, self._cells[number]))
        self._references = lru_cache(CELLS_AT_HAND)(self._references_of)

    def play(self, shard: Shard, player: Player | None = None) -> Packed:
        """Play a shard, perhaps by another player. A unit that fails by a bug costs no other.

        Raises:
            EncoderError: If a text cannot be encoded.
        """
        rows: list[dict[str, Any]] = []
        failures: dict[str, str] = {}
        for unit in shard.units:
            name = unit_id(self._cells[unit.cell], unit.episode)
            try:
                rows += self.rows(unit, player)
            except EncoderError:
                raise
            except Exception:
                failures[name] = redacted(traceback.format_exc(), known_keys())
        done = len(shard.units) - len(failures)
        return Packed(shard.number, done, table_of(rows), failures, memory(), os.getpid())

    def rows(self, unit: Unit, player: Player | None = None) -> Iterator[dict[str, Any]]:
        """Play a unit and tell its results."""
        plan = self._plans(unit.cell)[unit.episode]
        result = (player or self._player)(plan, self._facts(plan.config.encoder.model))
        cell = self._cells[unit.cell]
        references = self._references(unit.cell, plan.preset, plan.roster)
        return rows_of(unit_id(cell, plan.id), cell.id, plan, result, references)

    def _references_of(self, cell: int, preset: str | None, roster: str) -> dict[str, float | None]:
        """What competition and a cartel would earn in a game."""
        game = (preset, roster)
        plans = self._plans(cell).values()
        return references_of(next(each for each in plans if (each.preset, each.roster) == game))


def joined(pieces: Sequence[Packed]) -> Packed:
    """A shard that was played in pieces, from these in the order of its units."""
    if len(pieces) == 1:
        return pieces[0]
    import pyarrow as pa

    last = pieces[-1]
    return Packed(
        last.number,
        sum(piece.units for piece in pieces),
        pa.concat_tables([piece.table for piece in pieces], promote_options="default"),
        {unit: text for piece in pieces for unit, text in piece.failures.items()},
        last.memory,
        last.process,
        {unit: note for piece in pieces for unit, note in piece.notes.items()},
    )


def play(
    plan: EpisodePlan, outside: Outside, journal: Path | None = None, deadline: bool = False
) -> Result:
    """Play one episode to its end.

    Args:
        plan: The episode; nobody in it asks a model.
        outside: Who knows facts.
        journal: Where to record it; nowhere if None.
        deadline: Whether this process ends when the scripts take longer than `deadline_seconds`.
    """
    config = recorded(plan.config)
    seconds = plan.config.deadline_seconds if deadline else 0.0
    environment = build_environment(config)
    with _ending_after(seconds):
        retailers = Retailers([seat.casting for seat in roster(plan.config)], stage_of(environment))
    writer = None
    if journal is not None:
        header = Header.of(config, plan.config.kind.rules_version, plan.id)
        writer = JournalWriter.create(journal, header)
    asked = environment.start()
    while asked:
        given: dict[str, Answer | NoAction] = {}
        scripted = [decision for decision in asked if decision.seat != OUTSIDE]
        if scripted:
            with _ending_after(seconds):
                outcomes = retailers.act(ask_of(scripted))
            for seat, said in outcomes.items():
                if isinstance(said, Request):
                    raise ContractError(f"seat {seat} asks a model; play the study as a tournament")
                given[seat] = said.parsed
        for decision in asked:
            if decision.seat == OUTSIDE:
                given[OUTSIDE] = outside(decision)
        if writer is not None:
            writer.append(asked, given)
        asked = environment.apply(given)
    if writer is not None:
        writer.finish(environment.result)
    return environment.result


@contextmanager
def _ending_after(seconds: float) -> Iterator[None]:
    """End this process unless the block ends in so many seconds; 0 for never.

    The kernel does that, so a policy that never lets Python have its way is ended as well.
    """
    if not seconds:
        yield
        return
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)


def references_of(plan: EpisodePlan) -> dict[str, float | None]:
    """What an episode's results are held against, in an environment that says so."""
    config = plan.config
    if not config.kind.references:
        return {}
    found = registry.load(config.kind.references)(rules(config), len(seat_ids(config)))
    return {f"reference.{name}": value for name, value in found.items()}


def rows_of(
    unit: str,
    cell: str,
    plan: EpisodePlan,
    result: Result,
    references: Mapping[str, float | None],
) -> Iterator[dict[str, Any]]:
    """The results of an episode: a row per seat, and one of the seat `outside` for the whole.

    Columns are `unit`, `cell`, `preset`, `roster`, `seed`, `repetition`, `seat`, `retailer`,
    `undefined` (JSON: why a figure is null), `score` and each metric of a seat; the row of the
    whole has `market.NAME` for its totals and `reference.NAME` for what it is held against.
    """
    keys = {
        "unit": unit,
        "cell": cell,
        "preset": plan.preset,
        "roster": plan.roster,
        "seed": plan.seed,
        "repetition": plan.repetition,
    }
    for retailer in plan.config.retailers:
        for seat in retailer.seats:
            ended = result.seats[seat]
            why = canonical.dumps(dict(ended.undefined)) if ended.undefined else None
            told = {"seat": seat, "retailer": retailer.retailer, "undefined": why}
            yield {**keys, **told, "score": ended.score, **ended.metrics}
    totals = {f"market.{name}": value for name, value in result.totals.items()}
    told = {"seat": OUTSIDE, "retailer": None, "undefined": None}
    yield {**keys, **told, "score": None, **totals, **references}


def table_of(rows: Sequence[Mapping[str, Any]]) -> pa.Table:
    """Rows as a table; a column that a row lacks is null there."""
    import pyarrow as pa

    def kind(column: str) -> Any:
        if column in _WORDS:
            return pa.string()
        return pa.int64() if column in _NUMBERS else pa.float64()

    columns = dict.fromkeys((*_WORDS[:4], *_NUMBERS, *_WORDS[4:]))
    columns |= dict.fromkeys(column for row in rows for column in row)
    return pa.table(
        {name: pa.array([row.get(name) for row in rows], kind(name)) for name in columns}
    )


def memory() -> int:
    """Bytes that this process holds in memory."""
    with open("/proc/self/statm") as told:
        return int(told.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")
