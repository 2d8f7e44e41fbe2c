"""What a rehearsal provider serves reaches a client, and is counted."""

from __future__ import annotations

import json
import urllib.request
from typing import Any

import pytest

from actors.language.rehearsal.settings import Settings
from market.language import Message, ProviderFailure
from tests.actors.language.asking import Asker, question
from tests.actors.language.rehearsal.provider import BID, asked, body, said, serving


@pytest.mark.parametrize(
    ("trouble", "causes"),
    [
        ("rate_limit", {"rate_limit"}),
        ("errors", {"server"}),
        ("hangs", {"deadline"}),
        ("drops", {"unreachable"}),
        ("breaks", {"unreachable", "server"}),
    ],
)
def test_a_client_can_tell_what_the_provider_did(trouble: str, causes: set[str]) -> None:
    patience = 0.3 if trouble == "hangs" else 20.0
    with serving(**{trouble: 1.0}) as server:
        asker = Asker(tries=2, timeout_seconds=patience)
        failure = asker.failure(question(api_base=server.api_base))
        assert failure.cause in causes
        assert server.counts.outcomes == {trouble: 2}
        assert server.counts.completion_tokens == 0


def test_a_refusal_is_told_in_both_ways_and_a_cut_answer_as_cut() -> None:
    ways = {said(Settings(refusals=1.0), asked(str(n))).refusal is None for n in range(20)}
    assert ways == {True, False}
    questions = [
        (Message("user", f"{number}\n{BID}"),) for number in range(6)
    ]  # six contents meet both ways
    for settings, finish in (({"refusals": 1.0}, "refusal"), ({"truncated": 1.0}, "length")):
        with serving(**settings) as server:
            asking = [question(api_base=server.api_base, messages=each) for each in questions]
            replies = Asker().ask(*asking)
        assert {getattr(reply, "finish", None) for reply in replies} == {finish}


@pytest.mark.parametrize("stream", [True, False])
@pytest.mark.parametrize("settings", [{}, {"trickles": 1.0, "trickle_pause": 0.001}])
def test_an_answer_is_the_same_whole_streamed_and_trickling(
    stream: bool, settings: dict[str, Any]
) -> None:
    with serving(**settings) as server:
        content = {**body(), "stream": stream, "stream_options": {"include_usage": True}}
        raw = post(server.api_base, content)
        counts = server.counts
        assert (counts.requests, counts.answered_again) == (1, 0)
    if stream:
        *lines, last = [line[6:] for line in raw.splitlines() if line]
        assert last == "[DONE]"
        chunks = [json.loads(line) for line in lines]
        parts = [choice["delta"] for chunk in chunks for choice in chunk["choices"]]
        text = "".join(part.get("content") or "" for part in parts)
        usage = chunks[-1]["usage"]
    else:
        whole = json.loads(raw)
        text, usage = whole["choices"][0]["message"]["content"], whole["usage"]
    assert text == BID
    assert usage["completion_tokens"] == counts.completion_tokens > 0


def test_what_was_served_is_counted() -> None:
    with serving(script=("errors", "answered", "answered")) as server:
        asker = Asker()
        for text in ("a", "a", "b"):
            asker.reply(question(api_base=server.api_base, messages=(Message("user", text),)))
        with urllib.request.urlopen(f"{server.address}/counts") as response:
            counts = json.load(response)
    assert counts == server.counts.as_json()
    assert counts["outcomes"] == {"answered": 3, "errors": 1}
    assert (counts["requests"], counts["distinct"], counts["answered_again"]) == (4, 2, 1)
    assert (counts["at_once"], counts["most_at_once"]) == (0, 1)


def test_beyond_the_limit_of_requests_at_once_there_is_a_429() -> None:
    with serving(at_once=2, latency=0.2) as server:
        asking = [
            question(api_base=server.api_base, messages=(Message("user", str(number)),))
            for number in range(6)
        ]
        results = Asker(tries=1).ask(*asking)
        outcomes = server.counts.outcomes
    limited = [each for each in results if isinstance(each, ProviderFailure)]
    assert {each.cause for each in limited} == {"rate_limit"}
    assert outcomes == {"answered": 6 - len(limited), "too_many": len(limited)}
    assert len(limited) >= 3


def test_what_is_no_request_is_told_so() -> None:
    with serving() as server:
        for raw in (b"{", b"[]"):
            with pytest.raises(urllib.error.HTTPError) as refused:
                urllib.request.urlopen(f"{server.api_base}/chat/completions", raw)
            assert refused.value.code == 400


def post(api_base: str, content: Any) -> str:
    raw = json.dumps(content).encode()
    with urllib.request.urlopen(f"{api_base}/chat/completions", raw) as response:
        return str(response.read().decode())
