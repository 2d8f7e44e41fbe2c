"""Whatever strikes, tournaments end as if nothing had; and what strikes follows from the seed."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
from pathlib import Path

import pytest

from actors.simulation.clock import HungError, Killed, VirtualLoop
from actors.simulation.disk import Disk, PretendedStorage
from actors.simulation.faults import Fault, Faults
from actors.simulation.limits import USED_UP, Allowance
from actors.simulation.runs import Verdict, _bury, simulate
from market.storage import LockedError

SEEDS = 500
PATH = Path("run/log")


@pytest.fixture(scope="module")
def verdicts() -> list[Verdict]:
    return [simulate(seed) for seed in range(SEEDS)]


def test_whatever_strikes_tournaments_end_as_if_nothing_had(verdicts: list[Verdict]) -> None:
    broken = [str(verdict) for verdict in verdicts if verdict.broken]
    assert not broken, "\n".join(broken)


def test_budgets_stop_runs_and_caps_are_shared(verdicts: list[Verdict]) -> None:
    stopped = [v for v in verdicts if any(USED_UP in line for line in v.schedule)]
    assert len(stopped) > SEEDS / 20
    shared = [seed for seed in range(SEEDS) if Allowance.of(seed).processes > 1]
    assert len(shared) > SEEDS / 20


@pytest.mark.parametrize("fault", Fault)
def test_every_kind_of_fault_strikes(verdicts: list[Verdict], fault: Fault) -> None:
    assert any(str(fault) in line for verdict in verdicts for line in verdict.schedule)


def test_the_seeds_are_no_idle_ones(verdicts: list[Verdict]) -> None:
    assert sum(verdict.faults for verdict in verdicts) > 3 * SEEDS
    assert sum(verdict.lives for verdict in verdicts) > 1.5 * SEEDS
    assert sum(verdict.lost > 0 for verdict in verdicts) > SEEDS / 10


def test_a_seed_takes_the_same_course_in_every_process() -> None:
    code = "from actors.simulation.runs import simulate\nprint([simulate(s) for s in range(7, 15)])"
    told = {
        subprocess.run(
            [sys.executable, "-c", code],
            env={**os.environ, "PYTHONHASHSEED": salt},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for salt in ("1", "2")
    }
    assert len(told) == 1
    assert told.pop().strip() == str([simulate(seed) for seed in range(7, 15)])


def test_the_command_plays_seeds(capsys: pytest.CaptureFixture[str]) -> None:
    from actors.simulation import __main__ as command

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys, "argv", ["simulation", "--seed", "3", "--count", "5"])
        assert command.main() == 0
    assert capsys.readouterr().out == "5 of 5 seeds hold\n"


def loop() -> VirtualLoop:
    return VirtualLoop(0.0, lambda: 0.0, lambda _: None, lambda _: None)


def test_waiting_takes_no_time() -> None:
    virtual = loop()
    virtual.run_until_complete(asyncio.sleep(3_600))
    assert virtual.time() == pytest.approx(3_600)
    virtual.close()


def test_waiting_for_nothing_is_noticed() -> None:
    virtual = loop()
    with pytest.raises(HungError, match="nothing will ever happen"):
        virtual.run_until_complete(virtual.create_future())
    virtual.close()


def test_turning_in_circles_is_noticed() -> None:
    async def circle() -> None:
        while True:
            await asyncio.sleep(0)

    virtual = loop()
    with pytest.raises(HungError, match="no end after"):
        virtual.run_until_complete(circle())
    virtual.close()


def test_a_driver_that_is_killed_as_it_ends_is_buried() -> None:
    def turned(_: int) -> None:
        if main.done() and not killed:
            killed.append(True)
            raise Killed

    async def over() -> None: ...

    killed: list[bool] = []
    virtual = VirtualLoop(0.0, lambda: 0.0, turned, lambda _: None)
    left = virtual.create_task(asyncio.sleep(3_600))
    main = virtual.create_task(over())
    with pytest.raises(Killed):
        virtual.run_until_complete(main)
    _bury(virtual)
    assert left.cancelled()
    assert virtual.is_closed()


def test_a_power_cut_takes_what_was_not_synced_and_nothing_else() -> None:
    left = set()
    for seed in range(200):
        disk, faults = Disk(), Faults.of(seed)
        faults.left = 0
        file = PretendedStorage(disk, faults).appender(PATH)
        file.append(b"synced\n", sync=True)
        file.append(b"first\nsecond\n", sync=False)
        disk.lose_power(faults)
        left.add(disk.files[PATH].content.rstrip(b"\0"))
    assert all(b"synced\nfirst\nsecond\n".startswith(content) for content in left)
    assert all(content.startswith(b"synced\n") for content in left)
    assert {b"synced\n", b"synced\nfirst\n", b"synced\nfirst\nsecond\n"} <= left


def test_a_file_that_was_never_synced_may_be_gone() -> None:
    gone = set()
    for seed in range(50):
        disk, faults = Disk(), Faults.of(seed)
        faults.left = 0
        PretendedStorage(disk, faults).appender(PATH).append(b"line\n", sync=False)
        disk.lose_power(faults)
        gone.add(PATH not in disk.files)
    assert gone == {True, False}


def test_the_dead_write_nothing() -> None:
    disk = Disk()
    storage = PretendedStorage(disk, Faults.none())
    file = storage.appender(PATH)
    storage.die()
    with pytest.raises(OSError, match="dead"):
        file.append(b"line\n", sync=False)
    assert disk.files[PATH].content == b""


def test_a_lock_is_held_by_one_and_let_go_by_the_dead() -> None:
    disk = Disk()
    storage = PretendedStorage(disk, Faults.none())
    assert storage.lock(PATH).epoch == 1
    with pytest.raises(LockedError):
        storage.lock(PATH)
    disk.settle()
    assert storage.lock(PATH).epoch == 2
