"""Plays the units of a shard, one after the other, in one process.

An episode is played by the code that plays any: `Retailers` build and ask the policies and bound
what they say, and what is parsed back from the text of an answer is what is applied. There is no
actor, no journal and no clock, so thousands fit into a process; a script has no deadline here, and
one that never returns is for whoever runs the sweep to end. `journal` records an episode as a run
would, for audits.
"""

from __future__ import annotations

import os
import traceback
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from actors.episode import ask_of, stage_of
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
    """

    number: int
    units: int
    table: pa.Table
    failures: Mapping[str, str] = field(default_factory=dict)
    memory: int = 0
    process: int = 0


class Packer:
    """Plays shards of one sweep.

    Args:
        config: The configuration of the study.
        facts: Who knows facts, by the name of the sentence encoder.
    """

    def __init__(self, config: Config, facts: Facts) -> None:
        assert config.study is not None
        self._config = config
        self._facts = lru_cache(None)(facts)
        self._cells = cells(config.study)
        self._plans = lru_cache(CELLS_AT_HAND)(lambda number: plans_of(config, self._cells[number]))
        self._references = lru_cache(CELLS_AT_HAND)(self._references_of)

    def play(self, shard: Shard) -> Packed:
        """Play a shard. A unit that fails by a bug costs no other.

        Raises:
            EncoderError: If a text cannot be encoded.
        """
        rows: list[dict[str, Any]] = []
        failures: dict[str, str] = {}
        for unit in shard.units:
            name = unit_id(self._cells[unit.cell], unit.episode)
            try:
                rows += self.rows(unit)
            except EncoderError:
                raise
            except Exception:
                failures[name] = traceback.format_exc()
        done = len(shard.units) - len(failures)
        return Packed(shard.number, done, table_of(rows), failures, memory(), os.getpid())

    def rows(self, unit: Unit) -> Iterator[dict[str, Any]]:
        """Play a unit and tell its results."""
        plan = self._plans(unit.cell)[unit.episode]
        result = play(plan, self._facts(plan.config.encoder.model))
        cell = self._cells[unit.cell]
        references = self._references(unit.cell, plan.preset, plan.roster)
        return rows_of(unit_id(cell, plan.id), cell.id, plan, result, references)

    def _references_of(self, cell: int, preset: str | None, roster: str) -> dict[str, float | None]:
        """What competition and a cartel would earn in a game."""
        game = (preset, roster)
        plans = self._plans(cell).values()
        return references_of(next(each for each in plans if (each.preset, each.roster) == game))


def play(plan: EpisodePlan, outside: Outside, journal: Path | None = None) -> Result:
    """Play one episode to its end.

    Args:
        plan: The episode; nobody in it asks a model.
        outside: Who knows facts.
        journal: Where to record it; nowhere if None.
    """
    config = recorded(plan.config)
    environment = build_environment(config)
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
            for seat, said in retailers.act(ask_of(scripted)).items():
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
