"""One seed: a driver that lives, dies and resumes until its tournament is played."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

from actors.budget import owners
from actors.progress.watch import Plan, Progress
from actors.simulation.audit import CALLS, JOURNAL, Books
from actors.simulation.clock import HungError, Killed, VirtualLoop, VirtualTask
from actors.simulation.disk import Disk, PretendedStorage
from actors.simulation.faults import Fault, Faults
from actors.simulation.games import VARIANTS, Game, game
from actors.simulation.limits import USED_UP, Allowance
from actors.simulation.place import PretendedPlace
from actors.simulation.processes import Cluster, adopt
from actors.simulation.provider import PretendedTransport
from actors.tournament import Ended, Tournament
from market.calls import CallKey, read_calls
from market.rng import draws

FOLDER = Path("run")

#: Most lives of a driver. Every fault costs one at most, or as many as its cost takes to be
#: allowed by a budget; and every life without a fault plays on.
MOST_LIVES = 80

#: How an episode may end for now when the disk failed.
DISK_ERRORS = ("cannot be written", "is being written")


@dataclass(frozen=True, slots=True)
class Verdict:
    """How a seed went.

    Attributes:
        seed: The seed.
        broken: What does not hold, though it must; empty where all holds.
        schedule: What struck and when.
        lives: Lives of the driver.
        faults: Faults that struck.
        calls: Requests that reached the provider.
        lost: Calls that were recorded as lost.
        seconds: How long it took on its own clock.
    """

    seed: int
    broken: tuple[str, ...]
    schedule: tuple[str, ...]
    lives: int
    faults: int
    calls: int
    lost: int
    seconds: float

    def __str__(self) -> str:
        """What people need to reproduce and understand a failure."""
        if not self.broken:
            return f"seed {self.seed}: holds"
        told = [f"seed {self.seed}: broken", *(f"  ! {what}" for what in self.broken)]
        told += ["  what struck:", *(f"    {what}" for what in self.schedule)]
        return "\n".join([*told, f"  again: python -m actors.simulation --seed {self.seed}"])


def simulate(seed: int) -> Verdict:
    """Play the tournament of a seed under its faults."""
    variant = draws(seed, "variant").integer(0, VARIANTS - 1)
    run = _Run(game(variant), Faults.of(seed), undisturbed(variant).turns, Allowance.of(seed))
    run.play()
    return run.verdict(seed, undisturbed(variant))


@dataclass(frozen=True, slots=True)
class Undisturbed:
    """How a tournament ends when nothing strikes."""

    journals: Mapping[Path, bytes]
    answered: Mapping[Path, frozenset[CallKey]]
    turns: int


@lru_cache(maxsize=VARIANTS)
def undisturbed(variant: int) -> Undisturbed:
    """Play a tournament without any fault."""
    run = _Run(game(variant), Faults.none(), 0, Allowance())
    run.play()
    if run.books.broken:
        raise RuntimeError(f"without any fault: {run.books.broken}")
    return Undisturbed(run.journals(), run.books.keys(), run.turns)


class _Run:
    """A tournament, from its first life to its last."""

    def __init__(self, played: Game, faults: Faults, turns: int, allowance: Allowance) -> None:
        self.books = Books(allowance)
        self._allowance = allowance
        self.turns = 0
        self._game = played
        self._faults = faults
        self._usual_turns = turns
        self._now = 0.0
        self._lives = 0
        self._left = faults.left
        self._disk = Disk(watch=self.books.synced)
        self._transport = PretendedTransport(faults, self.books, lambda: self._now)
        faults.now = lambda: self._now

    def play(self) -> None:
        """Live and die until all is played or something is broken."""
        try:
            while not self._life() and not self.books.broken:
                if self._lives == MOST_LIVES:
                    self.books.broken.append(f"not played in {MOST_LIVES} lives")
                self._now += self._faults.draws.uniform() * 60
        except HungError as hung:
            self.books.broken.append(str(hung))

    def journals(self) -> dict[Path, bytes]:
        """The journals as they are."""
        return {p: file.content for p, file in self._disk.files.items() if p.name == JOURNAL}

    def verdict(self, seed: int, calm: Undisturbed) -> Verdict:
        """Compare with an undisturbed run."""
        if not self.books.broken:
            self.books.close()
            self._compare(calm)
        return Verdict(
            seed,
            tuple(self.books.broken),
            tuple(self._faults.schedule),
            self._lives,
            self._left - self._faults.left,
            self.books.requests.total(),
            self.books.lost,
            self._now,
        )

    def _compare(self, calm: Undisturbed) -> None:
        journals = self.journals()
        for path, content in calm.journals.items():
            if journals.get(path) != content:
                line = _first_difference(content, journals.get(path, b""))
                self.books.broken.append(f"{path} is another from line {line} on")
        answered = self.books.keys()
        for path, keys in calm.answered.items():
            if odd := sorted(answered.get(path, frozenset()) ^ keys):
                self.books.broken.append(f"{path} has other calls: {odd[0]}")

    def _life(self) -> bool:
        """Live once. Returns whether all is played."""
        self._lives += 1
        faults = self._faults
        faults.note(f"the driver begins life {self._lives}")
        killed_at = self._some_turn(Fault.KILLED)
        stopped_at = self._some_turn(Fault.STOPPED)
        storage = PretendedStorage(self._disk, faults)

        def turned(turn: int) -> None:
            self._now = loop.time()
            if not storage.dead:
                if turn == killed_at:
                    raise Killed
                if turn == stopped_at:
                    main.cancel()

        loop = VirtualLoop(self._now, faults.written, turned, adopt)
        cluster = Cluster(faults)
        main = loop.create_task(self._main(storage, cluster))
        played = power_cut = False
        died = True
        try:
            ended = loop.run_until_complete(main)
            died = False
            played = self._judge(ended, storage, loop)
        except Killed:
            power_cut = faults.draws.uniform() < 0.5
            faults.note(f"the driver is dead{', and its machine' if power_cut else ''}")
            storage.die()
        except asyncio.CancelledError:
            faults.note("the driver stops")
        except HungError:
            storage.die()
            raise
        except Exception as error:
            self.books.broken.append(f"the tournament ended with {error!r}")
        finally:
            self.turns = loop.turns
            cluster.end()
            _bury(loop)
            storage.die()
        if power_cut:
            self._disk.lose_power(faults)
        self._disk.settle()
        lost = died or any(path.name == CALLS for path in storage.failed)
        self.books.reread({p: file.content for p, file in self._disk.files.items()}, lost)
        return played

    async def _main(self, storage: PretendedStorage, cluster: Cluster) -> list[Ended]:
        self.books.gates = 0
        place = PretendedPlace(self._game, cluster, self.books, self._transport, self._allowance)
        plans = self._game.plans
        budget = self._allowance.budget(asyncio.get_running_loop().time)
        for plan in plans:
            log = read_calls(FOLDER / "episodes" / plan.id / CALLS, storage)
            budget.count(log, owners(plan.config))
        at_once = self._faults.draws.integer(1, len(plans))
        tournament = Tournament(
            plans, FOLDER, place, at_once, lambda _: _Nobody(), storage=storage, budget=budget
        )
        return await tournament.play()

    def _some_turn(self, fault: Fault) -> int:
        """The turn of the loop at which something happens to the driver; 0 for never."""
        if not self._faults.strikes(fault, "in this life"):
            return 0
        return self._faults.draws.integer(1, max(1, int(self._usual_turns * 1.2)))

    def _judge(self, ended: list[Ended], storage: PretendedStorage, loop: VirtualLoop) -> bool:
        """Look at a life that came to its end."""
        broken = self.books.broken
        used_up = False
        for one in ended:
            if one.error is not None:
                self._faults.note(f"{one.plan.id} failed: {one.error}")
                if not (storage.failed and any(known in one.error for known in DISK_ERRORS)):
                    broken.append(f"{one.plan.id} failed: {one.error}")
            elif one.played is not None and one.played.owed is not None:
                self._faults.note(f"{one.plan.id} is owed: {one.played.owed}")
                used_up |= USED_UP in one.played.owed
        if used_up:
            self._allowance.raise_()
        for task in asyncio.all_tasks(loop):
            if isinstance(task, VirtualTask) and task.home is None:
                broken.append(f"left behind: {task.get_coro()}")
        broken += [f"asyncio complains: {what}" for what in loop.complaints]
        broken += [f"left open: {path}" for path in storage.open_files.values()]
        return all(one.played is not None and one.played.owed is None for one in ended)


class _Nobody:
    """A watcher that looks away."""

    def started(self, plan: Plan) -> None:
        """See `Watcher.started`."""

    def progressed(self, progress: Progress) -> None:
        """See `Watcher.progressed`."""

    def finished(self, summary: Mapping[str, Any]) -> None:
        """See `Watcher.finished`."""


def _bury(loop: VirtualLoop) -> None:
    """End whatever a life left, as the end of its process does."""
    loop.mute()
    for task in asyncio.all_tasks(loop):
        task.cancel()
    while left := asyncio.all_tasks(loop):
        # Not `run_until_complete`: a driver that was killed as it ended left the loop a wish to
        # stop, which is taken here for the end of nothing.
        asyncio.gather(*left, return_exceptions=True).add_done_callback(lambda _: loop.stop())
        # What died with the driver is raised once more by whoever waited for it.
        with suppress(Killed):
            loop.run_forever()
    loop.close()


def _first_difference(one: bytes, other: bytes) -> int:
    lines = zip(one.splitlines(), other.splitlines(), strict=False)
    same = next((i for i, (a, b) in enumerate(lines, 1) if a != b), None)
    return same or 1 + min(one.count(b"\n"), other.count(b"\n"))
