"""A host replaces processes that are late or die, and no seat but the guilty pays for it."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import pytest

from actors.hosts import LocalHost, ProcessDiedError, ProcessHost
from actors.retailer import Ask, Casting, Retailers, Said, Silent, Stage
from market.environment import Cause, Form

STAGE = Stage({}, {"count": Form({"type": "object"}, {})})
DEADLINE = 0.05


@dataclass
class World:
    """Pretended processes, and what is going to happen to them.

    Attributes:
        trouble: For a seat, what happens when it is asked: `dies`, `hangs` or, once only,
            `dies once` or `hangs once`.
        past: The same for when it recalls its past.
        spawned: Processes started.
        killed: Processes killed.
        restored: Seats that were given their past, call by call.
    """

    trouble: dict[str, str] = field(default_factory=dict)
    past: dict[str, str] = field(default_factory=dict)
    spawned: int = 0
    killed: int = 0
    restored: list[tuple[str, ...]] = field(default_factory=list)

    async def spawn(self, castings: Sequence[Casting], stage: Stage) -> PretendedProcess:
        self.spawned += 1
        return PretendedProcess(self, Retailers(castings, stage))


@dataclass
class PretendedProcess:
    """Real retailers whose process is only pretended."""

    world: World
    retailers: Retailers

    async def call(self, method: str, argument: Any) -> Any:
        if method == "act":
            for seat in argument.seats:
                await _suffer(self.world.trouble, seat)
        if method == "restore":
            self.world.restored.append(tuple(argument))
            for seat, past in argument.items():
                if not isinstance(past, Silent):
                    await _suffer(self.world.past, seat)
        return getattr(self.retailers, method)(argument)

    async def kill(self) -> None:
        self.world.killed += 1


async def _suffer(troubles: dict[str, str], seat: str) -> None:
    trouble = troubles.get(seat, "")
    if trouble.endswith("once"):
        del troubles[seat]
    if trouble.startswith("dies"):
        raise ProcessDiedError("killed")
    if trouble.startswith("hangs"):
        await asyncio.sleep(3600)


def host(world: World, *seats: str) -> ProcessHost:
    castings = [Casting(seat, "tests.actors.counting:Counting", {}, 1) for seat in seats]
    return ProcessHost(castings, STAGE, world.spawn, DEADLINE)


def ask(step: int, *seats: str) -> Ask:
    return Ask(step, 0, {}, {seat: ("count", {}) for seat in seats})


async def play(hosted: ProcessHost | LocalHost, step: int, *seats: str) -> dict[str, Said | Silent]:
    """One batch: asked, and settled with what was answered."""
    given = {}
    for seat, outcome in (await hosted.act(ask(step, *seats))).items():
        assert isinstance(outcome, Said | Silent)
        given[seat] = outcome
    await hosted.settle(given)
    return given


def count(outcome: Said | Silent) -> int:
    """How often a seat's policy remembers to have been asked."""
    assert isinstance(outcome, Said), outcome
    return int(outcome.text.removeprefix('{"action":{"asked":').removesuffix("}}"))


def test_memory_counts_up_as_long_as_nothing_happens() -> None:
    async def story() -> None:
        hosted = host(World(), "a", "b")
        for step in (1, 2, 3):
            given = await play(hosted, step, "a", "b")
            assert [count(given[seat]) for seat in ("a", "b")] == [step, step]

    asyncio.run(story())


def test_a_late_seat_pays_with_its_turn_and_gets_a_fresh_process_with_its_memory() -> None:
    async def story() -> None:
        world = World()
        hosted = host(world, "a")
        await play(hosted, 1, "a")
        world.trouble["a"] = "hangs once"
        late = (await play(hosted, 2, "a"))["a"]
        assert late == Silent(Cause.LATE, f"no answer within {DEADLINE} s")
        assert (world.spawned, world.killed) == (2, 1)
        assert count((await play(hosted, 3, "a"))["a"]) == 2

    asyncio.run(story())


def test_a_process_that_dies_once_costs_nobody_anything() -> None:
    async def story() -> None:
        world = World()
        hosted = host(world, "a", "b", "c")
        await play(hosted, 1, "a", "b", "c")
        world.trouble["b"] = "dies once"
        given = await play(hosted, 2, "a", "b", "c")
        assert [count(given[seat]) for seat in ("a", "b", "c")] == [2, 2, 2]
        given = await play(hosted, 3, "a", "b", "c")
        assert [count(given[seat]) for seat in ("a", "b", "c")] == [3, 3, 3]

    asyncio.run(story())


