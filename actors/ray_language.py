"""Who calls models, on Ray: one actor beside the driver, or one on each node.

One is enough for hosted models: it keeps a thousand calls in flight. One per node shares out the
work of a model that runs on the nodes themselves, and the connections of very many calls. The caps
of models hold over all of them, by a gate that they lease from.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Mapping
from typing import Any

from ray.actor import ActorHandle

from actors.bundling import Broken, Courier, Desk
from actors.hosts import ProcessDiedError
from actors.language.caps import Caps, Load
from actors.language.limits import Demand
from actors.ray_actors import answer, discard, here, nodes, start
from market.language import ModelSettings, ProviderFailure, Reply, Request

#: How often an actor may die while it is asked whether it can be used.
CHECKS = 5

#: Model calls in flight at once, over all retailers.
CALLS_AT_ONCE = 1_000


class GateActor:
    """Shares the caps of models among language actors."""

    def __init__(self, caps: Mapping[str, Caps]) -> None:
        from actors.language.gate import Gate

        self._gate = Gate(caps)

    def renew(
        self,
        client: str,
        number: int,
        demands: Mapping[str, Demand],
        quiet: Mapping[str, float],
    ) -> tuple[dict[str, Load], dict[str, float]]:
        """See `Gate.renew`."""
        return self._gate.renew(client, number, demands, quiet)


class RemoteGate:
    """A `lease.Leasing` that is a gate actor, which all copies of this share.

    Args:
        caps: Limits per model.
        name: Name of the actor, unlike any other's.
        node: Its node.
    """

    def __init__(self, caps: Mapping[str, Caps], name: str, node: str) -> None:
        self._caps = caps
        self._name = name
        self._node = node
        self._handle: ActorHandle[Any] | None = None

    async def renew(
        self,
        client: str,
        number: int,
        demands: Mapping[str, Demand],
        quiet: Mapping[str, float],
    ) -> tuple[dict[str, Load], dict[str, float]]:
        """See `Gate.renew`."""
        if self._handle is None:
            self._handle = start(GateActor, self._caps, node=self._node, name=self._name)
        try:
            granted: tuple[dict[str, Load], dict[str, float]] = await answer(
                self._handle.renew.remote(client, number, demands, quiet)
            )
        except ProcessDiedError:
            discard(self._handle)
            self._handle = None
            raise
        return granted


class LanguageActor:
    """Calls models for all retailers: the only process that imports litellm.

    Args:
        caps: Limits per model.
        gate: Who shares them among several such actors.
        cache: File of the response cache; None for none.
    """

    def __init__(
        self, caps: Mapping[str, Caps], gate: RemoteGate | None, cache: str | None
    ) -> None:
        from actors.language.client import LanguageClient
        from actors.language.response_cache import ResponseCache, ResponseCacheError

        kept = None
        self._problem: str | None = None
        try:
            kept = None if cache is None else ResponseCache(cache)
        except ResponseCacheError as error:
            self._problem = str(error)  # told when checked; later it costs answers and no more
        self._client = LanguageClient(caps=caps, gate=gate, cache=kept)
        self._desk = Desk(self._client.complete)

    async def check(self, settings: ModelSettings) -> str | None:
        """See `LanguageClient.check`; a response cache that cannot be used is a problem too."""
        if self._problem is not None:
            return self._problem
        await self._client.warm_up()  # a check imports litellm, which would hold up the loop
        return self._client.check(settings)

    async def take(self, requests: Mapping[int, Request]) -> None:
        """See `Desk.take`: begin to complete requests."""
        self._desk.take(requests)

    async def collect(self) -> Mapping[int, Reply | ProviderFailure | Broken]:
        """See `Desk.collect`: what they were completed with."""
        return await self._desk.collect()

    async def close(self) -> None:
        """Stop what the client started."""
        await self._client.close()


class RemoteLanguage:
    """A `correspondence.Language` that is a language actor, or one on each node.

    One that died is replaced; of several, a node whose actor died is left out while others work.

    Args:
        name: Unlike any other's.
        per_node: Whether there is one on each node.
        caps: Limits per model, by the name in configurations.
        cache: File of the response cache; None for none.
    """

    def __init__(
        self,
        name: str,
        per_node: bool = False,
        caps: Mapping[str, Caps] | None = None,
        cache: str | None = None,
    ) -> None:
        self._cache = cache
        self._per_node = per_node
        self._caps = caps or {}
        self._gate = RemoteGate(self._caps, f"{name}-gate", here()) if per_node and caps else None
        self._handles: dict[str, ActorHandle[Any]] = {}
        self._couriers: dict[str, Courier[Request, Reply | ProviderFailure]] = {}
        self._busy: Counter[str] = Counter()

    async def check(self, settings: ModelSettings) -> str | None:
        """See `LanguageClient.check`: the first problem that any of the actors has."""
        nodes = list(self._actors())
        found = await asyncio.gather(*(self._check(node, settings) for node in nodes))
        return next((problem for problem in found if problem is not None), None)

    async def _check(self, node: str, settings: ModelSettings) -> str | None:
        for left in reversed(range(CHECKS)):
            handle = self._actors().get(node)
            if handle is None:
                break  # it is left out: others work
            try:
                problem: str | None = await answer(handle.check.remote(settings))
                return problem
            except ProcessDiedError:
                if self._handles.get(node) is handle:
                    del self._handles[node]
                if not left:
                    raise
        return None

    async def complete(self, request: Request) -> Reply | ProviderFailure:
        """See `LanguageClient.complete`: by the actor that has the fewest calls under way."""
        node, handle = min(self._actors().items(), key=lambda each: self._busy[each[0]])
        self._busy[node] += 1
        try:
            return await self._couriers[node].ask(request)
        except ProcessDiedError:
            if self._handles.get(node) is handle:
                discard(self._handles.pop(node))
            raise
        finally:
            self._busy[node] -= 1

    async def close(self) -> None:
        """Stop what the clients started. One that died has nothing left to stop."""
        closing = [answer(handle.close.remote()) for handle in self._handles.values()]
        for ended in await asyncio.gather(*closing, return_exceptions=True):
            if isinstance(ended, BaseException) and not isinstance(ended, ProcessDiedError):
                raise ended

    def _actors(self) -> dict[str, ActorHandle[Any]]:
        """The actors by their nodes."""
        if not self._handles:
            where = [node.id for node in nodes()] if self._per_node else [here()]
            self._handles = {
                node: start(
                    LanguageActor,
                    self._caps,
                    self._gate,
                    self._cache,
                    at_once=CALLS_AT_ONCE,
                    node=node,
                )
                for node in where
            }
            self._couriers = {node: _courier(actor) for node, actor in self._handles.items()}
        return self._handles


def _courier(actor: ActorHandle[Any]) -> Courier[Request, Reply | ProviderFailure]:
    return Courier(
        lambda requests: answer(actor.take.remote(requests)),
        lambda: answer(actor.collect.remote()),
    )
