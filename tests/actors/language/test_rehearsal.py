"""The rehearsal provider: what it answers, what it spoils, and a market that does not mind."""

from __future__ import annotations

import asyncio
import email.utils
import json
import re
import signal
import subprocess
import sys
import urllib.request
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from actors.cli import app
from actors.correspondence import Correspondence
from actors.driver import Driver, Market, Played
from actors.language.backoff import Backoff
from actors.language.client import LanguageClient
from actors.language.rehearsal.answers import FINE, answer, least
from actors.language.rehearsal.reactions import Asked, Body, Fails, Says, digest
from actors.language.rehearsal.rehearsal import Rehearsal
from actors.language.rehearsal.server import Server, in_thread
from actors.language.rehearsal.settings import SLIPS, TROUBLES, Settings
from actors.roster import roster
from actors.staging import Script, grouped, stage_inline
from market.calls import CallLog, Outcome, read_calls
from market.config import Config, load, recorded
from market.environment import Answer, NoAction
from market.journal import Header, JournalWriter, journal_digest, read
from market.language import Message, ProviderFailure, Reply
from market.rng import draws
from tests import lemonade
from tests.actors.language.asking import ORDER, Asker, question
from tests.actors.test_episode import Nobody, Quiet

ROOT = Path(__file__).parents[3]
BID = '{"bids": [{"item": "item1", "price": 52, "quantity": 10}]}'
TOOL = {"name": "order", "parameters": ORDER.parameters}


def body(text: str = f"What now?\n{BID}", **more: Any) -> Body:
    return {"model": "any", "messages": [{"role": "user", "content": text}], **more}


def asked(text: str = f"What now?\n{BID}", earlier: int = 0, **more: Any) -> Asked:
    content = body(text, **more)
    return Asked(content, digest=digest(content), earlier=earlier)


def said(settings: Settings, content: Asked) -> Says:
    reaction = Rehearsal(settings)(content)
    assert isinstance(reaction, Says)
    return reaction


def calls(content: Body) -> list[tuple[str, Any]]:
    given = answer(content, 0.0, draws(1, "test"))
    return [(name, json.loads(arguments)) for name, arguments in given.calls]


@contextmanager
def serving(**options: Any) -> Iterator[Server]:
    settings = Settings(**options)
    with in_thread(Server(Rehearsal(settings), settings.at_once)) as server:
        yield server


# What it answers


def test_the_example_that_ends_the_last_message_of_the_user_is_said_back() -> None:
    messages = [
        {"role": "user", "content": "Earlier.\n[1]"},
        {"role": "assistant", "content": "[2]"},
        {"role": "user", "content": f'Not {{"this": 1}}.\n{{"nor": this}}\n{BID}\n'},
        {"role": "tool", "content": "[3]"},
    ]
    given = answer({"messages": messages}, 0.0, draws(1, "test"))
    assert json.loads(given.text) == json.loads(BID)


def test_without_an_example_the_schema_is_answered_and_without_both_a_word_is() -> None:
    schema = {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}
    wanted = {"type": "json_schema", "json_schema": {"schema": schema}}
    assert said(Settings(), asked("Go.", response_format=wanted)).text == '{"n": 0}'
    assert said(Settings(), asked("Go.")).text == FINE
    assert said(Settings(text="My words."), asked()).text == "My words."


def test_tools_are_called_as_the_example_shows() -> None:
    tools = [{"function": {"name": tool.name}} for tool in lemonade.TOOLS]
    example = lemonade.FORM.example
    content = body(f"Calls look like this:\n{json.dumps(example)}", tools=tools)
    assert calls(content) == [(call["tool"], call["arguments"]) for call in example]


def test_an_example_that_a_tool_takes_becomes_its_arguments() -> None:
    assert calls(body('Like:\n{"units": 7}', tools=[{"function": TOOL}])) == [
        ("order", {"units": 7})
    ]


@pytest.mark.parametrize("text", ["No example.", 'Like:\n[{"tool": "sing", "arguments": {}}]', BID])
def test_else_the_first_tool_is_called_with_the_least_it_takes(text: str) -> None:
    assert calls(body(text, tools=[{"function": TOOL}])) == [("order", {"units": 0})]


@pytest.mark.parametrize(
    ("schema", "value"),
    [
        ({"type": "integer", "minimum": 3}, 3),
        ({"type": "integer", "exclusiveMinimum": 0}, 1),
        ({"type": "integer", "maximum": -5}, -5),
        ({"type": "array", "minItems": 2, "items": {"enum": ["a", "b"]}}, ["a", "a"]),
        ({"type": "string", "minLength": 2}, "xx"),
        ({"anyOf": [{"const": 9}, {"type": "null"}]}, 9),
        ({"type": ["boolean", "null"]}, False),
        ({"$ref": "#/$defs/n", "$defs": {"n": {"type": "integer", "minimum": 1}}}, 1),
        ({}, None),
    ],
)
def test_the_least_value_of_a_schema(schema: Any, value: Any) -> None:
    assert least(schema) == value


