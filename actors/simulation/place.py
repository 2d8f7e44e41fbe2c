"""A pretended cluster: where the real code is played, and how it dies.

What stands here for Ray's actors does what theirs do (`actors.ray_actors`) on processes that are
only pretended. One thing is not drawn: a process does not die of a fault twice over one batch,
because a host cannot tell that from a retailer that kills its processes, and blames the retailer.
"""

from __future__ import annotations

import asyncio
import itertools
import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

from actors.episode import Episode, News, State
from actors.hosts import Process, ProcessDiedError, ProcessHost
from actors.language.caps import Caps, Load
from actors.language.client import LanguageClient
from actors.language.gate import Gate
from actors.language.limits import Demand
from actors.retailer import Ask, Casting, Retailers, Stage
from actors.simulation import games
from actors.simulation.audit import Books, conversation
from actors.simulation.faults import Fault
from actors.simulation.games import Game
from actors.simulation.limits import MODEL, Allowance
from actors.simulation.processes import Cluster, PretendedProcess
from actors.simulation.provider import ASKING, PretendedTransport
from actors.staging import Script, stage_processes
from market.calls import CallKey
from market.environment import Answer, Decision
from market.language import ProviderFailure, Reply, Request

#: How often the encoder may die over one question.
ENCODER_DEATHS = 3


class PretendedPlace:
    """A `places.Place`."""

    def __init__(
        self,
        game: Game,
        cluster: Cluster,
        books: Books,
        transport: PretendedTransport,
        allowance: Allowance,
    ) -> None:
        self.language = PretendedLanguage(cluster, books, transport, allowance)
        self._outside = PretendedOutside(cluster)
        self._game = game
        self._cluster = cluster
        self._idle: list[MarketProcess] = []

    async def open(self, script: Script) -> PretendedMarket:
        """An episode in a market process: an idle one, or a new one."""
        if self._idle:
            process = self._idle.pop()
        else:
            process = MarketProcess(self._cluster, self._game, self._outside)
        return PretendedMarket(process, script, self._idle)


class PretendedMarket:
    """A `driver.Market` that is played by a market process.

    Calls keep to their episode, also those that arrive when the next one has begun.
    """

    _episode: Episode

    def __init__(self, process: MarketProcess, script: Script, idle: list[MarketProcess]) -> None:
        self._process = process
        self._script = script
        self._idle = idle

    async def start(self, recorded: list[Mapping[str, str]]) -> State:
        """See `Episode.start`."""
        work = self._process.begin
        state = await self._process.run("start", lambda: work(self._script, recorded))
        self._episode = self._process.episode
        return cast(State, state)

    async def gather(self) -> News:
        """See `Episode.gather`."""
        return cast(News, await self._process.run("gather", lambda: self._episode.gather()))

    async def supply(self, replies: Mapping[CallKey, Reply | ProviderFailure]) -> None:
        """See `Episode.supply`."""
        await self._process.run("supply", lambda: self._episode.supply(replies))

    async def apply(self) -> State:
        """See `Episode.apply`."""
        return cast(State, await self._process.run("apply", lambda: self._episode.apply()))

    async def close(self) -> None:
        """End the episode; the process serves the next."""
        await self._process.run("close", self._process.end)
        self._idle.append(self._process)


class MarketProcess(PretendedProcess):
    """A process that plays one episode after the other."""

    episode: Episode

    def __init__(self, cluster: Cluster, game: Game, outside: PretendedOutside) -> None:
        super().__init__(cluster, "a market", Fault.MARKET)
        self._game = game
        self._outside = outside
        self._spare: list[RetailerProcess] = []
        self._hosts: list[ProcessHost] = []
        self._slots: dict[tuple[str, ...], Slot] = {}

    async def begin(self, script: Script, recorded: list[Mapping[str, str]]) -> State:
        """Put an episode together, with its retailers, and begin it."""
        self._slots = {}
        self.episode, self._hosts = stage_processes(script, self._spawn, self._outside)
        await asyncio.gather(*(host.start() for host in self._hosts))
        return await self.episode.start(recorded)

    async def end(self) -> None:
        """End the episode and keep its processes for the next."""
        await self.episode.close()
        left = [await host.leave() for host in self._hosts]
        self._hosts = []
        self._spare += [process for process in left if isinstance(process, RetailerProcess)]

    async def _spawn(self, castings: Sequence[Casting], stage: Stage) -> Process:
        seats = tuple(casting.seat for casting in castings)
        slot = self._slots.setdefault(seats, Slot())
        while self._spare:
            process = self._spare.pop()
            process.slot = slot
            try:
                await process.call("cast", (castings, stage))
                return process
            except ProcessDiedError:
                continue
        process = RetailerProcess(self.cluster, self, self._game, slot)
        await process.call("cast", (castings, stage))
        return process


@dataclass
class Slot:
    """What a host's processes suffered over the open batch.

    Attributes:
        asked: Step and turn of the batch.
        deaths: Processes that died over it.
    """

    asked: tuple[int, int] | None = None
    deaths: int = 0

    def ask(self, ask: Ask, alive: bool) -> None:
        """A batch is asked, perhaps again."""
        if self.asked != (ask.step, ask.turn):
            self.asked = (ask.step, ask.turn)
            self.deaths = 0 if alive else 1


