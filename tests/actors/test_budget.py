"""No order of calls overspends, and what a limit stops goes on under a higher one."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from actors.budget import Budget, Hold, dollars
from actors.errors import OwedError
from market.calls import Outcome, read_calls
from market.config.spending import Limits
from market.language import ProviderFailure, Request
from tests.actors.correspondent import (
    PRICES,
    Provider,
    ceiling,
    letters,
    reply,
    request,
    rest,
    wanted,
)


@settings(max_examples=200, deadline=None)
@given(st.data())
def test_no_interleaving_overspends_and_nothing_waits_for_ever(data: st.DataObject) -> None:
    calls = data.draw(
        st.lists(
            st.tuples(st.sampled_from("ab"), st.integers(0, 300), st.integers(1, 300)), max_size=12
        )
    )
    run_limit, own_limit = data.draw(st.integers(0, 4_000)), data.draw(st.integers(0, 2_000))
    money = data.draw(st.booleans())
    run = Limits(usd=run_limit / 1_000) if money else Limits(tokens=run_limit)
    own = Limits(usd=own_limit / 1_000) if money else Limits(tokens=own_limit)
    budget = Budget(run, {"a": own}, PRICES)

    async def story() -> None:
        provider: list[tuple[Hold, int]] = []
        spent = {"a": 0, "b": 0}

        async def call(owner: str, asked: Request) -> None:
            provider.append((await budget.reserve(owner, asked), ceiling(asked)))

        tasks = [
            asyncio.ensure_future(call(owner, request("x" * length, most)))
            for owner, length, most in calls
        ]
        await rest()
        while provider:
            for owner, limit in (("ab", run_limit), ("a", own_limit)):
                out = sum(most for hold, most in provider if hold.retailer in owner)
                assert sum(spent[name] for name in owner) + out <= limit
            hold, most = provider.pop(data.draw(st.integers(0, len(provider) - 1)))
            how = data.draw(st.sampled_from(["reply", "unknown", "lost", "refused", "released"]))
            took = most
            if how == "reply":
                took = data.draw(st.integers(0, most))
                budget.settle(hold, reply(took, 0))
            elif how == "unknown":
                budget.settle(hold, reply(None, None))
            elif how == "lost":
                budget.settle(hold, None)
            elif how == "refused":
                took = 0
                budget.settle(hold, ProviderFailure("rate_limit", "too many"))
            else:
                took = 0
                budget.release(hold)
            spent[hold.retailer] += took
            await rest()
        assert all(task.done() for task in tasks)
        assert budget.tokens == sum(spent.values()) <= run_limit or money
        for task in tasks:
            assert task.exception() is None or isinstance(task.exception(), OwedError)

    asyncio.run(story())


@settings(max_examples=60, deadline=None)
@given(data=st.data())
def test_a_run_that_is_resumed_asks_nothing_twice(
    tmp_path_factory: pytest.TempPathFactory, data: st.DataObject
) -> None:
    """Under limits that rise until all is answered, each key is answered once and in bounds."""
    folder = tmp_path_factory.mktemp("run")
    asks = [wanted(n, request("x" * data.draw(st.integers(0, 60)))) for n in range(6)]
    limit, answered, took = 0, 0, 0

    async def attempt() -> bool:
        nonlocal answered, took
        budget = Budget(Limits(usd=limit / 1_000), prices=PRICES)
        budget.count(read_calls(folder / "calls.jsonl"), {})
        provider = Provider()
        desk = letters(folder, provider, budget)
        tasks = [asyncio.ensure_future(desk.answer(each)) for each in asks]
        await rest()
        while provider.open:
            index = data.draw(st.integers(0, len(provider.open) - 1))
            used = data.draw(st.integers(1, ceiling(provider.open[index][0])))
            await provider.end(index, reply(used, 0))
            answered, took = answered + 1, took + used
            assert took <= limit
        await desk.close()
        results = await asyncio.gather(*tasks, return_exceptions=True)
        return not any(isinstance(each, BaseException) for each in results)

    while not asyncio.run(attempt()):
        limit += 150
    assert answered == len(asks)
    records = read_calls(folder / "calls.jsonl").records
    assert sum(each.outcome is Outcome.REPLIED for each in records) == len(asks)
    assert sum(each.outcome is Outcome.SENT for each in records) == len(asks)


def test_a_call_waits_for_room_that_others_may_give_back(tmp_path: Path) -> None:
    most = ceiling(request())

    async def story() -> None:
        provider = Provider()
        desk = letters(tmp_path, provider, Budget(Limits(tokens=int(1.5 * most))))
        first, second = (asyncio.ensure_future(desk.answer(wanted(n))) for n in range(2))
        await rest()
        assert provider.begun == 1
        await provider.end(0, reply(5, 5))
        assert first.done()
        assert provider.begun == 2
        await provider.end(0, reply(5, 5))
        assert second.done()
        await desk.close()

    asyncio.run(story())


def test_a_limit_is_told_with_what_was_spent_and_what_raises_it(tmp_path: Path) -> None:
    async def story() -> None:
        provider = Provider()
        budget = Budget(Limits(usd=0.5), {"a": Limits(tokens=10**6)}, PRICES)
        desk = letters(tmp_path, provider, budget)
        first = asyncio.ensure_future(desk.answer(wanted(0)))
        await rest()
        await provider.end(0, reply(300, 100))
        await first
        with pytest.raises(OwedError) as owed:
            await desk.answer(wanted(1))
        assert str(owed.value) == (
            "The budget of $0.50 is used up: $0.40 are spent and the next call may cost "
            f"{dollars(ceiling(request()) * 10**9)}. Raise `budget.usd` to go on"
        )
        await desk.close()

    asyncio.run(story())
    assert len(read_calls(tmp_path / "calls.jsonl").records) == 2


def test_who_has_spent_its_own_budget_holds_up_nobody_else(tmp_path: Path) -> None:
    most = ceiling(request())

    async def story() -> None:
        provider = Provider()
        budget = Budget(Limits(tokens=10 * most), {"gpt": Limits(tokens=most)})
        desk = letters(tmp_path, provider, budget, {"gpt-1": "gpt", "gpt-2": "gpt"})
        asks = [wanted(0, seat="gpt-1"), wanted(1, seat="gpt-2"), wanted(2, seat="other")]
        tasks = [asyncio.ensure_future(desk.answer(each)) for each in asks]
        await rest()
        assert provider.begun == 2  # one of gpt's waits for the other
        await provider.end(1, reply(1, 1))
        assert tasks[2].done()
        await provider.end(0, reply(most, 0))
        with pytest.raises(OwedError, match=r"`budget.tokens` of the retailer `gpt`"):
            await tasks[1]
        await desk.close()

    asyncio.run(story())


def test_an_episode_that_waits_does_not_hold_another(tmp_path: Path) -> None:
    small, large = request("x"), request("x" * 2_000)

    async def story() -> None:
        provider = Provider()
        budget = Budget(Limits(tokens=ceiling(large) + ceiling(small) + 50))
        desks = []
        for name in ("one", "two", "three"):
            (tmp_path / name).mkdir()
            desks.append(letters(tmp_path / name, provider, budget))
        begun = asyncio.ensure_future(desks[0].answer(wanted(0, large)))
        await rest()
        waits = asyncio.ensure_future(desks[1].answer(wanted(0, large)))
        await rest()
        passes = asyncio.ensure_future(desks[2].answer(wanted(0, small)))
        await rest()
        assert [len(each.messages[0].content) for each, _ in provider.open] == [2_000, 1]
        await provider.end(1, reply(40, 40))
        assert passes.done()
        await provider.end(0, reply(ceiling(large), 0))
        assert begun.done()
        with pytest.raises(OwedError):
            await waits
        for desk in desks:
            await desk.close()

    asyncio.run(story())


def test_answers_in_hand_are_logged_and_what_waits_is_dropped(tmp_path: Path) -> None:
    most = ceiling(request())

    async def story() -> None:
        provider = Provider()
        desk = letters(tmp_path, provider, Budget(Limits(tokens=int(1.5 * most))))
        tasks = [asyncio.ensure_future(desk.answer(wanted(n))) for n in range(3)]
        await rest()
        for task in tasks:
            task.cancel()
        closing = asyncio.ensure_future(desk.close())
        await rest()
        await provider.end(0, reply(5, 5))
        await closing
        assert provider.begun == 1

    asyncio.run(story())
    outcomes = [record.outcome for record in read_calls(tmp_path / "calls.jsonl").records]
    assert outcomes == [Outcome.SENT, Outcome.REPLIED]
