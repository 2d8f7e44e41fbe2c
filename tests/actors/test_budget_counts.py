"""What is lost, tried or played counts, and a log is read back so."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from actors.budget import Budget, unsure_tries
from actors.ceilings import most_tokens
from actors.correspondence import Correspondence
from actors.errors import OwedError
from actors.hosts import ProcessDiedError
from market.calls import CallRecord, Calls, Outcome, read_calls
from market.config.spending import Limits
from market.language import ProviderFailure
from tests.actors.correspondent import (
    MODEL,
    Provider,
    ceiling,
    letters,
    reply,
    request,
    rest,
    wanted,
)


def test_what_is_lost_counts_at_its_most_and_is_read_back_so(tmp_path: Path) -> None:
    most = ceiling(request())
    budget = Budget(Limits(tokens=10 * most))

    async def story() -> None:
        provider = Provider()
        desk = letters(tmp_path, provider, budget)
        outcomes: Sequence[object] = (
            reply(7, 3),
            reply(None, 3),
            ProviderFailure("rejected", "no"),
            ProviderFailure("deadline", "late", unsure=1),
            ProcessDiedError("killed"),
        )
        for number, outcome in enumerate(outcomes):
            task = asyncio.ensure_future(desk.answer(wanted(number)))
            await rest()
            await provider.end(0, outcome)
            if isinstance(outcome, ProcessDiedError):
                await provider.end(0, reply(1, 1))
            await task
        dying = asyncio.ensure_future(desk.answer(wanted(9)))
        await rest()
        assert not dying.done()  # the run dies here

    asyncio.run(story())
    read, _ = most_tokens(request())
    known = 10 + (read + 3) + 0 + most + most + 2
    assert budget.tokens == known + most
    again = Budget()
    again.count(read_calls(tmp_path / "calls.jsonl"), {})
    assert again.tokens == known + most


def test_tries_that_nobody_knows_the_cost_of_count_at_their_most_each(tmp_path: Path) -> None:
    most = ceiling(request())
    budget = Budget(Limits(tokens=100 * most))
    late = reply(7, 3)
    late = replace(late, usage=replace(late.usage, tries=4, unsure=2))
    outcomes = (late, ProviderFailure("rate_limit", "too many", unsure=3))

    async def story() -> Correspondence:
        provider = Provider()
        desk = letters(tmp_path, provider, budget)
        for number, outcome in enumerate(outcomes):
            task = asyncio.ensure_future(desk.answer(wanted(number)))
            await rest()
            await provider.end(0, outcome)
            await task
        return desk

    desk = asyncio.run(story())
    assert budget.tokens == 10 + 5 * most
    assert desk.spend.cost_usd is None
    log = read_calls(tmp_path / "calls.jsonl")
    again = Budget()
    again.count(log, {})
    assert again.tokens == budget.tokens
    resumed = letters(tmp_path, Provider(), again)
    assert (resumed.spend.calls, resumed.spend.cost_usd) == (1, None)


def test_a_log_that_does_not_say_how_many_tries_are_unsure_is_read_by_the_cause() -> None:
    def failed(number: int, cause: str) -> CallRecord:
        return CallRecord("e1", 1, number, "a", 0, Outcome.PROVIDER_FAILED, MODEL, cause=cause)

    causes = ("rate_limit", "server", "rejected", "deadline", "unreachable")
    records = [failed(number, cause) for number, cause in enumerate(causes)]
    assert [unsure_tries(record) for record in records] == [0, 0, 0, 1, 1]
    assert unsure_tries(replace(records[3], unsure=0)) == 0


def test_hours_are_those_of_all_runs(tmp_path: Path) -> None:
    now = [0.0]
    limits = Limits(hours=1.0)

    async def first() -> None:
        provider = Provider()
        desk = letters(tmp_path, provider, Budget(limits, clock=lambda: now[0]))
        task = asyncio.ensure_future(desk.answer(wanted(0)))
        await rest()
        now[0] = 3_000.0
        await provider.end(0, reply(1, 1))
        await task
        await desk.close()

    asyncio.run(first())
    now[0] = 50_000.0  # a night between the runs is not played
    budget = Budget(limits, clock=lambda: now[0])
    budget.count(read_calls(tmp_path / "calls.jsonl"), {})
    assert budget.played == 3_000.0

    async def second() -> None:
        budget.release(await budget.reserve("a", request()))
        now[0] += 600.0
        with pytest.raises(OwedError, match=r"of 1 hours is used up: 1.00 hours have been played"):
            await budget.reserve("a", request())

    asyncio.run(second())


def test_nothing_is_unknown_before_anything_was_spent() -> None:
    budget = Budget()
    budget.count(Calls(), {})
    assert budget.tokens == 0
