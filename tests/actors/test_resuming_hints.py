"""The command that a run which waits is told to be resumed by: it plays the same, at the same."""

from __future__ import annotations

import re
import shlex
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from actors.cli import app
from market.journal import journal_digest
from tests.provider import Body, Fails, Provider, Says

FILE = """
extends: arena/default
inline: true
rules: {steps: 2, attention: {similarity: none}}
retailers:
  - {name: m, policy: llm, options: {model: openai/any, api_base: "http://127.0.0.1:9/v1"}}
"""
STUDY = "study={primary: profit, vary: {rules.price_cap: [2.0]}}"


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A folder with a configuration whose model is reached nowhere."""
    (tmp_path / "mine.yaml").write_text(FILE)
    monkeypatch.chdir(tmp_path)


def market(*arguments: str) -> Result:
    return CliRunner().invoke(app, arguments)


def answer(body: Body) -> Says:
    bids = "slogan" not in body["messages"][-1]["content"]
    return Says('{"bids":[]}' if bids else '{"prices":{},"slogan":"x"}')


def asked(command: str, provider: Any, *more: str) -> tuple[str, ...]:
    base = f"retailers.0.options.api_base={provider.api_base}"
    study = ("--set", STUDY) if command == "study" else ()
    return (command, "mine.yaml", "--seed", "7", "--set", base, *study, *more)


def hinted(result: Result) -> Sequence[str]:
    """The arguments of the command that is named."""
    assert result.exit_code == 3, result.output
    found = re.search(r"Resume with: market (.*) \(add by --set what is to change", result.stderr)
    assert found is not None, result.stderr
    return shlex.split(found[1])


@pytest.mark.parametrize("command", ["run", "study"])
@pytest.mark.parametrize("out", ["", "the results"])
def test_whoever_follows_it_has_the_undisturbed_result(command: str, out: str) -> None:
    where = ("--out", out) if out else ()
    with Provider(answer, answer, Fails(401), answer) as provider:
        hint = hinted(market(*asked(command, provider, *where)))
        done = market(*hint)
        assert done.exit_code == 0, done.output
        assert "came from" not in done.stderr
        assert market(*asked(command, provider, "--out", "calm")).exit_code == 0
    folder = Path(hint[hint.index("--out") + 1])
    journals = [next(path.glob("episodes/*/journal.jsonl")) for path in (folder, Path("calm"))]
    assert journal_digest(journals[0]) == journal_digest(journals[1])


@pytest.mark.parametrize("command", ["run", "study"])
def test_a_budget_is_kept_until_another_is_given(command: str) -> None:
    with Provider(answer) as provider:
        stopped = market(*asked(command, provider, "--set", "budget.tokens=3500"))
        hint = hinted(stopped)
        assert "The budget of 3,500 tokens is used up" in stopped.stderr
        assert hinted(market(*hint)) == hint
        done = market(*hint, "--set", "budget.tokens=100000")
        assert done.exit_code == 0, done.output


@pytest.mark.parametrize("command", ["run", "study"])
def test_it_asks_where_the_last_one_did_and_not_the_first(command: str) -> None:
    with Provider(answer, Fails(401)) as first, Provider(answer, Fails(401), answer) as second:
        market(*asked(command, first, "--out", "out"))
        hint = hinted(market(*asked(command, second, "--out", "out", "--resume")))
        before = len(first.asked)
        assert market(*hint).exit_code == 0
        assert len(first.asked) == before


def test_results_at_a_url_are_resumed_by_saying_the_same() -> None:
    with Provider(answer, Fails(401), answer) as provider:
        words = asked("run", provider, "--out", "memory://hinted")
        stopped = market(*words)
        assert stopped.exit_code == 3
        assert stopped.stderr.endswith("Say the same with --resume to go on.\n")
        assert market(*words, "--resume").exit_code == 0
