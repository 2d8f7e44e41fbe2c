"""The Ray actors: thin shells over plain code.

They never restart by themselves: whoever spawned an actor replaces it, since a fresh one must be
given its memory first. They ask for no CPU, so that a market of any size fits a small machine; how
many may run is decided before the start. Heavy imports happen where an actor needs them: this
module is loaded by every retailer's process.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any

import ray
from ray.actor import ActorHandle
from ray.exceptions import RayActorError, RayTaskError

from actors.hosts import ProcessDiedError
from actors.retailer import Ask, Casting, Outcome, Past, Retailers, Stage
from market.environment import Answer, Decision
from market.language import ModelSettings, ProviderFailure, Reply, Request

#: Model calls in flight at once, over all retailers.
CALLS_AT_ONCE = 1_000

#: How often an encoder may die over one question.
ENCODER_DEATHS = 3


def start(kind: type, *arguments: Any, at_once: int | None = None) -> ActorHandle[Any]:
    """Start an actor of one of the classes below.

    Args:
        kind: The class.
        arguments: What it is made with.
        at_once: Calls that an asynchronous actor works on at once; Ray's default where not given.
    """
    options = {} if at_once is None else {"max_concurrency": at_once}
    handle: ActorHandle[Any] = _exported(kind).options(**options).remote(*arguments)
    return handle


@cache
def _exported(kind: type) -> Any:
    """The class as Ray knows it, told to the cluster once."""
    return ray.remote(num_cpus=0, max_restarts=0, max_task_retries=0)(kind)


class RetailerActor:
    """The policies of some seats, in a process of their own."""

    def __init__(self, castings: Sequence[Casting], stage: Stage) -> None:
        self._retailers = Retailers(castings, stage)

    def act(self, ask: Ask) -> dict[str, Outcome]:
        """See `Retailers.act`."""
        return self._retailers.act(ask)

    def resume(self, replies: Mapping[str, Reply]) -> dict[str, Outcome]:
        """See `Retailers.resume`."""
        return self._retailers.resume(replies)

    def restore(self, pasts: Mapping[str, Past]) -> None:
        """See `Retailers.restore`."""
        self._retailers.restore(pasts)

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
        return await _answer(getattr(self._handle, method).remote(argument))

    async def kill(self) -> None:
        """Kill the actor."""
        ray.kill(self._handle, no_restart=True)


async def spawn_retailers(castings: Sequence[Casting], stage: Stage) -> RetailerProcess:
    """Start a retailer actor. Its first call waits for it."""
    return RetailerProcess(start(RetailerActor, castings, stage))


class MarketActor:
    """One episode, stepped by the driver. Its retailers are its own and die with it."""

    def __init__(self, script: Any, encoder: Any, model: str) -> None:
        from actors.staging import stage_processes

        self._episode, self._hosts = stage_processes(
            script, spawn_retailers, RemoteOutside(encoder, model)
        )

    async def start(self, recorded: Any) -> Any:
        """Start the retailers and the episode."""
        await asyncio.gather(*(host.start() for host in self._hosts))
        return await self._episode.start(recorded)

    async def gather(self) -> Any:
        """See `Episode.gather`."""
        return await self._episode.gather()

    async def supply(self, replies: Any) -> None:
        """See `Episode.supply`."""
        await self._episode.supply(replies)

    async def apply(self) -> Any:
        """See `Episode.apply`."""
        return await self._episode.apply()


class RemoteMarket:
    """A `driver.Market` that is a market actor."""

    def __init__(self, handle: ActorHandle[Any]) -> None:
        self._handle = handle

    async def start(self, recorded: Any) -> Any:
        """See `Episode.start`."""
        return await _answer(self._handle.start.remote(recorded))

    async def gather(self) -> Any:
        """See `Episode.gather`."""
        return await _answer(self._handle.gather.remote())

    async def supply(self, replies: Any) -> None:
        """See `Episode.supply`."""
        await _answer(self._handle.supply.remote(replies))

    async def apply(self) -> Any:
        """See `Episode.apply`."""
        return await _answer(self._handle.apply.remote())


async def _answer(reference: Any) -> Any:
    """What an actor answers.

    Raises:
        ProcessDiedError: If it dies first.
    """
    try:
        return await reference
    except RayTaskError:
        raise
    except RayActorError as error:
        raise ProcessDiedError(type(error).__name__) from error


class LanguageActor:
    """Calls models for all retailers: the only process that imports litellm."""

    def __init__(self) -> None:
        from actors.language.client import LanguageClient

        self._client = LanguageClient()

    async def check(self, settings: ModelSettings) -> str | None:
        """See `LanguageClient.check`."""
        await self._client.warm_up()  # a check imports litellm, which would hold up the loop
        return self._client.check(settings)

    async def complete(self, request: Request) -> Reply | ProviderFailure:
        """See `LanguageClient.complete`."""
        return await self._client.complete(request)

    async def close(self) -> None:
        """Stop what the client started."""
        await self._client.close()


class RemoteLanguage:
    """A `correspondence.Language` that is a language actor. One that died is replaced."""

    def __init__(self) -> None:
        self._handle: ActorHandle[Any] | None = None

    async def check(self, settings: ModelSettings) -> str | None:
        """See `LanguageClient.check`."""
        problem: str | None = await _answer(self._actor().check.remote(settings))
        return problem

    async def complete(self, request: Request) -> Reply | ProviderFailure:
        """See `LanguageClient.complete`."""
        handle = self._actor()
        try:
            reply: Reply | ProviderFailure = await _answer(handle.complete.remote(request))
        except ProcessDiedError:
            if self._handle is handle:
                self._handle = None
            raise
        return reply

    async def close(self) -> None:
        """Stop what the client started."""
        if self._handle is not None:
            await _answer(self._handle.close.remote())

    def _actor(self) -> ActorHandle[Any]:
        if self._handle is None:
            self._handle = start(LanguageActor, at_once=CALLS_AT_ONCE)
        return self._handle


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
    """An `episode.Outside` that is an encoder actor. One that died is replaced.

    Args:
        handle: The actor, which several markets may share.
        model: The encoder, for a replacement.
    """

    def __init__(self, handle: ActorHandle[Any], model: str) -> None:
        self._handle = handle
        self._model = model

    async def answer(self, decision: Decision) -> Answer | ProviderFailure:
        """See `EncodedFacts.answer`."""
        for _ in range(ENCODER_DEATHS):
            try:
                answer: Answer | ProviderFailure = await _answer(
                    self._handle.answer.remote(decision)
                )
                return answer
            except ProcessDiedError:
                self._handle = start(EncoderActor, self._model)
        return ProviderFailure("unreachable", "the encoder's process died again and again")