@pytest.mark.parametrize(("trouble", "cause"), [("dies", Cause.CRASHED), ("hangs", Cause.LATE)])
def test_in_a_shared_process_only_the_guilty_seat_pays(trouble: str, cause: Cause) -> None:
    async def story() -> None:
        world = World()
        hosted = host(world, "a", "b", "c")
        await play(hosted, 1, "a", "b", "c")
        world.trouble["b"] = trouble
        given = await play(hosted, 2, "a", "b", "c")
        assert isinstance(given["b"], Silent)
        assert given["b"].cause is cause
        assert [count(given[seat]) for seat in ("a", "c")] == [2, 2]
        del world.trouble["b"]
        given = await play(hosted, 3, "a", "b", "c")
        assert [count(given[seat]) for seat in ("a", "b", "c")] == [3, 2, 3]

    asyncio.run(story())


def test_two_guilty_seats_of_one_process_both_pay_and_the_rest_play_on() -> None:
    async def story() -> None:
        world = World({"a": "hangs", "c": "dies"})
        hosted = host(world, "a", "b", "c", "d")
        given = await play(hosted, 1, "a", "b", "c", "d")
        assert [count(given[seat]) for seat in ("b", "d")] == [1, 1]
        assert isinstance(given["a"], Silent)
        assert isinstance(given["c"], Silent)

    asyncio.run(story())


def test_a_policy_that_raised_is_rebuilt_without_the_turn() -> None:
    async def story() -> None:
        castings = [Casting("a", "tests.actors.counting:Stumbling", {"step": 2}, 1)]
        hosted = LocalHost(castings, STAGE)
        assert count((await play(hosted, 1, "a"))["a"]) == 1
        stumbled = (await play(hosted, 2, "a"))["a"]
        assert isinstance(stumbled, Silent)
        assert stumbled.cause is Cause.CRASHED
        assert count((await play(hosted, 3, "a"))["a"]) == 2

    asyncio.run(story())


def test_a_seat_that_hangs_over_its_past_crashes_and_the_rest_play_on() -> None:
    async def story() -> None:
        world = World(past={"b": "hangs"})
        hosted = host(world, "a", "b", "c")
        await play(hosted, 1, "a", "b", "c")
        world.trouble["c"] = "dies once"
        given = await play(hosted, 2, "a", "b", "c")
        assert [count(given[seat]) for seat in ("a", "c")] == [2, 2]
        assert given["b"] == Silent(Cause.CRASHED, "its past was not recalled in time")
        spawned = world.spawned
        given = await play(hosted, 3, "a", "b", "c")
        assert [count(given[seat]) for seat in ("a", "c")] == [3, 3]
        assert isinstance(given["b"], Silent)
        assert world.spawned == spawned
        world.past["c"] = "hangs"
        world.trouble["a"] = "dies once"
        given = await play(hosted, 4, "a", "b", "c")
        assert count(given["a"]) == 4
        assert [given[seat].text for seat in ("b", "c")] == [Silent(Cause.CRASHED).text] * 2

    asyncio.run(story())


def test_a_single_seat_that_hangs_over_its_past_crashes_until_the_end() -> None:
    async def story() -> None:
        world = World(past={"a": "hangs"})
        hosted = host(world, "a")
        await hosted.start()
        await hosted.remember([(ask(1, "a"), {"a": Said('{"action":{"asked":1}}')})])
        for step in (2, 3):
            given = (await play(hosted, step, "a"))["a"]
            assert given == Silent(Cause.CRASHED, "its past was not recalled in time")
        assert world.spawned == 2

    asyncio.run(story())


def test_a_process_that_dies_once_over_a_past_is_held_against_nobody() -> None:
    async def story() -> None:
        world = World({"b": "dies once"}, past={"b": "dies once"})
        hosted = host(world, "a", "b")
        for step in (1, 2):
            given = await play(hosted, step, "a", "b")
            assert [count(given[seat]) for seat in ("a", "b")] == [step, step]

    asyncio.run(story())


def test_a_process_that_dies_whenever_it_is_made_ready_is_given_up() -> None:
    class Doomed(PretendedProcess):
        async def call(self, method: str, argument: Any) -> Any:
            if method == "restore":
                raise ProcessDiedError("killed")
            return await super().call(method, argument)

    class DoomedWorld(World):
        async def spawn(self, castings: Sequence[Casting], stage: Stage) -> PretendedProcess:
            self.spawned += 1
            return Doomed(self, Retailers(castings, stage))

    async def story() -> None:
        world = DoomedWorld({"a": "dies once"})
        with pytest.raises(ProcessDiedError):
            await host(world, "a").act(ask(1, "a"))
        assert world.spawned < 10

    asyncio.run(story())
