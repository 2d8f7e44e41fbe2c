"""The Ray actors: thin shells over plain code.

They never restart by themselves: whoever spawned an actor replaces it, since a fresh one must be
given its memory first. They ask for no CPU, so that a market of any size fits a small machine; how
many may run is decided before the start. Heavy imports happen where an actor needs them: this
module is loaded by every retailer's process.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping, Sequence
from functools import cache
from typing import Any

import ray
from ray.actor import ActorHandle
from ray.exceptions import RayActorError, RayTaskError

from actors.hosts import ProcessDiedError
from actors.retailer import Ask, Casting, Outcome, Past, Retailers, Stage
from market.environment import Answer, Decision
from market.language import ModelSettings, ProviderFailure, Reply, Request


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
        try:
            return await getattr(self._handle, method).remote(argument)
        except RayTaskError:
            raise
        except RayActorError as error:
            raise ProcessDiedError(type(error).__name__) from error

    async def kill(self) -> None:
        """Kill the actor."""
        ray.kill(self._handle, no_restart=True)


async def spawn_retailers(castings: Sequence[Casting], stage: Stage) -> RetailerProcess:
    """Start a retailer actor. Its first call waits for it."""
    return RetailerProcess(start(RetailerActor, castings, stage))


class MarketActor:
    """One episode, stepped by the driver. Its retailers are its own and die with it."""

    def __init__(self, script: Any, language: Any, outside: Any) -> None:
        from actors.staging import stage_processes

        self._episode, self._hosts = stage_processes(
            script, spawn_retailers, RemoteLanguage(language), RemoteOutside(outside)
        )

    async def start(self) -> Any:
        """Start the retailers and the episode."""
        import asyncio

        await asyncio.gather(*(host.start() for host in self._hosts))
        return await self._episode.start()

    async def gather(self) -> AsyncIterator[Any]:
        """See `Episode.gather`."""
        async for part in self._episode.gather():
            yield part

    async def apply(self) -> Any:
        """See `Episode.apply`."""
        return await self._episode.apply()


class RemoteMarket:
    """An `Episode` as the driver sees it, wherever it runs."""

    def __init__(self, handle: ActorHandle[Any]) -> None:
        self._handle = handle

    async def start(self) -> Any:
        """See `Episode.start`."""
        return await self._handle.start.remote()

    async def gather(self) -> AsyncIterator[Any]:
        """See `Episode.gather`."""
        async for part in self._handle.gather.options(num_returns="streaming").remote():
            yield await part

    async def apply(self) -> Any:
        """See `Episode.apply`."""
        return await self._handle.apply.remote()


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
    """An `episode.Language` that is a language actor; none when no retailer asks a model."""

    def __init__(self, handle: ActorHandle[Any] | None) -> None:
        self._handle = handle

    async def complete(self, request: Request) -> Reply | ProviderFailure:
        """See `LanguageClient.complete`."""
        assert self._handle is not None
        reply: Reply | ProviderFailure = await self._handle.complete.remote(request)
        return reply


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
    """An `episode.Outside` that is an encoder actor."""

    def __init__(self, handle: ActorHandle[Any]) -> None:
        self._handle = handle

    async def answer(self, decision: Decision) -> Answer | ProviderFailure:
        """See `EncodedFacts.answer`."""
        answer: Answer | ProviderFailure = await self._handle.answer.remote(decision)
        return answer
