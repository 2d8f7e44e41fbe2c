"""What the simulator found once, each told without it."""

from __future__ import annotations

import asyncio
import gc
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from actors.correspondence import Correspondence
from actors.driver import Driver
from actors.hosts import ProcessDiedError, ProcessHost
from actors.retailer import Ask, Casting, Retailers, Said, Silent, Stage
from actors.staging import stage_inline
from actors.wants import Wanted
from market.calls import CallLog, CallLogError, read_calls
from market.environment import Answer, Decision, Form
from market.journal import Header, JournalError, JournalWriter
from market.language import Message, ModelSettings, Reply, Request
from market.policies.policy import History, Policy
from tests.actors.test_episode import USAGE, Nobody, Pretended, Quiet, roster, script

STAGE = Stage({}, {"count": Form({"type": "object"}, {})})
REQUEST = Request(ModelSettings("pretended"), (Message("user", "how many?"),))
WANTED = Wanted((1, 0, "a", 0), REQUEST)


@dataclass
class Asking(Policy):
    """Asks a model, and answers how often it was asked."""

    asked: int = 0

    def act(self, decision: Decision) -> Request:
        return REQUEST

    def resume(self, reply: Reply) -> Answer:
        self.asked += 1
        return Answer({"asked": self.asked})

    def recall(self, history: History) -> None:
        self.asked = len(history)


class World:
    """Pretended processes that die at the calls of a method, by their number from 1."""

    def __init__(self, **dies_at: set[int]) -> None:
        self.dies_at = dies_at
        self.calls: dict[str, int] = {}

    async def spawn(self, castings: Sequence[Casting], stage: Stage) -> Mortal:
        return Mortal(self, Retailers(castings, stage))


@dataclass
class Mortal:
    world: World
    retailers: Retailers

    async def call(self, method: str, argument: Any) -> Any:
        number = self.world.calls[method] = self.world.calls.get(method, 0) + 1
        if number in self.world.dies_at.get(method, ()):
            raise ProcessDiedError("killed")
        return getattr(self.retailers, method)(argument)

    async def kill(self) -> None:
        pass


def host(world: World, **policies: str) -> ProcessHost:
    castings = [
        Casting(seat, policy, {"step": 1} if "Stumbling" in policy else {}, 1)
        for seat, policy in policies.items()
    ]
    return ProcessHost(castings, STAGE, world.spawn, 10.0)


async def play(hosted: ProcessHost, step: int) -> dict[str, str]:
    ask = Ask(step, 0, {}, {seat: ("count", {}) for seat in hosted.seats})
    outcomes = dict(await hosted.act(ask))
    asking = [seat for seat, outcome in outcomes.items() if isinstance(outcome, Request)]
    if asking:
        outcomes |= await hosted.resume({seat: Reply("1", "stop", USAGE) for seat in asking})
    given = {seat: said for seat, said in outcomes.items() if isinstance(said, Said | Silent)}
    await hosted.settle(given)
    return {seat: said.text for seat, said in given.items()}


def test_a_death_while_memory_is_given_back_is_not_held_against_the_next_batch() -> None:
    async def story() -> None:
        # Dies when first resumed, dies again as the batch settles, and once in the next batch.
        world = World(resume={1, 3}, restore={2})
        hosted = host(world, a="tests.actors.test_found:Asking")
        assert await play(hosted, 1) == {"a": '{"action":{"asked":1}}'}
        assert await play(hosted, 2) == {"a": '{"action":{"asked":2}}'}

    asyncio.run(story())


def test_a_death_while_a_past_is_given_back_is_not_held_against_the_first_batch() -> None:
    async def story() -> None:
        # Dies over the past that a resumed run gives it, and once when it is first asked.
        hosted = host(World(restore={1}, act={1}), a="tests.actors.counting:Counting")
        past = [(Ask(1, 0, {}, {"a": ("count", {})}), {"a": Said('{"action":{"asked":1}}')})]
        await hosted.start()
        await hosted.remember(past)
        assert await play(hosted, 2) == {"a": '{"action":{"asked":2}}'}

    asyncio.run(story())


def test_a_death_while_one_seat_is_given_its_memory_costs_no_other_seat_its_own() -> None:
    async def story() -> None:
        counting = "tests.actors.counting:Counting"
        hosted = host(World(restore={1}), a="tests.actors.counting:Stumbling", b=counting)
        await play(hosted, 1)
        assert (await play(hosted, 2))["b"] == '{"action":{"asked":2}}'

    asyncio.run(story())


def test_a_cancellation_that_meets_an_answer_is_not_forgotten() -> None:
    async def story() -> None:
        hosted = host(World(), a="tests.actors.counting:Counting")
        answered = asyncio.get_running_loop().create_future()

        class Waiting(Mortal):
            async def call(self, method: str, argument: Any) -> Any:
                return await answered

        hosted._process = Waiting(World(), Retailers((), STAGE))
        act = asyncio.ensure_future(hosted.act(Ask(1, 0, {}, {"a": ("count", {})})))
        await asyncio.sleep(0.01)
        answered.set_result({"a": Said("{}")})
        act.cancel()
        await asyncio.wait([act])
        assert act.cancelled()

    asyncio.run(story())


