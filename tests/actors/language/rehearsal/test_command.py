"""The command that serves a rehearsal."""

from __future__ import annotations

import json
import re
import signal
import subprocess
import sys
import urllib.request
from pathlib import Path

import pytest
from typer.testing import CliRunner

from actors.cli import app
from market.language import Reply
from tests.actors.language.asking import Asker, question


def test_the_command_says_where_it_serves_and_at_the_end_what_it_served() -> None:
    market = Path(sys.executable).with_name("market")
    serving = subprocess.Popen(
        [market, "dev-server", "--latency", "0.01", "--set", "text=hello"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert serving.stdout is not None
    try:
        first, model, api_base = (serving.stdout.readline() for _ in range(3))
        found = re.search(r"http://127\.0\.0\.1:\d+", first)
        assert found is not None
        assert model.split() == ["model:", "openai/rehearsal"]
        assert api_base.split() == ["api_base:", f"{found[0]}/v1"]
        with urllib.request.urlopen(f"{found[0]}/v1/models") as response:
            assert json.load(response)["data"][0]["id"] == "rehearsal"
        (reply,) = Asker().ask(question("openai/rehearsal", api_base=f"{found[0]}/v1"))
        assert isinstance(reply, Reply)
        assert (reply.text, reply.usage.model) == ("hello", "rehearsal")
    finally:
        serving.send_signal(signal.SIGTERM)
        rest, errors = serving.communicate(timeout=30)
    assert (serving.returncode, errors) == (0, "")
    assert json.loads(rest)["outcomes"] == {"answered": 1}


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["--errors", "2"], "--errors: `errors`: "),
        (["--set", "eror=1"], "`eror`: is no key here; did you mean `errors`."),
        (["--errors", "0.6", "--drops", "0.6"], "add up to more than 1."),
        (["bad.yaml"], "bad.yaml: `hangs`: "),
        (["--host", "203.0.113.7"], "cannot listen at 203.0.113.7, port 0 (cannot assign"),
    ],
)
def test_a_mistake_is_one_sentence(
    arguments: list[str], told: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("bad.yaml").write_text("hangs: often")
    result = CliRunner().invoke(app, ["dev-server", *arguments])
    assert (result.exit_code, result.stdout) == (2, "")
    assert told in result.stderr
    assert result.stderr.count("\n") == 1
