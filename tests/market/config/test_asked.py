"""Caps and prices of models that nobody asks."""

from __future__ import annotations

from typing import Any

from market.config import configure
from market.config.asked import unasked

LEMONADE = "tests.lemonade:ENVIRONMENT"
PRICE = {"input_per_million": 1.0, "output_per_million": 1.0}


def told(**more: Any) -> list[str]:
    options = {"model": "openai/rehearsal", "api_key_env": "KEY"}
    retailers = [{"name": "a", "policy": "llm", "options": options}]
    return unasked(configure({"environment": LEMONADE, "retailers": retailers, **more}))


def test_a_slip_is_told_with_the_model_that_was_probably_meant() -> None:
    assert told(caps={"openai/rehersal": {"in_flight": 1}}, prices={"openai/else": PRICE}) == [
        "`caps`: no retailer asks a model `openai/rehersal`; did you mean `openai/rehearsal`.",
        "`prices`: no retailer asks a model `openai/else`; did you mean `openai/rehearsal`.",
    ]


def test_what_a_retailer_of_the_pool_or_a_cell_asks_is_no_slip() -> None:
    assert told(caps={"openai/rehearsal": {"in_flight": 1}}) == []
    models = ["openai/rehearsal", "openai/second"]
    study = {"primary": "profit", "vary": {"retailers.0.options.model": models}}
    assert told(prices={"openai/second": PRICE}, study=study) == []
    study["vary"] = {"retailers.0.options": [{"model": name} for name in models]}
    assert told(prices={"openai/second": PRICE}, study=study) == []


def test_scripts_ask_none() -> None:
    scripts = [{"name": "a", "policy": "idle"}]
    assert told(retailers=scripts, prices={"local": PRICE}) == [
        "`prices`: no retailer asks a model `local`; none is known."
    ]
