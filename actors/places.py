"""Where episodes are played: in this process, or on Ray.

A place opens markets and knows who calls models. It is an asynchronous context: on leaving it,
whatever was started is stopped.
"""

from __future__ import annotations

import importlib
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import Protocol

from actors.correspondence import Language
from actors.driver import Market
from actors.errors import UserError
from actors.retailer import Casting
from actors.staging import Script, is_private, stage_inline
from market import registry
from market.config import Config
from market.language import ModelSettings


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
        return stage_inline(script, self.facts)


class RayPlace:
    """A Ray cluster that this process is connected to."""

    def __init__(self, encoder: str) -> None:
        from actors import ray_actors

        self._actors = ray_actors
        self.language = ray_actors.RemoteLanguage()
        self.model = encoder
        self.encoder = ray_actors.start(ray_actors.EncoderActor, encoder)

    async def open(self, script: Script) -> Market:
        """An episode in a market actor of its own."""
        handle = self._actors.start(
            self._actors.MarketActor, portable(script), self.encoder, self.model
        )
        return self._actors.RemoteMarket(handle)


@asynccontextmanager
async def inline(config: Config, models: Sequence[ModelSettings]) -> AsyncIterator[Place]:
    """Play in this process.

    Raises:
        UserError: If a model or the encoder cannot be used, as far as is known without asking.
    """
    from actors.language.client import LanguageClient

    client = LanguageClient()
    place = InlinePlace(client, config.encoder.model)
    _refuse(place.facts.problem())
    for settings in models:
        _refuse(client.check(settings))
    try:
        yield place
    finally:
        await client.close()


@asynccontextmanager
async def on_ray(config: Config, models: Sequence[ModelSettings]) -> AsyncIterator[Place]:
    """Play on Ray: a local one of our own, or the cluster at the configured address.

    Raises:
        UserError: If a model, the encoder or the cluster cannot be used.
    """
    from actors.cluster import connected

    with connected(config.address):
        place = RayPlace(config.encoder.model)
        problem: str | None = await place.encoder.problem.remote()
        _refuse(problem)
        for settings in models:
            _refuse(await place.language.check(settings))
        try:
            yield place
        finally:
            await place.language.close()


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


def _refuse(problem: str | None) -> None:
    if problem is not None:
        raise UserError(problem)
