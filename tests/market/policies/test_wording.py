from __future__ import annotations

import string
from collections.abc import Iterator

import pytest

from market.arena.wordings import BRIEF, FURTHER, RULES, TURNS
from market.policies.json_prompts import PHRASES
from market.policies.prompts import ONLY_JSON
from market.policies.wording import WORDINGS, Phrase, Wording, wording_of

#: Fragments whose words leave no choice, and what is told in one spelling for all.
ALIKE = {
    "then_sell", "then_redeem", "tick", "one_line", "lines", "no_cap", "notebook", "columns",
    "cap_column", "holding_column", "no_limit", "up_to", "keeping", "keeping_free", "no_answer",
    "notes", "example_slogan", "example_and", "example_all",
}  # fmt: skip


def phrases() -> Iterator[tuple[str, Phrase]]:
    for table in (RULES, BRIEF, TURNS, PHRASES):
        yield from table.items()
    yield from ((f"further {place}", phrase) for place, phrase in enumerate(FURTHER))
    yield "only_json", ONLY_JSON


def facts(text: str) -> list[str]:
    return sorted(name for _, name, _, _ in string.Formatter().parse(text) if name)


@pytest.mark.parametrize(("name", "phrase"), list(phrases()))
def test_every_wording_of_a_phrase_holds_the_same_facts(name: str, phrase: Phrase) -> None:
    assert len(phrase) == WORDINGS
    assert facts(phrase[0]) == facts(phrase[1]) == facts(phrase[2])
    assert len(set(phrase)) > 1 or name in ALIKE


def test_facts_are_never_read_as_phrases() -> None:
    say = Wording({"a": ("{x}", "is {x}", "{x}!")}, 1)
    assert say("a", x="{0.__class__} {x}") == "is {0.__class__} {x}"


def test_a_chosen_wording_is_everybodys() -> None:
    assert {wording_of(2, seed, seat) for seed in range(5) for seat in "abc"} == {2}


def test_rotation_is_drawn_by_episode_and_seat_and_reaches_all_wordings() -> None:
    drawn = {(seed, seat): wording_of("rotate", seed, seat) for seed in range(40) for seat in "abc"}
    assert drawn == {key: wording_of("rotate", *key) for key in drawn}
    counts = [list(drawn.values()).count(number) for number in range(WORDINGS)]
    assert sum(counts) == 120
    assert min(counts) > 25
    assert len({drawn[0, seat] for seat in "abc"} | {drawn[1, seat] for seat in "abc"}) > 1