def test_a_schema_without_end_comes_to_one() -> None:
    endless = {"type": "object", "properties": {"a": {"$ref": "#"}}, "required": ["a"]}
    assert "None" in str(least(endless))


def test_a_varied_example_asks_for_less_at_a_higher_price_and_differs_by_content() -> None:
    texts = set()
    for number in range(50):
        text = said(Settings(vary=0.3), asked(f"Seat {number}.\n{BID}")).text
        (line,) = json.loads(text)["bids"]
        assert line["item"] == "item1"
        assert 52 <= line["price"] <= 68
        assert 7 <= line["quantity"] <= 10
        texts.add(text)
    assert len(texts) > 10


def test_an_answer_ends_with_the_tokens_that_were_asked_for() -> None:
    short = said(Settings(), asked(max_tokens=3))
    assert (short.text, short.finish, short.completion_tokens) == (BID[:12], "length", 3)
    assert said(Settings(), asked(max_tokens=300)).finish == "stop"


# What it draws


def test_what_is_drawn_depends_on_seed_and_content_and_not_on_the_order() -> None:
    troubled: dict[str, Any] = dict.fromkeys([*TROUBLES, *SLIPS], 0.1)
    settings = Settings(seed=4, latency=1.0, spread=0.5, vary=0.2, **troubled)
    wanted = [asked(f"Seat {seat}.\n{BID}", earlier) for seat in range(40) for earlier in (0, 1)]
    one, other = Rehearsal(settings, lambda: 0.0), Rehearsal(settings, lambda: 0.0)
    forwards = [one(each) for each in wanted]
    assert forwards == [other(each) for each in reversed(wanted)][::-1]
    changed = Rehearsal(settings.model_copy(update={"seed": 5}), lambda: 0.0)
    assert forwards != [changed(each) for each in wanted]


def test_how_a_request_travels_and_the_order_of_its_keys_are_no_content() -> None:
    content = body()
    turned = {name: content[name] for name in reversed(list(content))}
    assert digest({**turned, "stream": True, "stream_options": {}}) == digest(content)
    assert digest(body("Something else.")) != digest(content)


def test_trouble_is_drawn_for_each_try_and_what_the_model_says_once() -> None:
    settings = Settings(errors=0.5, truncated=0.25, malformed=0.25, refusals=0.25)
    rehearsal = Rehearsal(settings)
    reached = 0
    for number in range(30):
        tries = [rehearsal(asked(f"{number}\n{BID}", earlier)) for earlier in range(8)]
        answers = {each for each in tries if isinstance(each, Says)}
        assert len(answers) <= 1
        reached += len({type(each) for each in tries}) == 2
    assert reached > 20


@pytest.mark.parametrize("names", [TROUBLES, SLIPS])
def test_shares_come_about(names: tuple[str, ...]) -> None:
    shares: dict[str, Any] = dict.fromkeys(names, 0.1)
    rehearsal = Rehearsal(Settings(**shares))
    seen = Counter(rehearsal(asked(f"{n}\n{BID}")).outcome for n in range(2_000))
    assert seen.keys() == {*names, "answered"}
    assert all(150 < seen[name] < 250 for name in names)


def test_latency_has_the_median_and_the_spread_that_were_set() -> None:
    rehearsal = Rehearsal(Settings(latency=2.0, spread=0.5))
    waits = sorted(
        said.after for n in range(999) if isinstance(said := rehearsal(asked(str(n))), Says)
    )
    assert waits[499] == pytest.approx(2.0, rel=0.1)
    assert waits[949] == pytest.approx(2.0 * 2.28, rel=0.15)


def test_a_rate_limit_asks_to_wait_in_seconds_or_until_a_date() -> None:
    rehearsal = Rehearsal(Settings(rate_limit=1.0, retry_after=9), wall_clock=lambda: 1e9)
    waits: dict[bool, set[float]] = {True: set(), False: set()}
    for number in range(100):
        reaction = rehearsal(asked(str(number)))
        assert isinstance(reaction, Fails)
        assert reaction.retry_after is not None
        if plain := reaction.retry_after.isdigit():
            waits[plain].add(float(reaction.retry_after))
        else:
            at = email.utils.parsedate_to_datetime(reaction.retry_after)
            waits[plain].add(at.timestamp() - 1e9)
    assert waits[True] == waits[False] == set(range(1, 10))


def test_a_script_says_what_becomes_of_the_first_requests() -> None:
    rehearsal = Rehearsal(Settings(script=("errors", "answered", "empty"), refusals=1.0))
    outcomes = [rehearsal(asked(str(number))).outcome for number in range(4)]
    assert outcomes == ["errors", "answered", "empty", "refusals"]


def test_malformed_is_never_what_the_example_was() -> None:
    for text in (BID, "{}", '{"a": 1}'):
        for seed in range(20):
            assert said(Settings(malformed=1.0, seed=seed), asked(f"Like:\n{text}")).text != text


# What reaches a client


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


# A market


