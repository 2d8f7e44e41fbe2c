"""The price of a reply, and budgets and prices as a run is configured with them."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from actors.budget import Budget, budget_of, owners
from actors.errors import OwedError, UserError
from actors.language.prices import Prices
from market.config import configure, recorded
from market.config.spending import Limits
from market.language import ProviderFailure, Reply
from tests.actors.correspondent import (
    MODEL,
    PRICES,
    Provider,
    letters,
    reply,
    request,
    rest,
    wanted,
)
from tests.market.recorded import LEMONADE


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
