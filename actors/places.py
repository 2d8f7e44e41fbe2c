"""Where episodes are played: in this process, or on Ray.

A place opens markets and knows who calls models. It is an asynchronous context: on leaving it,
whatever was started is stopped.
"""

from __future__ import annotations

import importlib
import uuid
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from actors.collecting import relaxed
from actors.correspondence import Language
from actors.driver import Market
from actors.errors import UserError
from actors.hosts import ProcessDiedError
from actors.language.caps import Caps
from actors.language.redaction import know, know_all
from actors.retailer import Casting
from actors.staging import Script, is_private, stage_inline
from market import registry
from market.config import Config
from market.language import ModelSettings

if TYPE_CHECKING:
    from ray.actor import ActorHandle

    from actors.language.response_cache import ResponseCache
    from actors.ray_actors import RemoteOutside

#: How many market actors are started until one comes up: those on a node that was just lost do not.
STARTS = 5


class Place(Protocol):
    """Where episodes are played."""

    @property
    def language(self) -> Language:
        """Who calls models."""
        ...

    async def open(self, script: Script) -> Market:
        """A fresh market for an episode."""
        ...


class InlinePlace:
    """This process."""

    def __init__(self, language: Language, encoder: str) -> None:
        from actors.outside import EncodedFacts

        self.language = language
        self.facts = EncodedFacts(encoder)

    async def open(self, script: Script) -> Market:
        """An episode in this process."""
        _know_keys(script)
        return stage_inline(script, self.facts)


class RayPlace:
    """A Ray cluster that this process is connected to. Market actors serve one after the other."""

    def __init__(self, config: Config) -> None:
        from actors import ray_actors
        from actors.ray_language import RemoteLanguage

        self._actors = ray_actors
        self._config = config
        self._name = f"market-{uuid.uuid4().hex}"
        self._idle: list[ActorHandle[Any]] = []
        self._started = 0
        self.language = RemoteLanguage(
            f"{self._name}-language",
            config.language_per_node,
            caps_of(config),
            cache_of(config),
        )
        self.outside = self._outside()

    async def open(self, script: Script) -> Market:
        """An episode in a market actor: an idle one, or a new one on the next node.

        Raises:
            ProcessDiedError: If none comes up.
        """
        _know_keys(script)
        while self._idle:
            handle = self._idle.pop()
            if await self._actors.lives(handle):
                return self._market(handle, script)
        for _ in range(STARTS):
            nodes = self._actors.nodes()
            node = nodes[self._started % len(nodes)].id
            self._started += 1
            handle = self._actors.start(self._actors.MarketActor, self._outside(), node=node)
            if await self._actors.lives(handle):
                return self._market(handle, script)
        raise ProcessDiedError("no market actor comes up")

    def _market(self, handle: ActorHandle[Any], script: Script) -> Market:
        return self._actors.RemoteMarket(handle, portable(script), self._idle.append)

    def _outside(self) -> RemoteOutside:
        node = None if self._config.encoder_per_node else self._actors.here()
        return self._actors.RemoteOutside(self._config.encoder.model, f"{self._name}-encoder", node)


@asynccontextmanager
async def inline(
    config: Config, models: Sequence[ModelSettings], facts: bool = True
) -> AsyncIterator[Place]:
    """Play in this process.

    Args:
        config: Where to play.
        models: The models that are asked.
        facts: Whether the encoder is asked.

    Raises:
        UserError: If a model, the encoder or the response cache cannot be used, as far as is known
            without asking.
    """
    from actors.language.client import LanguageClient

    client = LanguageClient(caps=caps_of(config), cache=_opened(config))
    place = InlinePlace(client, config.encoder.model)
    if facts:
        _refuse(place.facts.problem())
    for settings in models:
        _refuse(client.check(settings))
    try:
        with relaxed():
            yield place
    finally:
        await client.close()


@asynccontextmanager
async def on_ray(
    config: Config, models: Sequence[ModelSettings], facts: bool = True
) -> AsyncIterator[Place]:
    """Play on Ray: a local one of our own, or the cluster at the configured address.

    Args:
        config: Where to play.
        models: The models that are asked.
        facts: Whether the encoder is asked.

    Raises:
        UserError: If a model, the encoder, the response cache or the cluster cannot be used.
    """
    from actors.cluster import connected

    if (cache := _opened(config)) is not None:
        cache.close()  # those who use it open it for themselves
    with connected(config.address):
        place = RayPlace(config)
        try:
            if facts:
                _refuse(await place.outside.problem())
            for settings in models:
                _refuse(await place.language.check(settings))
        except ProcessDiedError as death:
            raise UserError(
                f"The processes that call models or compare texts die as soon as they are started "
                f"({death}); look at the memory of the machine."
            ) from None
        try:
            yield place
        finally:
            await place.language.close()


def caps_of(config: Config) -> dict[str, Caps]:
    """How hard models may be asked."""
    return {name: Caps(**caps.model_dump()) for name, caps in config.caps.items()}


def cache_of(config: Config) -> str | None:
    """The file of the response cache, wherever a process stands; None for none."""
    return None if config.response_cache is None else str(Path(config.response_cache).absolute())


def crowded(config: Config, processes: int) -> None:
    """Refuse more retailer processes than a node should carry.

    Raises:
        UserError: If there are.
    """
    if not config.inline and processes > config.actors_per_node:
        seats = processes * config.retailers_per_actor
        needed = -(-seats // config.actors_per_node)
        raise UserError(
            f"{processes} retailer actors are more than actors_per_node "
            f"({config.actors_per_node}) allows; set retailers_per_actor={needed} or more."
        )


def portable(script: Script) -> Script:
    """The script with classes instead of names for policies that only this machine can import."""
    groups = tuple(tuple(_portable(casting) for casting in group) for group in script.castings)
    return replace(script, castings=groups)


def _portable(casting: Casting) -> Casting:
    from ray import cloudpickle

    if not isinstance(casting.policy, str) or not is_private(casting.policy):
        return casting
    module = importlib.import_module(casting.policy.partition(":")[0])
    cloudpickle.register_pickle_by_value(module)  # type: ignore[no-untyped-call]
    return replace(casting, policy=registry.load(casting.policy))


def _opened(config: Config) -> ResponseCache | None:
    """The response cache; None for none."""
    from actors.language.response_cache import ResponseCache, ResponseCacheError

    if (path := cache_of(config)) is None:
        return None
    try:
        return ResponseCache(path)
    except ResponseCacheError as error:
        raise UserError(str(error)) from None


def _know_keys(script: Script) -> None:
    """Keep what is secret in an episode out of what is told of its failures."""
    know(*script.variables)
    for group in script.castings:
        for casting in group:
            know_all(casting.options)


def _refuse(problem: str | None) -> None:
    if problem is not None:
        raise UserError(problem)