#: The script sees to it that there is some of each, the shares that there is more.
SCRIPT = ("rate_limit", "errors", "drops", "breaks", "hangs")
TROUBLED: dict[str, Any] = {
    "seed": 3,
    "vary": 0.1,
    "script": SCRIPT,
    "rate_limit": 0.1,
    "errors": 0.1,
    "drops": 0.1,
    "breaks": 0.1,
    "trickles": 0.1,
    "trickle_pause": 0.005,
}


def market_of_models(api_base: str) -> Config:
    models = {"name": "mini", "policy": "llm", "count": 3}
    options = {"model": "openai/rehearsal", "api_base": api_base, "max_tokens": 300}
    scripted = {"name": "markup", "policy": "markup"}
    return load(
        "arena/default",
        [
            "rules.steps=2",
            "rules.attention.similarity=none",
            f"retailers={json.dumps([{**models, 'options': options}, scripted])}",
        ],
    )


def play(folder: Path, server: Server, tries: int, resume: bool = False) -> Played:
    """The market, asking real questions through the real client."""
    config = market_of_models(server.api_base)
    header = Header.of(recorded(config), config.kind.rules_version, "e1")
    castings = [seat.casting for seat in roster(config)]
    script = Script(header.config, grouped(castings, 1), header.digest, 10.0)
    folder.mkdir(exist_ok=True)

    async def market() -> Market:
        return stage_inline(script, Nobody())

    async def story() -> Played:
        client = LanguageClient(
            timeout_seconds=2.0, backoff=Backoff(tries=tries), sleep=lambda _: asyncio.sleep(0.001)
        )
        letters = Correspondence("e1", log, client, read_calls(folder / "calls.jsonl"))
        try:
            return await Driver(market, journal, letters, Quiet(), steps=2).play()
        finally:
            await client.close()

    begin = JournalWriter.reopen if resume else JournalWriter.create
    with (
        begin(folder / "journal.jsonl", header) as journal,
        CallLog(folder / "calls.jsonl") as log,
    ):
        return asyncio.run(story())


def given(folder: Path) -> list[Answer | NoAction]:
    return [
        answer
        for batch in read(folder / "journal.jsonl").batches
        for seat, answer in batch.answers.items()
        if seat.startswith("mini")
    ]


def replies(folder: Path) -> list[Any]:
    return [
        record.key
        for record in read_calls(folder / "calls.jsonl").records
        if record.outcome is Outcome.REPLIED
    ]


def test_a_market_is_rehearsed_with_valid_actions_throughout(tmp_path: Path) -> None:
    with serving(vary=0.1) as server:
        assert play(tmp_path, server, tries=1).owed is None
        assert server.counts.outcomes == {"answered": 18}
    assert all(isinstance(answer, Answer) for answer in given(tmp_path))
    assert len(given(tmp_path)) == 18


def test_trouble_on_the_way_changes_no_byte_and_nothing_answered_is_asked_again(
    tmp_path: Path,
) -> None:
    with serving(vary=0.1, seed=3) as server:
        play(tmp_path / "calm", server, tries=1)
    with serving(**TROUBLED) as server:
        assert play(tmp_path / "troubled", server, tries=12).owed is None
        counts = server.counts
    assert counts.outcomes.keys() >= {"answered", *SCRIPT}
    assert counts.answered_again == 0
    assert counts.outcomes["answered"] + counts.outcomes["trickles"] == 18 == counts.distinct
    assert len(replies(tmp_path / "troubled")) == 18
    assert journal_digest(tmp_path / "troubled" / "journal.jsonl") == journal_digest(
        tmp_path / "calm" / "journal.jsonl"
    )


def test_a_run_that_gives_up_at_every_trouble_is_resumed_to_the_same_end(tmp_path: Path) -> None:
    with serving(vary=0.1, seed=3) as server:
        play(tmp_path / "calm", server, tries=1)
    with serving(**TROUBLED) as server:
        folder = tmp_path / "troubled"
        runs, played = 1, play(folder, server, tries=1)
        while played.owed is not None:
            assert runs < 60
            runs, played = runs + 1, play(folder, server, tries=1, resume=True)
        counts = server.counts
    assert runs > 2
    assert counts.answered_again == 0
    assert len(replies(folder)) == len(set(replies(folder))) == 18
    assert journal_digest(folder / "journal.jsonl") == journal_digest(
        tmp_path / "calm" / "journal.jsonl"
    )


@pytest.mark.parametrize(
    ("slip", "cause"),
    [("refusals", "refused"), ("truncated", "truncated"), ("empty", "malformed")],
)
def test_what_models_do_wrong_ends_in_turns_without_action_that_say_why(
    tmp_path: Path, slip: str, cause: str
) -> None:
    with serving(**{slip: 1.0}) as server:
        assert play(tmp_path, server, tries=1).owed is None
    assert {str(getattr(each, "cause", None)) for each in given(tmp_path)} == {cause}


# The command


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


def test_every_setting_and_no_other_is_described_on_the_page() -> None:
    page = (ROOT / "docs" / "rehearsal.md").read_text()
    rows = dict(re.findall(r"^\| `(\w+)` \| (?:.*) \| (.*) \|$", page, re.MULTILINE))
    assert rows == {name: field.description for name, field in Settings.model_fields.items()}
