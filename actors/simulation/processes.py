"""Processes that are only pretended: whatever they do is tasks, which end with them.

A call may find its process dead, kill it before, while or after it is worked on, or be late. Who
asked learns of a death within milliseconds, and of a lost node up to `NODE_SILENCE` later. That is
how Ray behaves, as measured.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from contextvars import ContextVar, copy_context
from typing import Any

from actors.hosts import ProcessDiedError
from actors.simulation.clock import VirtualTask
from actors.simulation.faults import Fault, Faults

#: Seconds after which the loss of a node is known at the latest, and a death.
NODE_SILENCE = 14.0
DEATH_SILENCE = 0.05

#: Seconds that an answer is late at most; with a node's silence still within deadlines.
MOST_LATE = 10.0

#: Seconds that a process takes to start at most.
MOST_START = 40.0

#: The process that the running task belongs to.
_RUNNING: ContextVar[PretendedProcess | None] = ContextVar("running", default=None)


class Cluster:
    """The processes of one life of a driver, on three nodes.

    Args:
        faults: What strikes.
    """

    def __init__(self, faults: Faults) -> None:
        self.faults = faults
        self.nodes: tuple[list[PretendedProcess], ...] = ([], [], [])

    def end(self) -> None:
        """All processes die, with the driver."""
        for processes in self.nodes:
            for process in list(processes):
                process.die()

    def lose(self, node: int) -> None:
        """All processes of a node die, and nobody is told for a while."""
        silence = self.faults.draws.uniform() * NODE_SILENCE
        for process in list(self.nodes[node]):
            if not process.spared(process.doing):
                process.die(silence)


class PretendedProcess:
    """A process.

    Args:
        cluster: Where it runs.
        name: Its name, for schedules.
        fault: What its deaths are called.
        parent: The process that it dies with.
    """

    def __init__(
        self, cluster: Cluster, name: str, fault: Fault, parent: PretendedProcess | None = None
    ) -> None:
        self.cluster = cluster
        self.name = name
        self.alive = True
        self.doing = ""
        self.node = cluster.faults.draws.integer(0, len(cluster.nodes) - 1)
        self._fault = fault
        self._loop = asyncio.get_running_loop()
        slow = cluster.faults.draws.uniform() < 0.1
        self._up = self._loop.time() + (cluster.faults.draws.uniform() * MOST_START if slow else 0)
        self._silence = DEATH_SILENCE
        self._children: list[PretendedProcess] = []
        self._asked: dict[asyncio.Future[Any], None] = {}
        self._tasks: dict[asyncio.Task[Any], None] = {}
        self._context = copy_context()
        self._context.run(_RUNNING.set, self)
        cluster.nodes[self.node].append(self)
        if parent is not None:
            parent._children.append(self)

    async def run(self, what: str, work: Callable[[], Awaitable[Any]]) -> Any:
        """Have something done there.

        Raises:
            ProcessDiedError: If the process dies before the answer is back.
        """
        faults = self.cluster.faults
        answer: asyncio.Future[Any] = self._loop.create_future()
        self._asked[answer] = None
        start = max(0.0, self._up - self._loop.time())
        self._loop.call_later(start + faults.soon(), self._begin, answer, what, work)
        try:
            return await answer
        finally:
            self._asked.pop(answer, None)

    def die(self, silence: float = DEATH_SILENCE) -> None:
        """Die, with whatever is being done."""
        if not self.alive:
            return
        self.alive = False
        self._silence = silence
        self.cluster.nodes[self.node].remove(self)
        for answer in self._asked:
            self._loop.call_later(silence, self._report, answer)
        for task in list(self._tasks):
            task.cancel()
        for child in self._children:
            child.die()

    def spared(self, what: str) -> bool:  # noqa: ARG002
        """Whether faults leave the process alone now."""
        return False

    def _begin(self, answer: asyncio.Future[Any], what: str, work: Any) -> None:
        faults = self.cluster.faults
        if not self.alive:
            self._loop.call_later(self._silence, self._report, answer)
            return
        where = f"{self.name}, {what}"
        dies_after = False
        if not self.spared(what):
            if faults.strikes(Fault.NODE, f"{where}, node {self.node}"):
                self.cluster.lose(self.node)
            elif faults.strikes(self._fault, where):
                when = faults.draws.integer(0, 2)
                faults.note(("before it began", "while at it", "with the answer made")[when])
                if when == 0:
                    self.die()
                elif when == 1:
                    self._loop.call_later(faults.draws.uniform() ** 4, self._die_unless_spared)
                else:
                    dies_after = True
        if not self.alive:
            return
        self.doing = what
        task = self._context.run(self._loop.create_task, self._tracked(work))
        self._tasks[task] = None
        task.add_done_callback(lambda task: self._done(task, answer, where, dies_after, what))

    async def _tracked(self, work: Callable[[], Awaitable[Any]]) -> Any:
        return await work()

    def _done(
        self,
        task: asyncio.Task[Any],
        answer: asyncio.Future[Any],
        where: str,
        dies_after: bool,
        what: str,
    ) -> None:
        self._tasks.pop(task, None)
        self.doing = ""
        error = None if task.cancelled() else task.exception()
        if task.cancelled() or not self.alive:
            return  # it died over it, and `die` reports that
        if dies_after and not self.spared(what):
            self.die()
            return
        faults = self.cluster.faults
        late = 0.0
        if faults.strikes(Fault.SLOW, where):
            late = faults.draws.uniform() * MOST_LATE
        result = None if error is not None else task.result()
        self._loop.call_later(late + faults.soon(), self._deliver, answer, result, error)

    def _deliver(self, answer: asyncio.Future[Any], result: Any, error: Any) -> None:
        # An answer that had left before its process died arrives all the same.
        if not answer.done():
            if error is None:
                answer.set_result(result)
            else:
                answer.set_exception(error)

    def _report(self, answer: asyncio.Future[Any]) -> None:
        if not answer.done():
            answer.set_exception(ProcessDiedError(f"{self.name} died"))

    def _die_unless_spared(self) -> None:
        if not self.spared(self.doing):
            self.die()


def adopt(task: VirtualTask) -> None:
    """Let a task end with the process that began it."""
    process = _RUNNING.get()
    if process is not None:
        task.home = process
        process._tasks[task] = None
        task.add_done_callback(lambda task: process._tasks.pop(task, None))
