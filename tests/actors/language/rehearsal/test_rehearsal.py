"""What becomes of a request is drawn from the seed and the content."""

from __future__ import annotations

import email.utils
from collections import Counter
from typing import Any

import pytest

from actors.language.rehearsal.reactions import Fails, Says, digest
from actors.language.rehearsal.rehearsal import Rehearsal
from actors.language.rehearsal.settings import SLIPS, TROUBLES, Settings
from tests.actors.language.rehearsal.provider import BID, asked, body, said


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