def test_a_process_that_still_hangs_is_ended_and_serves_no_other_episode() -> None:
    async def story() -> None:
        killed = []

        class Hanging(Mortal):
            async def call(self, method: str, argument: Any) -> Any:
                await asyncio.Event().wait()

            async def kill(self) -> None:
                killed.append(self)

        hosted = host(World(), a="tests.actors.counting:Counting")
        hosted._process = Hanging(World(), Retailers((), STAGE))
        act = asyncio.ensure_future(hosted.act(Ask(1, 0, {}, {"a": ("count", {})})))
        await asyncio.sleep(0)
        act.cancel()
        await asyncio.wait([act])
        assert await hosted.leave() is None
        assert len(killed) == 1

    asyncio.run(story())


def test_a_process_that_is_done_serves_another_episode() -> None:
    async def story() -> None:
        hosted = host(World(), a="tests.actors.counting:Counting")
        await play(hosted, 1)
        assert isinstance(await hosted.leave(), Mortal)

    asyncio.run(story())


def test_a_market_that_dies_when_all_is_played_costs_nothing(tmp_path: Path) -> None:
    told = script(roster(llm=1, random=1))

    async def story() -> None:
        market = stage_inline(told, Nobody())

        async def die() -> None:
            raise ProcessDiedError("killed")

        market.close = die  # type: ignore[method-assign]

        async def opened() -> Any:
            return market

        letters = Correspondence("e1", log, Pretended())
        played = await Driver(opened, journal, letters, Quiet(), steps=3).play()
        assert played.result is not None

    with (
        JournalWriter.create(tmp_path / "j", Header.of(told.config, 1, "e1")) as journal,
        CallLog(tmp_path / "c") as log,
    ):
        asyncio.run(story())


def test_what_fails_when_nobody_gathers_any_more_is_no_complaint_of_the_loop() -> None:
    complaints: list[object] = []

    async def story() -> None:
        loop = asyncio.get_running_loop()
        loop.set_exception_handler(lambda _, about: complaints.append(about))
        market = stage_inline(script(roster(random=2)), Nobody())
        dying = asyncio.Event()

        async def die(_: Ask) -> Any:
            await dying.wait()
            raise ProcessDiedError("killed")

        await market.start()
        for each in market._hosts:
            each.act = die  # type: ignore[method-assign]
        gathering = asyncio.ensure_future(market.gather())
        await asyncio.sleep(0.01)
        gathering.cancel()
        dying.set()
        await asyncio.sleep(0.01)

    asyncio.run(story())
    gc.collect()
    assert complaints == []


def test_an_episode_whose_record_fails_leaves_its_market_to_others(tmp_path: Path) -> None:
    told = script(roster(random=2))
    closed = []

    async def story() -> None:
        market = stage_inline(told, Nobody())

        async def close() -> None:
            closed.append(market)

        market.close = close  # type: ignore[method-assign]

        async def opened() -> Any:
            return market

        (tmp_path / "j").write_text("")  # somebody else's doing: this is no journal any more
        letters = Correspondence("e1", log, Pretended())
        await Driver(opened, journal, letters, Quiet(), steps=3).play()

    with (
        JournalWriter.create(tmp_path / "j", Header.of(told.config, 1, "e1")) as journal,
        CallLog(tmp_path / "c") as log,
        pytest.raises(JournalError),
    ):
        asyncio.run(story())
    assert len(closed) == 1


def test_no_answer_is_used_before_it_is_on_disk(tmp_path: Path) -> None:
    async def story() -> None:
        slow = asyncio.Event()
        writes = 0

        async def write(append: Callable[[], None]) -> None:
            nonlocal writes
            writes += 1
            if writes == 2:
                await slow.wait()
            append()

        letters = Correspondence("e1", log, Pretended(), run=write)
        first = asyncio.ensure_future(letters.answer(WANTED))
        while writes < 2:
            await asyncio.sleep(0)
        first.cancel()  # the market that asked is dead, and its successor asks
        second = asyncio.ensure_future(letters.answer(WANTED))
        await asyncio.sleep(0.01)
        assert not second.done()
        slow.set()
        assert isinstance(await second, Reply)

    with CallLog(tmp_path / "c") as log:
        asyncio.run(story())


def test_after_a_record_was_lost_nothing_more_is_sent(tmp_path: Path) -> None:
    async def story() -> None:
        language = Pretended()

        async def full(append: Callable[[], None]) -> None:
            raise CallLogError("no space left")

        letters = Correspondence("e1", log, language, run=full)
        for turn in (0, 1):
            with pytest.raises(CallLogError, match="no space left"):
                await letters.answer(Wanted((1, turn, "a", 0), REQUEST))
        assert language.asked == []

    with CallLog(tmp_path / "c") as log:
        asyncio.run(story())
    assert read_calls(log.path).records == ()
