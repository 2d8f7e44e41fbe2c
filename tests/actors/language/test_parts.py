"""The parts of the client that need no provider."""

from __future__ import annotations

import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from actors.language.backoff import Backoff
from actors.language.redaction import know_all, known_keys, redacted
from actors.language.transport import AttemptError, Completion
from actors.language.wire import is_strict
from market.environment import Json
from market.language import ProviderFailure
from tests.actors.language.asking import BIDS, Asker, question


@given(st.integers(1, 9), st.floats(0, 1, exclude_max=True), st.none() | st.floats(0, 120))
def test_a_wait_is_at_least_what_was_asked_and_bounded(
    failures: int, draw: float, asked: float | None
) -> None:
    wait = Backoff(tries=10).wait(failures, asked, draw)
    assert wait is not None
    assert (asked or 0) <= wait <= (asked or 0) + min(30.0, 2.0 ** (failures - 1))


def test_the_last_try_is_followed_by_no_wait() -> None:
    assert Backoff(tries=3).wait(3, None, 0.5) is None


def test_a_key_is_replaced_however_it_is_spelled() -> None:
    key = 'a b/"c"+secret'
    text = f'{key} ?key=a%20b%2F%22c%22%2Bsecret "a b/\\"c\\"+secret"'
    assert redacted(text, {key}) == '*** ?key=*** "***"'


def test_a_placeholder_is_no_key() -> None:
    assert redacted("The EMPTY shelf", {"EMPTY", ""}) == "The EMPTY shelf"


def test_a_variable_that_options_name_holds_a_key_whatever_its_name(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for name in ("SHOP_TOKEN", "MINE_AT_THE_TOP", "MINE_BELOW", "NOBODYS"):
        monkeypatch.setenv(name, f"value-of-{name}")
    know_all({"api_key_env": "MINE_AT_THE_TOP", "judges": [{"api_key_env": "MINE_BELOW"}, 7]})
    found = known_keys()
    assert {"value-of-SHOP_TOKEN", "value-of-MINE_AT_THE_TOP", "value-of-MINE_BELOW"} <= found
    assert "value-of-NOBODYS" not in found


def test_a_schema_is_strict_only_if_every_property_is_required_and_no_other_allowed() -> None:
    assert is_strict(BIDS)
    assert not is_strict({**BIDS, "required": []})
    assert not is_strict({**BIDS, "additionalProperties": True})
    assert not is_strict({**BIDS, "patternProperties": {}})
    assert not is_strict({"type": "array", "items": BIDS})
    nested: Json = {"type": "object", "properties": {"x": {"type": "object"}}}
    assert not is_strict({**nested, "required": ["x"], "additionalProperties": False})


def test_a_transport_of_ones_own_needs_no_litellm() -> None:
    class Moody:
        def __init__(self) -> None:
            self.sent = 0

        def prepare(self) -> None:
            pass

        def takes_schema(self, model: str) -> bool:
            return False

        def takes_tools(self, model: str) -> bool:
            return False

        def check(self, model: str, keyed: bool) -> str | None:
            return None

        async def close(self) -> None:
            pass

        async def send(self, parameters: Json, stream: bool = False) -> Completion:
            self.sent += 1
            if self.sent < 3:
                raise AttemptError("server", "not now\x1b[2J\nnor here")
            return Completion("well", "stop")

    transport = Moody()
    reply = Asker(transport=transport).reply(question())
    assert (reply.text, reply.usage.tries, reply.usage.cost_usd) == ("well", 3, None)
    transport.sent = 0
    failure = Asker(tries=2, transport=transport).failure(question())
    assert failure == ProviderFailure(
        "server", "The model 'openai/any' failed (2 tries): not now[2J nor here."
    )


def test_litellm_is_imported_only_when_a_model_is_asked() -> None:
    code = (
        "import sys, actors.language.client as c; c.LanguageClient(); "
        "print(sorted({'litellm', 'xllamacpp', 'ray', 'openai'} & set(sys.modules)))"
    )
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert found.stdout.strip() == "[]"
