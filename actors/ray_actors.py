"""The Ray actors: thin shells over plain code.

They never restart by themselves: whoever spawned an actor replaces it, since a fresh one must be
given its memory first. They ask for no CPU, so that a market of any size fits a small machine; how
many may run is decided before the start. Each is told its node: markets take turns on all nodes,
retailers live with their market, and the encoder with the driver or the market. Heavy imports
happen where an actor needs them: this module is loaded by every retailer's process.
"""

from __future__ import annotations

import asyncio
import pickle
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any

import ray
from ray import cloudpickle
from ray.actor import ActorHandle
from ray.exceptions import RayError, RayTaskError
from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

from actors.hosts import Process, ProcessDiedError, ProcessHost
from actors.retailer import Casting, Retailers, Stage
from market.environment import Answer, Decision
from market.language import ProviderFailure

if TYPE_CHECKING:
    from actors.episode import Episode
    from actors.staging import Script

#: How often an encoder may die over one question.
ENCODER_DEATHS = 3


@dataclass(frozen=True, slots=True)
class Node:
    """A node of the cluster.

    Attributes:
        id: Its name in Ray.
        cores: CPUs that it offers.
        memory: Bytes that it offers.
    """

    id: str
    cores: float
    memory: float


def nodes() -> list[Node]:
    """The nodes that work may be given to, as far as Ray knows: a lost one is listed for a while.

    A node without CPUs, as heads of clusters often are, takes no work unless all are so.
    """
    alive = [
        Node(each["NodeID"], *(each["Resources"].get(name, 0.0) for name in ("CPU", "memory")))
        for each in ray.nodes()  # type: ignore[no-untyped-call]
        if each["Alive"]
    ]
    return sorted((node for node in alive if node.cores), key=_id) or sorted(alive, key=_id)


def _id(node: Node) -> str:
    return node.id


def here() -> str:
    """The node of this process."""
    node: str = ray.get_runtime_context().get_node_id()
    return node


def start(
    kind: type,
    *arguments: Any,
    at_once: int | None = None,
    node: str | None = None,
    name: str | None = None,
) -> ActorHandle[Any]:
    """Start an actor of one of the classes below.

    Args:
        kind: The class.
        arguments: What it is made with.
        at_once: Calls that an asynchronous actor works on at once; Ray's default where not given.
        node: Where to start it, unless the node is lost; Ray's choice where not given.
        name: Its name in the run: an actor that has it already is taken instead.
    """
    options: dict[str, Any] = {} if at_once is None else {"max_concurrency": at_once}
    if node is not None:
        options["scheduling_strategy"] = NodeAffinitySchedulingStrategy(node, soft=True)
    if name is not None:
        options |= {"name": name, "get_if_exists": True}
    handle: ActorHandle[Any] = _exported(kind).options(**options).remote(*arguments)
    return handle


def discard(handle: ActorHandle[Any]) -> None:
    """End an actor that did not answer, lest it comes back: its node may only be out of reach."""
    with suppress(RayError):
        ray.kill(handle, no_restart=True)


@cache
def _exported(kind: type) -> Any:
    """The class as Ray knows it, told to the cluster once."""
    # Ray puts an actor that asks for nothing anywhere, whatever its scheduling strategy says.
    return ray.remote(num_cpus=0, memory=1, max_restarts=0, max_task_retries=0)(kind)


class RetailerActor:
    """The policies of some seats, in a process of their own."""

    def __init__(self, castings: Sequence[Casting], stage: Stage) -> None:
        self._retailers = Retailers(castings, stage)

    def call(self, method: str, packed: bytes) -> bytes:
        """Call `act`, `resume` or `restore` of the retailers, or `cast` others in their place.

        Arguments and results travel as bytes: Ray's own way with objects costs more than a
        script's whole decision.
        """
        argument = pickle.loads(packed)
        if method == "cast":
            self._retailers = Retailers(*argument)
            return pickle.dumps(None)
        return pickle.dumps(getattr(self._retailers, method)(argument))

    def ready(self) -> None:
        """Answer: the process is up and its policies are built."""

    def modules(self) -> list[str]:
        """What this process has imported."""
        import sys

        return sorted(sys.modules)


class RetailerProcess:
    """A `hosts.Process` that is a retailer actor."""

    def __init__(self, handle: ActorHandle[Any]) -> None:
        self._handle = handle

    async def call(self, method: str, argument: Any) -> Any:
        """Call a method of the actor."""
        # Classes of the user's own files travel whole.
        spell: Any = cloudpickle.dumps if method == "cast" else pickle.dumps
        packed = spell(argument)
        return pickle.loads(await answer(self._handle.call.remote(method, packed)))

    async def kill(self) -> None:
        """Kill the actor."""
        ray.kill(self._handle, no_restart=True)


async def spawn_retailers(castings: Sequence[Casting], stage: Stage) -> RetailerProcess:
    """Start a retailer actor and wait for it, so that no deadline pays for its start."""
    handle = start(RetailerActor, castings, stage, node=here())
    await answer(handle.ready.remote())
    return RetailerProcess(handle)


