"""A key that is used on Ray is nowhere afterwards: not in what is kept, told, logged or shown."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from actors.language.rehearsal.reactions import Asked, Fails, Reaction, Says
from actors.language.rehearsal.server import Server, in_thread
from tests.actors.language.asking import CANARY

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[2]

#: Named as no secret is: only who uses it knows that it is one.
HIDDEN = "canary-hidden-77b1c04e"

TOURNAMENT = """
environment: arena
extends: arena/default
rules: {{steps: 2, attention: {{similarity: none}}}}
retailers:
  - name: keyed
    policy: llm
    options: {{model: openai/any, api_base: "{base}", api_key_env: SHOP_KEY}}
  - name: hidden
    policy: llm
    options: {{model: openai/any, api_base: "{base}", api_key_env: SHOP}}
  - {{name: blurting, policy: "blurting:Blurting"}}
  - {{name: markup, policy: markup}}
tournament: {{seeds: 2}}
"""

BLURTING = """
import os
from dataclasses import dataclass
from market.environment import Answer, Decision
from market.policies.policy import Policy

@dataclass
class Blurting(Policy):
    def act(self, decision: Decision) -> Answer:
        raise RuntimeError("refused: " + os.environ["SHOP_KEY"])
"""


class Parrot:
    """A provider that repeats the key it is sent in whatever it says."""

    def __init__(self) -> None:
        self.keys: set[str] = set()
        self.rejects = False

    def __call__(self, asked: Asked) -> Reaction:
        told = f"Not so, {asked.authorization}! " * 3
        self.keys.add(str(asked.authorization).removeprefix("Bearer "))
        if self.rejects:
            return Fails(401, told, code=str(asked.authorization))
        if asked.earlier == 0 and int(asked.digest, 16) % 4 == 0:
            return Fails(500, told)
        if asked.earlier == 0 and int(asked.digest, 16) % 4 == 1:
            return Fails(429, told, retry_after="0")
        last = asked.body["messages"][-1]["content"]
        if "slogan" in last:
            said = json.dumps({"prices": {"item1": 90}, "slogan": told})
        else:
            said = json.dumps({"bids": [{"item": "item1", "quantity": 1, "price": 60}]})
        return Says(said, model=told)


@pytest.fixture
def parrot() -> Iterator[tuple[Parrot, str]]:
    behaviour = Parrot()
    with in_thread(Server(behaviour)) as server:
        yield behaviour, server.api_base


def command(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    keys = {"SHOP_KEY": CANARY, "SHOP": HIDDEN, "OPENAI_API_KEY": CANARY}
    return subprocess.run(
        [sys.executable, *arguments],
        cwd=folder,
        env={**os.environ, **keys, "PYTHONPATH": f"{ROOT}:{folder}"},
        capture_output=True,
        text=True,
        check=False,
        timeout=240,
    )


def holders(folder: Path) -> list[str]:
    """The files that hold a key, in any of their bytes."""
    keys = CANARY.encode(), HIDDEN.encode()
    files = [path for path in folder.rglob("*") if path.is_file()]
    return [str(path) for path in files if any(key in path.read_bytes() for key in keys)]


def test_a_key_that_is_used_on_ray_is_nowhere(tmp_path: Path, parrot: tuple[Parrot, str]) -> None:
    provider, base = parrot
    shop, out = tmp_path / "shop", tmp_path / "out"
    shop.mkdir()
    out.mkdir()
    (shop / "shop.yaml").write_text(TOURNAMENT.format(base=base))
    (shop / "blurting.py").write_text(BLURTING)

    def leaky(*arguments: str) -> subprocess.CompletedProcess[str]:
        return command(shop, "-m", "tests.actors.leaky", str(out), *arguments)

    run = str(tmp_path / "run")
    provider.rejects = True
    said = [leaky("run", "shop.yaml", "--out", run)]
    assert said[0].returncode == 3, said[0].stdout + said[0].stderr
    assert "rejected the request" in said[0].stderr
    assert not holders(out)
    provider.rejects = False
    said.append(leaky("run", "shop.yaml", "--out", run, "--resume"))
    assert said[1].returncode == 0, said[1].stdout + said[1].stderr
    assert provider.keys == {CANARY, HIDDEN}  # they were used
    code = "from actors.cli import main; main()"
    for asked in (["status", run], ["status", run, "--json"], ["run", "shop.yaml", "--dry-run"]):
        said.append(command(shop, "-c", code, *asked))
        assert said[-1].returncode == 0, said[-1].stderr
    for one in said:
        assert CANARY not in one.stdout + one.stderr
        assert HIDDEN not in one.stdout + one.stderr
    assert not holders(tmp_path / "run")
    assert not holders(out)
    told = json.loads((out / "ray.json").read_text())
    assert any("LanguageActor" in str(actor) for actor in told["actors"])
    assert any("RetailerActor.call" in str(task) for task in told["tasks"])
    assert list((out / "session").rglob("*.log"))
    assert (tmp_path / "run" / "report.html").exists()
    calls = "".join(path.read_text() for path in (tmp_path / "run").rglob("calls.jsonl"))
    assert "Not so, Bearer ***" in calls
    assert "refused: ***" in calls
