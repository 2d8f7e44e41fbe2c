"""Plays many episodes, some of them at once, and goes on where an earlier run ended.

Each episode keeps its own record and knows nothing of the others. One that fails leaves an
`error.txt` beside its journal and never stops the rest; one that is owed is gone on with when the
run is resumed. Nothing but the records says how far a tournament is: there is no other state.
"""

from __future__ import annotations

import asyncio
import traceback
from collections.abc import Callable, Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from pathlib import Path

from actors.budget import Budget, owners
from actors.correspondence import Correspondence
from actors.driver import Driver, Played
from actors.language.redaction import known_keys, redacted
from actors.places import Place
from actors.progress.watch import Plan, Watcher
from actors.roster import Seat, may_cost, roster
from actors.staging import Script, grouped
from market import variables
from market.calls import CallLog, CallLogError, read_calls
from market.config import recorded, rules
from market.config.plans import EpisodePlan
from market.journal import (
    ConfigChangedError,
    Header,
    JournalError,
    JournalWriter,
    has_header,
    read,
)
from market.storage import LOCAL, LockedError, Storage

JOURNAL, CALLS, ERROR = "journal.jsonl", "calls.jsonl", "error.txt"

#: What mends a configuration that is not the one that a folder was begun with.
AS_BEGUN = "leave them as they were, or name another folder with --out"


@dataclass(frozen=True, slots=True)
class Ended:
    """How an episode of a tournament ended for this run.

    Attributes:
        plan: The episode.
        played: Its result, or why it is owed; None when it failed.
        error: What failed, in one line; None when nothing did.
    """

    plan: EpisodePlan
    played: Played | None
    error: str | None = None


class Tournament:
    """Many episodes.

    Args:
        plans: The episodes, in the order in which they are begun.
        folder: Folder of the run; each episode has a folder of its own below `episodes`.
        place: Where they are played.
        at_once: Episodes that are played at the same time.
        watch: Gives the watcher of an episode.
        told: Is told how each episode ended.
        storage: Where the records are.
        budget: What models may take in all; None for no limit.
    """

    def __init__(
        self,
        plans: Sequence[EpisodePlan],
        folder: Path,
        place: Place,
        at_once: int,
        watch: Callable[[EpisodePlan], Watcher],
        told: Callable[[Ended], None] = lambda _: None,
        storage: Storage = LOCAL,
        budget: Budget | None = None,
    ) -> None:
        self._plans = plans
        self._folder = folder
        self._place = place
        self._slots = asyncio.Semaphore(at_once)
        self._watch = watch
        self._told = told
        self._storage = storage
        self._budget = budget

    async def play(self, left: Sequence[EpisodePlan] | None = None) -> list[Ended]:
        """Play every episode that is not finished.

        Args:
            left: These, where somebody has looked already.

        Raises:
            ConfigChangedError: If an episode was begun with another configuration; before
                anything is played.
        """
        if left is None:
            left = unfinished(self._plans, self._folder, self._storage)
        async with asyncio.TaskGroup() as group:
            tasks = [group.create_task(self._episode(plan)) for plan in left]
        return [task.result() for task in tasks]

    def journal(self, plan: EpisodePlan) -> Path:
        """Where the journal of an episode is."""
        return self._folder / "episodes" / plan.id / JOURNAL

    async def _episode(self, plan: EpisodePlan) -> Ended:
        async with self._slots:
            error = self.journal(plan).with_name(ERROR)
            try:
                self._storage.remove(error)
                ended = Ended(plan, await self._play(plan))
            except (LockedError, JournalError, CallLogError) as told:
                ended = Ended(plan, None, str(told))
            except Exception as failure:
                # A bug of one environment or policy must not cost the other episodes.
                keys = known_keys()
                with suppress(OSError):  # the disk may be what failed
                    trace = redacted(traceback.format_exc(), keys)
                    self._storage.write(error, trace.encode("utf-8", "replace"))
                what = redacted(f"{type(failure).__name__}: {failure}", keys)
                ended = Ended(plan, None, f"{what} (see {error})")
            self._told(ended)
            return ended

    async def _play(self, plan: EpisodePlan) -> Played:
        config, header = plan.config, header_of(plan)
        seats = roster(config)
        folder = self.journal(plan).parent
        self._storage.make_folder(folder)
        script = script_of(plan, header, seats)
        watcher = self._watch(plan)
        with ExitStack() as stack:
            journal = stack.enter_context(
                JournalWriter.reopen(folder / JOURNAL, header, may_cost(seats), self._storage)
            )
            earlier = read_calls(folder / CALLS, self._storage)
            log = stack.enter_context(CallLog(folder / CALLS, storage=self._storage))
            steps = int(getattr(rules(config), "steps", 0))
            watcher.started(
                Plan(
                    config.name,
                    config.environment,
                    tuple((seat.casting.seat, seat.policy, seat.model) for seat in seats),
                    steps,
                )
            )
            driver = Driver(
                lambda: self._place.open(script),
                journal,
                Correspondence(
                    plan.id, log, self._place.language, earlier, self._budget, owners(config)
                ),
                watcher,
                steps,
                suspend=config.on_provider_failure == "suspend",
                decisions=getattr(rules(config), "decisions_per_seat", 0) * len(seats) or None,
            )
            return await driver.play()


def header_of(plan: EpisodePlan) -> Header:
    """The header of an episode's journal."""
    return Header.of(recorded(plan.config), plan.config.kind.rules_version, plan.id)


def script_of(plan: EpisodePlan, header: Header, seats: Sequence[Seat]) -> Script:
    """What a market must know to play an episode."""
    config = plan.config
    size = len(seats) if config.inline else config.retailers_per_actor
    return Script(
        config=header.config,
        castings=grouped([seat.casting for seat in seats], size),
        begin=header.digest,
        deadline=config.deadline_seconds,
        inline=config.inline,
        variables=variables.held(config.kind, config.rules),
    )


def unfinished(
    plans: Sequence[EpisodePlan], folder: Path, storage: Storage = LOCAL
) -> list[EpisodePlan]:
    """The episodes of a run that are left to play; its folder is `folder`.

    Raises:
        ConfigChangedError: If one was begun with another configuration.
    """
    return [
        plan
        for plan in plans
        if not finished(folder / "episodes" / plan.id / JOURNAL, header_of(plan), storage)
    ]


def finished(journal: Path, header: Header, storage: Storage = LOCAL) -> bool:
    """Whether a journal is whole.

    Raises:
        ConfigChangedError: If it was begun with another configuration.
    """
    if not has_header(journal, storage):
        return False
    try:
        found = read(journal, storage)
    except JournalError:
        return False  # whoever goes on with it says what is wrong; the other episodes are played
    if keys := found.header.differences(header):
        raise ConfigChangedError(journal, keys, AS_BEGUN)
    return found.result is not None
