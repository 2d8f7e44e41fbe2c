from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any

import pytest

from actors.bundling import Courier, Desk


class Line:
    """Joins a courier to a desk, counts what passes, and can be cut."""

    def __init__(self, work: Any) -> None:
        self.desk: Desk[int, int] = Desk(work)
        self.taken: list[int] = []
        self.collected: list[int] = []
        self.cut: asyncio.Event = asyncio.Event()
        self.courier: Courier[int, int] = Courier(self.take, self.collect)

    async def take(self, requests: Mapping[int, int]) -> None:
        self.taken.append(len(requests))
        self.desk.take(requests)

    async def collect(self) -> Any:
        collecting = asyncio.ensure_future(self.desk.collect())
        cutting = asyncio.ensure_future(self.cut.wait())
        await asyncio.wait({collecting, cutting}, return_when=asyncio.FIRST_COMPLETED)
        cutting.cancel()
        if not collecting.done():
            collecting.cancel()
            raise ConnectionError("cut")
        self.collected.append(len(collecting.result()))
        return collecting.result()


async def doubled(request: int) -> int:
    return 2 * request


def test_each_request_gets_its_own_answer_and_what_is_asked_together_travels_together() -> None:
    async def play() -> tuple[list[int], Line]:
        line = Line(doubled)
        return await asyncio.gather(*(line.courier.ask(n) for n in range(100))), line

    answers, line = asyncio.run(play())
    assert answers == [2 * n for n in range(100)]
    assert line.taken == [100]
    assert line.collected == [100]


def test_a_slow_request_holds_up_no_other() -> None:
    async def play() -> list[str]:
        gate = asyncio.Event()
        order = []

        async def work(request: int) -> int:
            if request == 0:
                await gate.wait()
            return request

        line = Line(work)

        async def ask(request: int) -> None:
            await line.courier.ask(request)
            order.append(f"answered {request}")

        slow = asyncio.ensure_future(ask(0))
        await ask(1)
        await ask(2)
        gate.set()
        await slow
        return order

    assert asyncio.run(play()) == ["answered 1", "answered 2", "answered 0"]


def test_a_bug_of_the_work_reaches_the_one_who_asked_and_nobody_else() -> None:
    async def work(request: int) -> int:
        if request == 3:
            raise KeyError("three")
        return request

    async def play() -> list[Any]:
        line = Line(work)
        asking = (line.courier.ask(n) for n in range(5))
        return await asyncio.gather(*asking, return_exceptions=True)

    answers = asyncio.run(play())
    assert [answer for answer in answers if isinstance(answer, int)] == [0, 1, 2, 4]
    assert isinstance(answers[3], RuntimeError)
    assert "KeyError" in str(answers[3])


def test_no_key_is_in_the_words_of_a_bug(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SHOP_KEY", "sk-canary-5d21")

    async def work(request: int) -> int:
        raise KeyError("sk-canary-5d21")

    with pytest.raises(RuntimeError, match=r"KeyError: '\*\*\*'"):
        asyncio.run(Line(work).courier.ask(1))


def test_when_the_far_side_dies_everybody_who_waits_is_told_and_can_ask_again() -> None:
    async def play() -> tuple[list[Any], int]:
        gate = asyncio.Event()

        async def work(request: int) -> int:
            await gate.wait()
            return request

        line = Line(work)
        asking = [asyncio.ensure_future(line.courier.ask(n)) for n in range(3)]
        await asyncio.sleep(0.01)
        line.cut.set()
        died = await asyncio.gather(*asking, return_exceptions=True)
        line.cut.clear()
        gate.set()
        return died, await line.courier.ask(7)

    died, again = asyncio.run(play())
    assert all(isinstance(one, ConnectionError) for one in died)
    assert again == 7


def test_an_asker_that_gives_up_disturbs_no_other() -> None:
    async def play() -> int:
        async def work(request: int) -> int:
            await asyncio.sleep(0.02)
            return request

        line = Line(work)
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(line.courier.ask(1), 0.001)
        return await line.courier.ask(2)

    assert asyncio.run(play()) == 2
