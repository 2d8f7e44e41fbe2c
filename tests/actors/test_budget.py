"""No order of calls overspends, and what a limit stops goes on under a higher one."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from actors.budget import Budget, Hold, budget_of, dollars, owners, unsure_tries
from actors.ceilings import most_tokens
from actors.correspondence import Correspondence
from actors.errors import OwedError, UserError
from actors.hosts import ProcessDiedError
from actors.language.prices import Prices
from actors.wants import Wanted
from market.calls import CallLog, CallRecord, Calls, Outcome, read_calls
from market.config import configure, recorded
from market.config.spending import Limits, Price
from market.language import Message, ModelSettings, ProviderFailure, Reply, Request, Usage
from tests.market.recorded import LEMONADE

MODEL = "openai/mine"
#: A dollar per thousand tokens, so that figures are easy to read.
PRICES = Prices(
    {MODEL: Price(input_per_million=1_000.0, output_per_million=1_000.0)}, lambda *_: None
)


def request(prompt: str = "What now?", most: int = 100, model: str = MODEL) -> Request:
    return Request(ModelSettings(model, max_tokens=most), (Message("user", prompt),))


def reply(read: int | None, written: int | None, cost: float | None = None) -> Reply:
    return Reply("{}", "stop", Usage(MODEL, read, written, None, cost, 0.1))


def ceiling(asked: Request) -> int:
    return sum(most_tokens(asked))


def wanted(number: int, asked: Request | None = None, seat: str = "a") -> Wanted:
    return Wanted((1, number, seat, 0), asked or request())


@dataclass
class Provider:
    """Answers each call when it is told to.

    Attributes:
        open: Calls under way, in the order in which they began.
        begun: How many there were.
    """

    open: list[tuple[Request, asyncio.Future[Any]]] = field(default_factory=list)
    begun: int = 0

    async def complete(self, request: Request) -> Reply | ProviderFailure:
        self.begun += 1
        done: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
        self.open.append((request, done))
        outcome: Reply | ProviderFailure = await done
        return outcome

    async def end(self, index: int, outcome: object) -> None:
        _, done = self.open.pop(index)
        if isinstance(outcome, BaseException):
            done.set_exception(outcome)
        else:
            done.set_result(outcome)
        await rest()


async def rest() -> None:
    """Let everything happen that can."""
    for _ in range(12):
        await asyncio.sleep(0)


async def at_once(call: Callable[[], None]) -> None:
    call()


def letters(
    folder: Path, provider: Provider, budget: Budget, names: dict[str, str] | None = None
) -> Correspondence:
    path = folder / "calls.jsonl"
    return Correspondence(
        "e1", CallLog(path), provider, read_calls(path), budget, names, run=at_once
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


def test_a_price_of_ones_own_is_the_price_of_a_reply(tmp_path: Path) -> None:
    async def story() -> Reply | ProviderFailure:
        provider = Provider()
        desk = letters(tmp_path, provider, Budget(prices=PRICES))
        task = asyncio.ensure_future(desk.answer(wanted(0)))
        await rest()
        await provider.end(0, reply(10, 5, cost=77.0))
        await desk.close()
        return await task

    given = asyncio.run(story())
    assert isinstance(given, Reply)
    assert given.usage.cost_usd == pytest.approx(0.015)


def config(**more: Any) -> Any:
    retailers = [
        {"name": "gpt", "policy": "llm", "count": 2, "options": {"model": MODEL}},
        {"name": "small", "policy": "llm", "options": {"model": "local"}},
        {"name": "script", "policy": "random"},
    ]
    for retailer in retailers:
        retailer |= more.pop(str(retailer["name"]), {})
    return configure({"environment": LEMONADE, "retailers": retailers} | more)


def nothing(*_: object) -> None:
    return None


def test_a_budget_in_dollars_refuses_a_model_without_a_price_by_name() -> None:
    for limited in (config(budget={"usd": 5}), config(gpt={"budget": {"usd": 5}})):
        with pytest.raises(UserError, match="none is known of 'openai/mine'"):
            budget_of(limited, Prices(limited.prices, nothing))
    own = {MODEL: {"input_per_million": 0, "output_per_million": 0}}
    priced = config(budget={"usd": 5}, prices=own)
    budget_of(priced, Prices(priced.prices, nothing))
    for other in (config(budget={"tokens": 5}), config(small={"budget": {"usd": 0}})):
        budget_of(other, Prices(other.prices, nothing))


def test_a_model_that_a_policy_thinks_of_later_is_never_free() -> None:
    budget = Budget(Limits(usd=5), prices=PRICES)
    with pytest.raises(OwedError, match="'openai/other' has none"):
        asyncio.run(budget.reserve("a", request(model="openai/other")))


def test_budgets_and_prices_are_no_part_of_the_record() -> None:
    own = {MODEL: {"input_per_million": 1, "output_per_million": 2}}
    limited = config(budget={"usd": 5}, gpt={"budget": {"hours": 1}}, prices=own)
    assert recorded(limited) == recorded(config())
    assert owners(limited)["gpt-2"] == "gpt"


@given(st.text(max_size=300), st.integers(1, 50))
def test_the_ceiling_counts_every_byte_and_every_answer(text: str, most: int) -> None:
    read, written = most_tokens(request(text, most))
    assert read > len(text.encode("utf-8", "surrogatepass"))
    assert written == most
    several = Request(ModelSettings(MODEL, extra={"n": 3}, max_tokens=most), ())
    assert most_tokens(several)[1] == 3 * most


def test_nothing_is_unknown_before_anything_was_spent() -> None:
    budget = Budget()
    budget.count(Calls(), {})
    assert budget.tokens == 0
