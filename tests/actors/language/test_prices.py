"""What a model costs is the user's own price, then the table's, and never nothing by default."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from actors.language.prices import Prices, listed
from market.config.spending import Price
from market.language import Usage

OWN = Price(input_per_million=2.0, output_per_million=8.0, cached_input_per_million=0.5)


def usage(read: int | None, written: int | None, cached: int | None, cost: float | None) -> Usage:
    return Usage("any", read, written, cached, cost, 0.1)


def nothing(model: str, tokens: int) -> None:
    return None


def test_a_price_of_ones_own_comes_first() -> None:
    prices = Prices({"openai/gpt-4o": OWN})
    assert prices.of("openai/gpt-4o") == OWN
    assert prices.cost("openai/gpt-4o", usage(1_000_000, 1_000_000, 400_000, 99.0)) == (
        pytest.approx(0.6 * 2 + 0.4 * 0.5 + 8)
    )


def test_what_nobody_prices_is_unknown_and_only_the_packaged_model_is_free() -> None:
    prices = Prices({"own": OWN}, nothing)
    assert prices.of("openai/mine") is None
    assert prices.most("openai/mine", 1, 1) is None
    assert prices.cost("openai/mine", usage(1, 1, None, None)) is None
    assert prices.cost("own", usage(None, 1, None, 5.0)) is None
    assert prices.most("local", 10**9, 10**9) == 0.0
    assert prices.cost("local", usage(None, None, None, 0.0)) == 0.0


def test_what_is_reported_stands_where_the_user_says_nothing() -> None:
    assert Prices(table=nothing).cost("openai/gpt-4o", usage(1, 1, None, 0.25)) == 0.25


@given(st.integers(0, 10**6), st.integers(0, 10**6), st.integers(0, 10**6))
def test_no_call_costs_more_than_its_most(read: int, written: int, cached: int) -> None:
    prices = Prices({"own": OWN}, nothing)
    most, cost = (
        prices.most("own", read, written),
        prices.cost("own", usage(read, written, cached, None)),
    )
    assert most is not None
    assert cost is not None
    assert 0 <= cost <= most * (1 + 1e-12)


def test_the_table_knows_models_and_their_dearer_tiers() -> None:
    mini = listed("openai/gpt-4o-mini")
    assert mini is not None
    assert 0 < (mini.cached_input_per_million or 0) < mini.input_per_million
    assert mini.input_per_million < mini.output_per_million
    short, long = listed("gemini/gemini-2.5-pro"), listed("gemini/gemini-2.5-pro", 200_001)
    assert short is not None
    assert long is not None
    assert long.input_per_million > short.input_per_million
    assert long.output_per_million > short.output_per_million
    for unknown in ("openai/mine", "ollama/llama3", "nonsense", ""):
        assert listed(unknown) is None
