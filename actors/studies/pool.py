"""Shards of a sweep on a cluster: one worker per core, each with one shard at a time.

A worker keeps nothing that is not in the plan. One that dies, killed or with its node, is replaced
and its shard is played again, episode by episode. An episode over which a worker dies alone is
played apart: what ends a worker there, a policy that hangs or ends its process, costs that policy
its turn, as in a run. One over which workers die all the same is refused. A worker that has grown
is replaced as well, so that memory stays flat however long a sweep lasts.
"""

from __future__ import annotations

import os
import sys
import uuid
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any

import ray
from ray.exceptions import RayError, RayTaskError

from actors import ray_actors
from actors.collecting import relax
from actors.errors import UserError
from actors.studies.packing import Packed, Packer, joined, play
from actors.studies.vectors import KnownFacts, RemoteEncoding
from embeddings import EncoderError
from market.config import Config
from market.study.sweeps.plan import Shard

if TYPE_CHECKING:
    from ray.actor import ActorHandle

#: How many workers may die over one episode that is played apart.
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
            config,
            lambda model: KnownFacts(RemoteEncoding(model, run, node)).answer,
            partial(play, deadline=True),
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

    def play_apart(self, shard: Shard) -> Packed | str:
        """Play a shard of one unit apart."""
        from actors.studies.apart import Apart

        apart = Apart()
        try:
            packed = self._packer.play(shard, apart.play)
        except EncoderError as error:
            return str(error)
        played = packed.table["unit"].unique().to_pylist()
        return replace(packed, notes=dict.fromkeys(played, apart.note))


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


@dataclass(frozen=True, slots=True)
class _Piece:
    """A shard, or one unit of it.

    Attributes:
        shard: What is played.
        at: The position of its first unit in the whole shard.
        apart: Whether it is played apart.
        deaths: How many workers died over it so.
    """

    shard: Shard
    at: int = 0
    apart: bool = False
    deaths: int = 0

    def again(self) -> list[_Piece]:
        """What to play when a worker died over it.

        Raises:
            UserError: If nothing is left to try.
        """
        number, units = self.shard.number, self.shard.units
        if len(units) > 1:
            return [_Piece(Shard(number, (unit,)), at) for at, unit in enumerate(units)]
        deaths = self.deaths + self.apart
        if deaths == DEATHS:
            raise UserError(
                f"{DEATHS} workers died over the episode {units[0].episode} of {self.shard.name}, "
                "though its retailers had a process of their own; it may want more memory than "
                "there is."
            )
        return [replace(self, apart=True, deaths=deaths)]


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
            UserError: If workers die over an episode whatever is done, or a text cannot be encoded.
        """
        waiting = deque(map(_Piece, shards))
        whole = {shard.number: len(shard.units) for shard in shards}
        played: dict[int, list[tuple[_Piece, Packed]]] = {number: [] for number in whole}
        running: dict[Any, tuple[_Worker, _Piece]] = {}
        idle = deque(self._workers)
        self._give(idle, waiting, running)
        while running:
            (ready, *_), _ = ray.wait(list(running), num_returns=1)
            worker, piece = running.pop(ready)
            try:
                packed = ray.get(ready)
            except RayTaskError:
                raise
            except RayError:
                waiting.extendleft(reversed(piece.again()))
                idle.append(self._replaced(worker))
                self._give(idle, waiting, running)
                continue
            if isinstance(packed, str):
                raise UserError(packed)
            idle.append(self._replaced(worker) if worker.grown(packed.memory) else worker)
            self._give(idle, waiting, running)
            number = piece.shard.number
            played[number].append((piece, packed))
            if sum(len(each.shard.units) for each, _ in played[number]) == whole[number]:
                pieces = sorted(played.pop(number), key=lambda each: each[0].at)
                yield joined([packed for _, packed in pieces])

    def _give(self, idle: deque[_Worker], waiting: deque[_Piece], running: dict[Any, Any]) -> None:
        while idle and waiting:
            worker, piece = idle.popleft(), waiting.popleft()
            method: Any = worker.handle.play_apart if piece.apart else worker.handle.play
            running[method.remote(piece.shard)] = worker, piece

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