class RetailerProcess(PretendedProcess):
    """A `hosts.Process`."""

    def __init__(self, cluster: Cluster, market: MarketProcess, game: Game, slot: Slot) -> None:
        super().__init__(cluster, "retailers", Fault.RETAILER, parent=market)
        self.slot = slot
        self._game = game
        self._retailers: Retailers | None = None
        self._one_by_one = asyncio.Lock()

    async def call(self, method: str, argument: Any) -> Any:
        """Call a method of its `Retailers`."""
        if method == "act":
            self.slot.ask(argument, self.alive)
        return await self.run(method, lambda: self._work(method, argument))

    async def kill(self) -> None:
        """End it."""
        self.die()

    def die(self, silence: float = 0.05) -> None:
        """Die, and count it."""
        if self.alive:
            self.slot.deaths += 1
        super().die(silence)

    def spared(self, what: str) -> bool:
        """Whether another death would be held against a seat."""
        return self.slot.deaths > 0 and what not in ("restore", "cast")

    async def _work(self, method: str, argument: Any) -> Any:
        async with self._one_by_one:
            return await self._do(method, argument)

    async def _do(self, method: str, argument: Any) -> Any:
        if method == "cast":
            self._retailers = Retailers(*argument)
            return None
        if method == "act":
            for seat in argument.seats:
                await self._suffer(self._game.trouble(seat, argument.step, argument.turn))
        return getattr(self._retailers, method)(argument)

    async def _suffer(self, trouble: str) -> None:
        if trouble == "dies":
            self.die()
        if trouble:
            await asyncio.Event().wait()


class PretendedLanguage:
    """A `correspondence.Language` in processes of its own. One that died is replaced."""

    def __init__(
        self,
        cluster: Cluster,
        books: Books,
        transport: PretendedTransport,
        allowance: Allowance,
    ) -> None:
        self._cluster = cluster
        self._books = books
        self._transport = transport
        self._caps = {} if allowance.caps is None else {MODEL: allowance.caps}
        self._gate = PretendedGate(cluster, books, self._caps) if self._caps else None
        self._running: dict[int, tuple[PretendedProcess, LanguageClient]] = {}
        self._turns = itertools.cycle(range(allowance.processes))
        self._names = itertools.count()

    async def complete(self, request: Request) -> Reply | ProviderFailure:
        """See `LanguageClient.complete`: by each of the processes in turn."""
        place = next(self._turns)
        if place not in self._running:
            self._running[place] = self._started()
        process, client = self._running[place]
        asked = conversation(request)
        try:
            work = _asking(client, request, asked)
            return cast(Reply | ProviderFailure, await process.run("complete", work))
        except ProcessDiedError:
            self._books.excuse(asked)
            if self._running.get(place) == (process, client):
                del self._running[place]
            raise

    def _started(self) -> tuple[PretendedProcess, LanguageClient]:
        process = PretendedProcess(self._cluster, "language", Fault.LANGUAGE)
        draw = self._cluster.faults.draws.integer(0, 2**32)
        client = LanguageClient(
            transport=self._transport,
            caps=self._caps,
            gate=self._gate,
            name=f"client-{next(self._names)}",
            clock=asyncio.get_running_loop().time,
            jitter=random.Random(draw),
        )
        return process, client


class PretendedGate:
    """A `lease.Leasing` in a process of its own. One that died is replaced, without a memory."""

    def __init__(self, cluster: Cluster, books: Books, caps: Mapping[str, Caps]) -> None:
        self._cluster = cluster
        self._books = books
        self._caps = caps
        self._process: PretendedProcess | None = None
        self._gate: Gate | None = None

    async def renew(
        self,
        client: str,
        number: int,
        demands: Mapping[str, Demand],
        quiet: Mapping[str, float],
    ) -> tuple[dict[str, Load], dict[str, float]]:
        """See `Gate.renew`."""
        if self._process is None or self._gate is None or not self._process.alive:
            self._books.gates += 1
            self._process = PretendedProcess(self._cluster, "the gate", Fault.GATE)
            self._gate = Gate(self._caps, asyncio.get_running_loop().time)
        gate = self._gate

        async def work() -> tuple[dict[str, Load], dict[str, float]]:
            return gate.renew(client, number, demands, quiet)

        return cast(
            tuple[dict[str, Load], dict[str, float]], await self._process.run("renew", work)
        )


def _asking(client: LanguageClient, request: Request, asked: str) -> Any:
    async def work() -> Reply | ProviderFailure:
        ASKING.set(asked)
        return await client.complete(request)

    return work


class PretendedOutside:
    """An `episode.Outside` in a process of its own. One that died is replaced."""

    def __init__(self, cluster: Cluster) -> None:
        self._cluster = cluster
        self._process: PretendedProcess | None = None

    async def answer(self, decision: Decision) -> Answer | ProviderFailure:
        """What is known."""
        for _ in range(ENCODER_DEATHS):
            if self._process is None or not self._process.alive:
                self._process = PretendedProcess(self._cluster, "the encoder", Fault.ENCODER)
            try:
                return cast(Answer, await self._process.run("answer", lambda: _know(decision)))
            except ProcessDiedError:
                continue
        return ProviderFailure("unreachable", "the encoder's process died again and again")


async def _know(decision: Decision) -> Answer:
    return games.fact(decision)
