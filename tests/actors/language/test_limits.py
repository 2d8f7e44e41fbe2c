"""Turns, windows and caps, in virtual time."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable

import pytest

from actors.language.caps import MINUTE, Caps
from actors.language.limits import Limits, Slot
from actors.language.window import FIRST, MOST, Window
from tests.actors.language.virtual import clock, run


class Provider:
    """Answers after `latency` seconds; beyond `room` requests at once it rejects, at once."""

    def __init__(self, latency: float, room: float = float("inf"), reply: float = 0.01) -> None:
        self.latency, self.room, self.reply = latency, room, reply
        self.at_once = self.most = self.rejections = 0
        self.sent: list[float] = []

    async def answer(self) -> bool:
        self.sent.append(clock())
        if self.at_once >= self.room:
            self.rejections += 1
            await asyncio.sleep(self.reply)
            return False
        self.at_once += 1
        self.most = max(self.most, self.at_once)
        await asyncio.sleep(self.latency)
        self.at_once -= 1
        return True


def limits(**caps: Caps) -> Limits:
    return Limits(caps, clock=clock)


async def ask(
    limits: Limits, provider: Provider, model: str = "model", tokens: int = 0, name: str = "p"
) -> float:
    """Ask until answered; gives when."""
    ticket = limits.ticket(name, model, tokens)
    while True:
        async with limits.slot(ticket) as slot:
            if await provider.answer():
                slot.answered(None)
                return clock()
            slot.rejected(None)
        await asyncio.sleep(0.5)


async def gathered(*asks: Awaitable[float]) -> list[float]:
    return list(await asyncio.gather(*asks))


def test_a_batch_goes_at_once_and_a_large_one_within_half_a_second() -> None:
    provider = Provider(latency=5)

    async def main() -> tuple[float, float]:
        queue = limits()
        small = max(await gathered(*(ask(queue, provider) for _ in range(FIRST))))
        began = clock()
        large = max(await gathered(*(ask(queue, provider) for _ in range(MOST))))
        return small, large - began

    small, large = run(main())
    assert small == pytest.approx(5.0)
    assert large < 5.7
    assert provider.most == MOST


def test_room_that_was_not_used_is_not_believed_in() -> None:
    async def main() -> float:
        queue, provider = limits(), Provider(latency=0.5)
        for _ in range(1_000):
            await ask(queue, provider)
        return queue.window("p")

    assert run(main()) == FIRST


def test_rejections_of_one_round_trip_cut_the_window_once() -> None:
    async def main() -> tuple[float, float]:
        queue, provider = limits(), Provider(latency=5, room=0)

        async def once() -> None:
            async with queue.slot(queue.ticket("p", "m")) as slot:
                await provider.answer()
                slot.rejected(None)

        await asyncio.gather(*(once() for _ in range(FIRST)))
        first = queue.window("p")
        await asyncio.gather(*(once() for _ in range(FIRST // 2)))
        return first, queue.window("p")

    assert run(main()) == (FIRST / 2, FIRST / 4)


def test_a_window_grows_by_ones_after_a_cut_and_is_never_below_one() -> None:
    window = Window(first=8)
    for number in range(10):
        window.rejected(number, number, 8)
    assert window.size == 1
    window = Window(first=8)
    window.rejected(1, 8, 8)
    for _ in range(4):
        window.accepted(4)
    assert window.size == pytest.approx(5, abs=0.2)


def test_few_are_rejected_once_it_is_known_how_much_a_provider_takes() -> None:
    provider = Provider(latency=1, room=10)

    async def main() -> tuple[float, int]:
        queue = limits()
        await gathered(*(ask(queue, provider) for _ in range(200)))
        before, began = provider.rejections, clock()
        await gathered(*(ask(queue, provider) for _ in range(500)))
        return clock() - began, provider.rejections - before

    seconds, rejections = run(main())
    assert seconds < 2 * 500 / 10
    assert rejections < 0.15 * 500


def test_nobody_asks_a_provider_that_wants_to_be_left_alone() -> None:
    async def main() -> list[float]:
        queue, provider = limits(), Provider(latency=0.1)
        async with queue.slot(queue.ticket("p", "m")) as slot:
            slot.rejected(7)
        other = await ask(queue, provider, name="another")
        same = await gathered(*(ask(queue, provider, model=f"m{n}") for n in range(3)))
        return [other, *same]

    other, *same = run(main())
    assert other < 1
    assert all(7.1 <= at < 7.3 for at in same)


def test_a_model_is_asked_no_more_at_once_than_allowed_and_others_pass() -> None:
    slow, fast = Provider(latency=1), Provider(latency=1)

    async def main() -> tuple[float, float]:
        queue = limits(slow=Caps(in_flight=2))
        held = [asyncio.ensure_future(ask(queue, slow, "slow")) for _ in range(10)]
        passed = max(await gathered(*(ask(queue, fast, "fast") for _ in range(10))))
        return max(await gathered(*held)), passed

    assert run(main()) == (pytest.approx(5.0, abs=0.1), pytest.approx(1.0))
    assert (slow.most, fast.most) == (2, 10)


def test_in_no_minute_are_more_requests_sent_than_allowed() -> None:
    provider = Provider(latency=3)

    async def main() -> None:
        queue = limits(model=Caps(requests_per_minute=20))
        await gathered(*(ask(queue, provider) for _ in range(70)))

    run(main())
    for first, beyond in zip(provider.sent, provider.sent[20:], strict=False):
        assert beyond - first >= MINUTE - 1e-6
    assert provider.sent[-1] < 3.1 * MINUTE  # and not many fewer


def test_in_no_minute_are_more_tokens_sent_than_allowed_and_none_is_too_large_to_go() -> None:
    sizes = [400, 50, 900, 5_000, 100, 300, 700, 1_000, 20, 990] * 3
    provider = Provider(latency=0.2)

    async def main() -> None:
        queue = limits(model=Caps(tokens_per_minute=1_000))
        await gathered(*(ask(queue, provider, tokens=size) for size in sizes))

    run(main())
    sent = list(zip(provider.sent, sizes, strict=True))  # in the order of arrival
    for start, _ in sent:
        within = [min(size, 1_000) for at, size in sent if start <= at < start + MINUTE - 1e-6]
        assert sum(within) <= 1_000


def test_tokens_count_as_the_provider_counted_them() -> None:
    async def main() -> float:
        queue = limits(model=Caps(tokens_per_minute=1_000))
        for _ in range(9):
            async with queue.slot(queue.ticket("p", "model", 900)) as slot:
                slot.answered(10)
        return clock()

    assert run(main()) == 0


def test_a_request_that_is_tried_again_keeps_its_place() -> None:
    order: list[str] = []

    async def main() -> None:
        queue = limits(model=Caps(in_flight=1))

        async def asker(name: str, tries: int) -> None:
            ticket = queue.ticket("p", "model")
            for _ in range(tries):
                async with queue.slot(ticket):
                    await asyncio.sleep(1)
            order.append(name)

        await asyncio.gather(asker("a", 3), *(asker(name, 1) for name in "bcdef"))

    run(main())
    assert order.index("a") <= 3
    assert [name for name in order if name != "a"] == list("bcdef")


def test_whoever_gives_up_waiting_takes_no_turn() -> None:
    async def main() -> float:
        queue, provider = limits(model=Caps(in_flight=1)), Provider(latency=1)
        first = asyncio.ensure_future(ask(queue, provider))
        await asyncio.sleep(0)
        waiting = [asyncio.ensure_future(ask(queue, provider)) for _ in range(5)]
        last = asyncio.ensure_future(ask(queue, provider))
        await asyncio.sleep(0.5)
        for task in waiting:
            task.cancel()
        await asyncio.gather(*waiting, return_exceptions=True)
        await first
        return await last

    assert run(main()) == pytest.approx(2.0)


def test_a_turn_that_comes_with_the_cancellation_is_given_back() -> None:
    async def main() -> float:
        queue, provider = limits(model=Caps(in_flight=1)), Provider(latency=1)
        held = queue.slot(queue.ticket("p", "model"))
        await held.__aenter__()
        waiting = asyncio.ensure_future(ask(queue, provider))
        await asyncio.sleep(0)
        await held.__aexit__(None, None, None)  # gives `waiting` its turn ...
        waiting.cancel()  # ... which it cannot take any more
        await asyncio.gather(waiting, return_exceptions=True)
        return await ask(queue, provider)

    assert run(main()) == pytest.approx(1.0)


def test_a_slot_is_given_back_however_the_request_ends() -> None:
    async def main() -> float:
        queue = limits(model=Caps(in_flight=1))

        async def fails(slot_of: int) -> Slot:
            async with queue.slot(queue.ticket("p", "model")) as slot:
                if slot_of % 2:
                    raise ValueError("the provider failed")
                return slot

        await asyncio.gather(*map(fails, range(20)), return_exceptions=True)
        return clock()

    assert run(main()) == 0


@pytest.mark.parametrize("name", ["in_flight", "requests_per_minute", "tokens_per_minute"])
def test_a_cap_that_lets_nothing_pass_is_refused(name: str) -> None:
    with pytest.raises(ValueError, match=name):
        Caps(**{name: 0})


def test_nobody_starves_among_models_of_one_provider() -> None:
    """While others keep arriving, a request is sent before all that arrived after it."""
    provider = Provider(latency=1)

    async def main() -> tuple[float, int]:
        queue = Limits({}, clock=clock, window=lambda: Window(first=4, most=4))

        async def crowd() -> None:
            while clock() < 100:
                crowded.append(asyncio.ensure_future(ask(queue, provider, "a")))
                await asyncio.sleep(0.2)  # five arrive while four are answered

        crowded: list[asyncio.Future[float]] = []
        arriving = asyncio.ensure_future(crowd())
        await asyncio.sleep(50.1)
        ahead = sum(not task.done() for task in crowded)
        began = clock()
        waited = await ask(queue, provider, "b") - began
        arriving.cancel()
        for task in crowded:
            task.cancel()
        return waited, ahead

    waited, ahead = run(main())
    assert ahead > 10
    assert waited <= ahead / 4 + 2


def test_a_capped_model_that_is_asked_at_two_addresses_answers_in_the_order_of_arrival() -> None:
    order: list[str] = []

    async def main() -> None:
        queue, provider = limits(model=Caps(in_flight=1)), Provider(latency=1)

        async def asker(name: str, address: str) -> None:
            await ask(queue, provider, name=address)
            order.append(name)

        await asyncio.gather(
            *(asker(name, "east" if name < "e" else "west") for name in "abefcdgh")
        )
        assert provider.most == 1

    run(main())
    assert order == list("abefcdgh")


def test_nobody_starves_at_another_address_of_a_crowded_model() -> None:
    """The minute's tokens are kept for a large request though small ones keep arriving."""
    provider = Provider(latency=1)

    async def main() -> float:
        queue = limits(model=Caps(tokens_per_minute=1_000))

        async def crowd() -> None:
            while True:
                crowded.append(asyncio.ensure_future(ask(queue, provider, tokens=100, name="east")))
                await asyncio.sleep(2)

        crowded: list[asyncio.Future[float]] = []
        arriving = asyncio.ensure_future(crowd())
        await asyncio.sleep(100.5)
        began = clock()
        waited = await ask(queue, provider, tokens=1_000, name="west") - began
        arriving.cancel()
        for task in crowded:
            task.cancel()
        return waited

    assert run(main()) < 5 * MINUTE


def test_an_address_that_wants_to_be_left_alone_does_not_hold_up_another() -> None:
    async def main() -> tuple[float, float]:
        queue, provider = limits(model=Caps(in_flight=1)), Provider(latency=1)
        queue.leave_alone("east", 30)
        east = asyncio.ensure_future(ask(queue, provider, name="east"))
        await asyncio.sleep(0)
        west = await ask(queue, provider, name="west")
        return await east, west

    assert run(main()) == (pytest.approx(31.0), pytest.approx(1.0))