class MarketActor:
    """Plays episodes, one after the other, stepped by the driver.

    Its retailers are its own and die with it. Their processes serve one episode after the other,
    since starting them takes longer than a short episode.

    Args:
        outside: Who knows facts from outside the market.
    """

    def __init__(self, outside: RemoteOutside) -> None:
        self._outside = outside
        self._spare: list[RetailerProcess] = []
        self._hosts: list[ProcessHost] = []
        self._number = 0

    async def ready(self) -> None:
        """Answer: the process is up."""

    async def start(self, script: Script, recorded: Any) -> Any:
        """Put an episode together, with its retailers, and begin it.

        Returns:
            Where it stands, and its number: a call that comes late, when the next episode has
            begun, must not take part in it.
        """
        from actors.staging import stage_inline, stage_processes

        self._number += 1
        if script.inline:
            self._episode = stage_inline(script, self._outside)
        else:
            self._episode, self._hosts = stage_processes(script, self._spawn, self._outside)
            await asyncio.gather(*(host.start() for host in self._hosts))
        return await self._episode.start(recorded), self._number

    async def gather(self, number: int) -> Any:
        """See `Episode.gather`."""
        return await self._current(number).gather()

    async def supply(self, number: int, replies: Any) -> None:
        """See `Episode.supply`."""
        await self._current(number).supply(replies)

    async def apply(self, number: int) -> Any:
        """See `Episode.apply`."""
        return await self._current(number).apply()

    async def close(self, number: int) -> None:
        """End the episode and keep its processes for the next."""
        await self._current(number).close()
        left = [await host.leave() for host in self._hosts]
        self._hosts = []
        self._spare += [process for process in left if isinstance(process, RetailerProcess)]

    def _current(self, number: int) -> Episode:
        if number != self._number:
            raise RuntimeError(f"episode {number} of this actor is over")
        return self._episode

    async def _spawn(self, castings: Sequence[Casting], stage: Stage) -> Process:
        while self._spare:
            process = self._spare.pop()
            try:
                await process.call("cast", (castings, stage))
                return process
            except ProcessDiedError:
                continue
        return await spawn_retailers(castings, stage)


class RemoteMarket:
    """A `driver.Market` that is played by a market actor.

    Args:
        handle: The actor.
        script: The episode.
        keep: Is given the actor when the episode is over, for the next one.
    """

    def __init__(
        self,
        handle: ActorHandle[Any],
        script: Script,
        keep: Callable[[ActorHandle[Any]], None],
    ) -> None:
        self._handle = handle
        self._script = script
        self._keep = keep
        self._number = 0

    async def start(self, recorded: Any) -> Any:
        """See `Episode.start`."""
        started: Any = self._handle.start.remote(self._script, recorded)
        state, self._number = await self._answer(started)
        return state

    async def gather(self) -> Any:
        """See `Episode.gather`."""
        return await self._answer(self._handle.gather.remote(self._number))

    async def supply(self, replies: Any) -> None:
        """See `Episode.supply`."""
        await self._answer(self._handle.supply.remote(self._number, replies))

    async def apply(self) -> Any:
        """See `Episode.apply`."""
        return await self._answer(self._handle.apply.remote(self._number))

    async def close(self) -> None:
        """End the episode; the actor serves the next, unless it failed to begin this one."""
        if not self._number:
            discard(self._handle)
            return
        await self._answer(self._handle.close.remote(self._number))
        self._keep(self._handle)

    async def _answer(self, reference: Any) -> Any:
        try:
            return await answer(reference)
        except ProcessDiedError:
            discard(self._handle)
            raise


async def answer(reference: Any) -> Any:
    """What an actor answers.

    Raises:
        ProcessDiedError: If it dies first, alone or with its node, or its answer is lost.
    """
    try:
        return await reference
    except RayTaskError:
        raise
    except RayError as error:
        raise ProcessDiedError(type(error).__name__) from error


async def lives(handle: ActorHandle[Any]) -> bool:
    """Whether an actor is there, once it is up. One that is not is discarded."""
    try:
        await answer(handle.ready.remote())
    except ProcessDiedError:
        discard(handle)
        return False
    return True


class EncoderActor:
    """Compares texts. It imports torch when a text is not in the cache, and not before."""

    def __init__(self, model: str) -> None:
        from actors.outside import EncodedFacts

        self._facts = EncodedFacts(model)

    def problem(self) -> str | None:
        """See `EncodedFacts.problem`."""
        return self._facts.problem()

    def answer(self, decision: Decision) -> Answer | ProviderFailure:
        """See `EncodedFacts.answer_now`."""
        return self._facts.answer_now(decision)


class RemoteOutside:
    """An `episode.Outside` that is an encoder actor, which all copies of this share.

    Whoever finds it dead replaces it by its name, so that there are never two.

    Args:
        model: The encoder.
        name: Name of the actor, unlike any other's.
        node: Its node; None for an actor on each node that asks.
    """

    def __init__(self, model: str, name: str, node: str | None) -> None:
        self._model = model
        self._name = name
        self._node = node
        self._handle: ActorHandle[Any] | None = None

    async def problem(self) -> str | None:
        """See `EncodedFacts.problem`."""
        for left in reversed(range(ENCODER_DEATHS)):
            handle = self._actor()
            try:
                problem: str | None = await answer(handle.problem.remote())
                break
            except ProcessDiedError:
                discard(handle)
                self._handle = None
                if not left:
                    raise
        return problem

    async def answer(self, decision: Decision) -> Answer | ProviderFailure:
        """See `EncodedFacts.answer`."""
        for _ in range(ENCODER_DEATHS):
            handle = self._actor()
            try:
                found: Answer | ProviderFailure = await answer(handle.answer.remote(decision))
                return found
            except ProcessDiedError:
                discard(handle)
                self._handle = None
        return ProviderFailure("unreachable", "the encoder's process died again and again")

    def _actor(self) -> ActorHandle[Any]:
        if self._handle is None:
            node = self._node or here()
            name = f"{self._name}-{node}"
            self._handle = start(EncoderActor, self._model, node=node, name=name)
        return self._handle
