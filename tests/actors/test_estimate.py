"""What a run will take is told from prompts as they will be, before anything is asked."""

from __future__ import annotations

from typing import Any

import pytest

from actors.errors import UserError
from actors.estimate import Takes, estimate, preview
from actors.language.prices import Prices
from market.config import Config, load
from market.config.spending import Price
from market.environment import Decision
from market.language import Request
from market.policies.llm import LanguageModel
from tests.actors.language.asking import CANARY

PRICED = Prices(
    {"openai/priced": Price(input_per_million=1.0, output_per_million=10.0)}, lambda *_: None
)


class Broken(LanguageModel):
    """Cannot even ask."""

    def act(self, decision: Decision) -> Request:
        raise RuntimeError("broken")


def config(*retailers: str, preset: str = "arena/default", more: tuple[str, ...] = ()) -> Config:
    return load(preset, [f"retailers=[{', '.join(retailers)}]", "rules.buyers=200", *more])


def llm(name: str, model: str, count: int = 1, **options: Any) -> str:
    more = "".join(f", {key}: {value}" for key, value in options.items())
    return f"{{name: {name}, policy: llm, count: {count}, options: {{model: {model}{more}}}}}"


SCRIPTS = "{name: markup, policy: markup, count: 4}"


def test_every_decision_of_a_model_is_a_call_and_a_prompt() -> None:
    (found,) = estimate(config(llm("a", "openai/priced", 2, max_tokens=300), SCRIPTS), PRICED)
    assert found.takes.calls == 2 * 18
    assert found.takes.most == 2 * 18 * 300
    assert 0 < found.takes.least < found.takes.most
    assert 500 < found.takes.read / found.takes.calls < 6_000
    low, high = found.usd(found.takes.least), found.usd(found.takes.most)
    assert low is not None
    assert high == pytest.approx((found.takes.read + 10 * found.takes.most) / 10**6)
    assert low < high


def test_many_seats_are_taken_for_what_few_take(monkeypatch: pytest.MonkeyPatch) -> None:
    few = estimate(config(llm("a", "openai/priced", 6), SCRIPTS), PRICED)[0].takes
    monkeypatch.setattr("actors.estimate.PRETENDERS", 2)
    many = estimate(config(llm("a", "openai/priced", 6), SCRIPTS), PRICED)[0].takes
    assert many.calls == pytest.approx(6 * 18)
    assert many.read / many.calls == pytest.approx(few.read / few.calls, rel=0.25)


def test_a_tournament_takes_what_its_episodes_take() -> None:
    retailers = (llm("a", "openai/priced"), llm("b", "openai/other"), SCRIPTS)
    one = estimate(config(*retailers), PRICED)
    more = ("tournament={rosters: [all, leave-one-out], seeds: 3}",)
    many = {each.retailer: each for each in estimate(config(*retailers, more=more), PRICED)}
    # Three seeds of all six seats, and of the five rosters in which a retailer still is.
    assert many["a"].takes.calls == one[0].takes.calls * 3 * 6
    text = preview(config(*retailers, more=more), PRICED)
    assert "# episodes: 21\n" in text


def test_a_model_without_a_price_is_unknown_and_so_is_the_sum() -> None:
    text = preview(config(llm("a", "openai/priced"), llm("b", "openai/other"), SCRIPTS), PRICED)
    rows = {line.split()[1]: line.split()[-1] for line in text.splitlines() if line[:1] == "#"}
    assert rows["b"] == rows["in"] == rows["at"] == "unknown"
    assert rows["a"] != "unknown"


def test_re_asks_bound_the_calls() -> None:
    (found,) = estimate(config(llm("a", "local", reasks=2), SCRIPTS), PRICED)
    most = found.reasked().takes
    assert most.calls == 3 * found.takes.calls
    assert most.read > 3 * found.takes.read
    assert "# model calls: 18, at most 54 with re-asks\n" in preview(
        config(llm("a", "local", reasks=2), SCRIPTS), PRICED
    )


def test_scripts_take_nothing_and_nothing_is_played_for_them() -> None:
    assert estimate(config(SCRIPTS)) == []
    assert "# model calls: 0, at most 0 with re-asks\n" in preview(config(SCRIPTS))


def test_a_tool_environment_is_estimated_too() -> None:
    tools = Config.model_validate(
        {
            "environment": "tests.lemonade:ENVIRONMENT",
            "retailers": [{"name": "a", "policy": "llm", "options": {"model": "openai/priced"}}],
        }
    )
    (found,) = estimate(tools, PRICED)
    assert found.takes.calls >= 3
    assert found.takes.read > 100 * found.takes.calls


def test_a_policy_that_crashes_is_no_estimate_of_nothing() -> None:
    broken = "{name: a, policy: 'tests.actors.test_estimate:Broken', options: {model: any}}"
    with pytest.raises(UserError, match="The policy of the seat `a` fails when it is asked"):
        estimate(config(broken, SCRIPTS), PRICED)


def test_a_preview_holds_no_key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", CANARY)
    monkeypatch.setenv("MY_KEY", CANARY)
    keyed = config(llm("a", "openai/gpt-4o-mini", api_key_env="MY_KEY"), SCRIPTS)
    assert CANARY not in preview(keyed)


def test_amounts_add_up() -> None:
    assert Takes(1, 2, 3, 4).plus(Takes(1, 1, 1, 1), 2) == Takes(3, 4, 5, 6)
