"""Worlds whose salt the user keeps: asked for before anything is written, and written nowhere."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from actors.cli import app
from actors.roster import roster
from actors.staging import stage_inline
from actors.tournament import header_of, script_of
from market.config import configure
from market.config.documents import write
from market.config.plans import expand
from tests.market.vending.operations import SMALL

SALT = "MARKET_WORLD_SALT"
CANARY = "salt-canary-5d1e07"


@pytest.fixture
def config(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """The name of a small held-out configuration in the working folder."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv(SALT, raising=False)
    Path("held.yaml").write_text(write(held_out()))
    return "held.yaml"


def held_out(**top: object) -> dict[str, object]:
    return {
        "environment": "vending",
        "inline": True,
        "rules": {**SMALL, "days": 5, "worlds": "held_out"},
        "retailers": [{"name": "random", "policy": "random"}],
        **top,
    }


def market(*arguments: str) -> Result:
    return CliRunner().invoke(app, arguments)


def files() -> list[Path]:
    return [path for path in Path("out").rglob("*") if path.is_file()]


@pytest.mark.parametrize("flag", [[], ["--dry-run"]])
def test_without_its_salt_nothing_is_begun(config: str, flag: list[str]) -> None:
    told = market("run", config, "--out", "out", *flag)
    assert told.exit_code == 2
    assert told.stderr.count("\n") == 1
    assert f"{SALT} is not set" in told.stderr
    assert not Path("out").exists()


def test_the_salt_is_in_no_file_and_needed_to_replay(
    config: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(SALT, CANARY)
    assert market("run", config, "--out", "out").exit_code == 0
    assert files()
    assert not [path for path in files() if CANARY.encode() in path.read_bytes()]
    assert market("replay", "out").exit_code == 0
    for other in ("", "another salt"):
        monkeypatch.setenv(SALT, other)
        told = market("replay", "out")
        assert told.exit_code == 2
        assert told.stderr.count("\n") == 1


def test_another_process_is_handed_the_salt_and_shows_it_to_nobody(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv(SALT, CANARY)
    (plan,) = expand(configure(held_out()))
    script = script_of(plan, header_of(plan), roster(plan.config))
    assert script.variables == {SALT: CANARY}
    assert CANARY not in repr(script)
    monkeypatch.delenv(SALT)
    stage_inline(script, Nobody())
    assert os.environ[SALT] == CANARY


def test_a_script_of_a_public_world_hands_over_nothing() -> None:
    public = held_out(rules={**SMALL, "days": 5})
    (plan,) = expand(configure(public))
    assert script_of(plan, header_of(plan), roster(plan.config)).variables == {}


class Nobody:
    """Knows nothing of the world outside."""

    async def answer(self, decision: object) -> object:
        raise AssertionError("nobody asks")


@pytest.mark.slow
def test_on_ray_too_the_salt_is_handed_over_and_written_nowhere(
    config: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(SALT, CANARY)
    assert market("run", config, "--set", "inline=false", "--out", "out").exit_code == 0
    assert not [path for path in files() if CANARY.encode() in path.read_bytes()]
    assert market("replay", "out").exit_code == 0
