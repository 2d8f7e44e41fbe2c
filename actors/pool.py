"""Shards of a sweep on a cluster: one worker per core, each with one shard at a time.

A worker keeps nothing that is not in the plan. One that dies, killed or with its node, is replaced
and its shard is played again; a shard over which workers die again and again is refused. One that
has grown is replaced as well, so that memory stays flat however long a sweep lasts.
"""

from __future__ import annotations

import os
import sys
import uuid
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import ray
from ray.exceptions import RayError, RayTaskError

from actors import ray_actors
from actors.collecting import relax
from actors.errors import UserError
from actors.packing import Packed, Packer
from actors.vectors import KnownFacts, RemoteEncoding
from embeddings import EncoderError
from market.config import Config
from market.study.sweeps.plan import Shard

if TYPE_CHECKING:
    from ray.actor import ActorHandle

#: How many workers may die over one shard.
DEATHS = 3
#: A worker is replaced when it holds more than twice what it held after its first shard, and this.
GROWN_BYTES = 256 * 2**20


class PackingActor:
    """A `Packer` in a process of its own.

    Args:
        config: The configuration of the study.
        run: Name of the sweep, unique on the cluster.
        node: The node that encodes texts for all.
        path: Where the driver finds modules besides what is installed: the user's own policies.
    """

    def __init__(self, config: Config, run: str, node: str, path: Sequence[str]) -> None:
        sys.path += [folder for folder in path if folder not in sys.path]
        self._packer = Packer(
            config, lambda model: KnownFacts(RemoteEncoding(model, run, node)).answer
        )

    def hold(self, variables: Mapping[str, str]) -> None:
        """Set environment variables of the process."""
        os.environ.update(variables)

    def play(self, shard: Shard) -> Packed | str:
        """Play a shard; a sentence where the encoder cannot be used."""
        relax()
        try:
            return self._packer.play(shard)
        except EncoderError as error:
            return str(error)


@dataclass(slots=True)
class _Worker:
    """A worker, and the memory that it held after its first shard."""

    handle: ActorHandle[Any]
    node: str
    first: int = 0

    def grown(self, memory: int) -> bool:
        """Whether it holds much more than in the beginning."""
        self.first = self.first or memory
        return memory > 2 * self.first + GROWN_BYTES


class Pool:
    """Plays shards on the cluster that this process is connected to.

    Args:
        config: The configuration of the study.
        most: Most workers that are of use.
        variables: Environment variables without which episodes cannot be built.
    """

    def __init__(
        self, config: Config, most: int, variables: Mapping[str, str] | None = None
    ) -> None:
        self._config = config
        self._variables = variables or {}
        self._run = f"sweep-{uuid.uuid4().hex}"
        self._here = ray_actors.here()
        places = [node.id for node in ray_actors.nodes() for _ in range(max(1, int(node.cores)))]
        self._workers = [self._start(node) for node in places[:most]]

    def play(self, shards: Sequence[Shard]) -> Iterator[Packed]:
        """Play shards; those that are ready first come first.

        Raises:
            UserError: If workers die over a shard again and again, or a text cannot be encoded.
        """
        waiting = deque(shards)
        deaths: dict[int, int] = {}
        running: dict[Any, tuple[_Worker, Shard]] = {}
        for worker in self._workers:
            self._give(worker, waiting, running)
        while running:
            (ready, *_), _ = ray.wait(list(running), num_returns=1)
            worker, shard = running.pop(ready)
            try:
                packed = ray.get(ready)
            except RayTaskError:
                raise
            except RayError:
                deaths[shard.number] = deaths.get(shard.number, 0) + 1
                if deaths[shard.number] == DEATHS:
                    raise UserError(
                        f"{DEATHS} workers died over {shard.name}, whose first episode is "
                        f"{shard.units[0].episode}; they may want more memory than there is, or a "
                        "policy ends its process."
                    ) from None
                waiting.appendleft(shard)
                self._give(self._replaced(worker), waiting, running)
                continue
            if isinstance(packed, str):
                raise UserError(packed)
            if worker.grown(packed.memory):
                worker = self._replaced(worker)
            self._give(worker, waiting, running)
            yield packed

    def _give(self, worker: _Worker, waiting: deque[Shard], running: dict[Any, Any]) -> None:
        if waiting:
            shard = waiting.popleft()
            running[worker.handle.play.remote(shard)] = worker, shard

    def _start(self, node: str) -> _Worker:
        path = [os.getcwd(), *sys.path]
        handle = ray_actors.start(
            PackingActor, self._config, self._run, self._here, path, node=node
        )
        if self._variables:
            handle.hold.remote(self._variables)
        return _Worker(handle, node)

    def _replaced(self, worker: _Worker) -> _Worker:
        ray_actors.discard(worker.handle)
        known = {node.id for node in ray_actors.nodes()}
        return self._start(worker.node if worker.node in known else ray_actors.nodes()[0].id)
