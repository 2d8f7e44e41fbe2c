"""What is wanted together goes together, and nobody waits for those who want nothing."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Sequence

from actors.wants import BUNCH, Wanted, Wants
from market.language import Message, ModelSettings, ProviderFailure, Reply, Request
from tests.actors.test_episode import USAGE

REQUEST = Request(ModelSettings("openai/any"), (Message("user", "Hello."),))
REPLY = Reply("{}", "stop", USAGE)


def wanted(seat: str, attempt: int = 0) -> Wanted:
    return Wanted((1, 0, seat, attempt), REQUEST)


async def host(
    wants: Wants, seats: Sequence[str], thinks: float = 0.0
) -> Sequence[Reply | ProviderFailure]:
    with wants.thinking():
        await asyncio.sleep(thinks)
        return await wants.asked([wanted(seat) for seat in seats])


def test_what_hosts_want_one_after_the_other_comes_as_one_piece_of_news() -> None:
    async def play() -> list[str]:
        wants = Wants()
        slow = BUNCH / 5
        batch = asyncio.gather(host(wants, "ab"), host(wants, "c", slow), host(wants, "d", slow))
        task: asyncio.Task[object] = asyncio.ensure_future(_awaited(batch))
        news = await wants.news(task)
        task.cancel()
        return [each.key[2] for each in news]

    assert asyncio.run(play()) == ["a", "b", "c", "d"]


def test_news_do_not_wait_once_nobody_is_left_who_could_want_anything() -> None:
    async def play() -> float:
        wants = Wants()
        task: asyncio.Task[object] = asyncio.ensure_future(host(wants, "ab"))
        began = time.monotonic()
        await wants.news(task)
        took = time.monotonic() - began
        task.cancel()
        return took

    assert min(asyncio.run(play()) for _ in range(20)) < BUNCH / 2


def test_news_do_not_wait_for_a_host_that_thinks_for_long() -> None:
    async def play() -> list[str]:
        wants = Wants()
        long = asyncio.gather(host(wants, "a"), host(wants, "b", 60.0))
        task: asyncio.Task[object] = asyncio.ensure_future(_awaited(long))
        news = await asyncio.wait_for(wants.news(task), 5.0)
        task.cancel()
        return [each.key[2] for each in news]

    assert asyncio.run(play()) == ["a"]


def test_replies_come_back_in_the_order_of_the_wants_whatever_order_they_are_supplied_in() -> None:
    failure = ProviderFailure("unreachable", "nobody there")

    async def play() -> Sequence[Reply | ProviderFailure]:
        wants = Wants()
        task = asyncio.ensure_future(host(wants, "ab"))
        await wants.news(task)
        wants.supply({(1, 0, "b", 0): failure})
        wants.supply({(1, 0, "a", 0): REPLY})
        return await task

    assert asyncio.run(play()) == [REPLY, failure]


def test_a_reply_that_nobody_waits_for_or_that_comes_twice_is_dropped() -> None:
    async def play() -> Sequence[Reply | ProviderFailure]:
        wants = Wants()
        wants.supply({(9, 9, "z", 0): REPLY})
        task = asyncio.ensure_future(host(wants, "a"))
        await wants.news(task)
        wants.supply({(1, 0, "a", 0): REPLY})
        wants.supply({(1, 0, "a", 0): ProviderFailure("server", "too late")})
        return await task

    assert asyncio.run(play()) == [REPLY]


def test_who_wants_again_is_waited_for_again() -> None:
    async def twice(wants: Wants) -> None:
        with wants.thinking():
            await wants.asked([wanted("a")])
            await asyncio.sleep(BUNCH / 5)
            await wants.asked([wanted("a", 1)])

    async def play() -> list[tuple[str, int]]:
        wants = Wants()
        both = asyncio.gather(twice(wants), twice_later(wants))
        task: asyncio.Task[object] = asyncio.ensure_future(_awaited(both))
        first = await wants.news(task)
        wants.supply({each.key: REPLY for each in first})
        second = await wants.news(task)
        task.cancel()
        return [(each.key[2], each.key[3]) for each in second]

    async def twice_later(wants: Wants) -> None:
        with wants.thinking():
            await wants.asked([wanted("b")])
            await wants.asked([wanted("b", 1)])

    assert sorted(asyncio.run(play())) == [("a", 1), ("b", 1)]


async def _awaited(future: asyncio.Future[object]) -> object:
    return await future
