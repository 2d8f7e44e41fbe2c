"""The simulator finds what it is there to find: mistakes planted into the real code."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import pytest

import actors.correspondence
from actors.budget import Budget
from actors.correspondence import Correspondence
from actors.driver import Driver
from actors.episode import Episode
from actors.hosts import ProcessHost
from actors.language.gate import _Share
from actors.retailer import Outcome, Silent
from actors.simulation.disk import PretendedAppender
from actors.simulation.games import VARIANTS
from actors.simulation.runs import Verdict, simulate, undisturbed
from market.calls import CallLog
from market.environment import Cause
from market.journal import JournalWriter

SEEDS = 500

Patch = pytest.MonkeyPatch


def lose_a_journal_line(patch: Patch) -> None:
    """The second writer of a journal skips its first line."""
    write = JournalWriter._write

    def skipping(self: JournalWriter, body: str) -> None:
        if self.epoch != 2 or hasattr(self, "skipped") or "config_digest" in body:
            write(self, body)
        self.skipped = True  # type: ignore[attr-defined]

    patch.setattr(JournalWriter, "_write", skipping)


def double_a_call(patch: Patch) -> None:
    """A call under way is not joined."""
    call = Correspondence._call

    async def alone(self: Correspondence, wanted: Any) -> Any:
        if wanted.key in self._paid:
            return self._paid[wanted.key]
        task = asyncio.ensure_future(call(self, wanted))
        self._under_way[(0, 0, str(id(task)), 0)] = task
        return await asyncio.shield(task)

    patch.setattr(Correspondence, "answer", alone)


def drop_a_decision(patch: Patch) -> None:
    """The last seat that is asked again after a death is taken for late."""
    one_by_one = ProcessHost._one_by_one

    async def dropping(self: ProcessHost, seats: Sequence[str]) -> Mapping[str, Outcome]:
        return {**await one_by_one(self, seats), seats[-1]: Silent(Cause.LATE)}

    patch.setattr(ProcessHost, "_one_by_one", dropping)


def forget_paid_answers(patch: Patch) -> None:
    """A run that resumes does not read what it paid for."""
    patch.setattr(actors.correspondence, "paid_replies", lambda _: {})


def forget_lost_calls(patch: Patch) -> None:
    """A run that resumes does not record what was lost."""
    patch.setattr(actors.correspondence, "unsettled", lambda _: {})


def forget_memories(patch: Patch) -> None:
    """A fresh process is given no past."""

    async def nothing(*_: Any) -> None:
        return None

    patch.setattr(ProcessHost, "_restore", nothing)


def use_answers_before_they_are_synced(patch: Patch) -> None:
    """The log is written, but not synced."""

    def lazy(self: CallLog, file: Any, entries: Any) -> None:
        write(self, _Unsynced(file), entries)

    write = CallLog._write
    patch.setattr(CallLog, "_write", lazy)


def keep_torn_lines(patch: Patch) -> None:
    """What a writer that died left is not cut."""
    patch.setattr(PretendedAppender, "truncate", lambda *_: None)


def blame_seats_for_a_death(patch: Patch) -> None:
    """The first death of a process is held against its seats."""
    replace = ProcessHost._replace

    async def blaming(self: ProcessHost) -> None:
        await replace(self)
        self._deadline = 0.0

    patch.setattr(ProcessHost, "_replace", blaming)


def send_before_the_intent(patch: Patch) -> None:
    """A request is sent while its intent is still being written."""
    send = Correspondence._send

    async def hasty(self: Correspondence, wanted: Any, hold: Any) -> Any:
        await self._language.complete(wanted.request)
        return await send(self, wanted, hold)

    patch.setattr(Correspondence, "_send", hasty)


def lose_a_reply(patch: Patch) -> None:
    """A market is not given the replies to re-asks."""
    supply = Episode.supply

    async def losing(self: Episode, replies: Mapping[Any, Any]) -> None:
        await supply(self, {key: reply for key, reply in replies.items() if key[3] == 0})

    patch.setattr(Episode, "supply", losing)


def leave_calls_behind(patch: Patch) -> None:
    """Calls under way are not waited for in the end."""

    async def nothing(*_: Any) -> None:
        return None

    patch.setattr(Correspondence, "close", nothing)


def apply_before_recording(patch: Patch) -> None:
    """The last batch that was gathered is applied and not recorded when a market dies."""
    recorded = Driver._recorded
    patch.setattr(Driver, "_recorded", lambda self: recorded(self)[:-1])


def give_busy_processes_away(patch: Patch) -> None:
    """A process that hangs over the decision of one episode is cast for another."""

    async def leave(self: ProcessHost) -> Any:
        return self._process

    patch.setattr(ProcessHost, "leave", leave)


def spend_without_counting(patch: Patch) -> None:
    """What calls cost is not counted."""
    patch.setattr(Budget, "_spend", lambda *_: None)


def forget_what_was_spent(patch: Patch) -> None:
    """A run that resumes does not read what was spent before."""
    patch.setattr(Budget, "count", lambda *_: None)


def grant_what_others_hold(patch: Patch) -> None:
    """A gate forgets that others use what it granted them."""
    patch.setattr(_Share, "held", property(lambda _: 0))


class _Unsynced:
    """An appender that never syncs."""

    def __init__(self, file: Any) -> None:
        self._file = file
        self.size = file.size
        self.truncate = file.truncate
        self.close = file.close

    def append(self, data: bytes, sync: bool) -> None:
        self._file.append(data, sync=False)


PLANTED: tuple[Callable[[Patch], None], ...] = (
    lose_a_journal_line,
    double_a_call,
    drop_a_decision,
    forget_paid_answers,
    forget_lost_calls,
    forget_memories,
    use_answers_before_they_are_synced,
    keep_torn_lines,
    blame_seats_for_a_death,
    send_before_the_intent,
    lose_a_reply,
    leave_calls_behind,
    apply_before_recording,
    give_busy_processes_away,
    spend_without_counting,
    forget_what_was_spent,
    grant_what_others_hold,
)


def first_broken(seeds: int) -> Verdict | None:
    return next((verdict for seed in range(seeds) if (verdict := simulate(seed)).broken), None)


@pytest.mark.parametrize("plant", PLANTED, ids=lambda plant: plant.__name__)
def test_a_planted_fault_is_found(plant: Callable[[Patch], None], monkeypatch: Patch) -> None:
    for variant in range(VARIANTS):
        undisturbed(variant)  # before the fault is there
    plant(monkeypatch)
    found = first_broken(SEEDS)
    assert found is not None
    told = str(found)
    assert f"again: python -m actors.simulation --seed {found.seed}" in told
    assert all(what in told for what in found.broken)
    print(f"{plant.__name__}: seed {found.seed}, {found.broken[0]}")
