"""A rehearsal that is resumed with another provider is told of before anything is asked."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from actors.cli import app
from actors.correspondence import server_of
from market.language import ModelSettings
from tests.provider import Body, Fails, Provider, Says


def market(provider: str, out: Path, *more: str, command: str = "run") -> Any:
    options = f"{{model: openai/any, api_base: '{provider}'}}"
    changes = [
        f"retailers=[{{name: model, policy: llm, options: {options}}}]",
        "rules.steps=2",
        "rules.attention.similarity=none",
        "inline=true",
    ]
    words = [word for change in changes for word in ("--set", change)]
    return CliRunner().invoke(app, [command, "arena/default", *words, "--out", str(out), *more])


def answer(body: Body) -> Says:
    bids = "slogan" not in body["messages"][-1]["content"]
    return Says('{"bids":[]}' if bids else '{"prices":{},"slogan":"x"}')


def test_answers_from_elsewhere_are_told_of_when_a_run_goes_on(tmp_path: Path) -> None:
    out = tmp_path / "run"
    with Provider(answer, answer, Fails(401)) as rehearsal:
        first = market(rehearsal.api_base, out)
        assert first.exit_code == 3, first.output
        assert "came from" not in first.output
        again = market(rehearsal.api_base, out, "--resume")
        assert again.exit_code == 3
        assert "came from" not in again.output
        before = rehearsal.api_base.removesuffix("/v1")
    with Provider(answer) as real:
        moved = market(real.api_base, out, "--resume")
        after = real.api_base.removesuffix("/v1")
    assert moved.exit_code == 0, moved.output
    assert (
        f"Of the answers so far 2 came from {before} and are now asked of {after}: "
        "the results will mix them.\n" in moved.stderr
    )
    assert "came from" not in market(rehearsal.api_base, out, "--resume").output  # nothing is asked


def test_a_study_that_goes_on_is_told_of_them_too(tmp_path: Path) -> None:
    asked = ("--set", "study={primary: profit, vary: {rules.price_cap: [2.0]}}")
    with Provider(answer, answer, Fails(401)) as rehearsal:
        first = market(rehearsal.api_base, tmp_path, *asked, command="study")
        assert first.exit_code == 3, first.output
    with Provider(answer) as real:
        moved = market(real.api_base, tmp_path, *asked, "--resume", command="study")
    assert moved.exit_code == 0, moved.output
    assert "Of the answers so far 2 came from http" in moved.stderr


@pytest.mark.parametrize(
    ("api_base", "server"),
    [
        (None, ""),
        ("https://host:8443/v1?x=1", "https://host:8443"),
        ("http://me:secret@host/v1", "http://host"),
    ],
)
def test_a_server_is_named_without_path_and_password(api_base: str | None, server: str) -> None:
    assert server_of(ModelSettings("m", api_base=api_base)) == server
