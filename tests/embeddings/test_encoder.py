from __future__ import annotations

import sqlite3

from hypothesis import given
from hypothesis import strategies as st

from embeddings import MAX_CHARACTERS, bounded


def test_a_long_text_is_cut() -> None:
    assert bounded("a" * (MAX_CHARACTERS + 1)) == "a" * MAX_CHARACTERS


def test_white_space_alone_is_blank() -> None:
    assert bounded(" \n\t ") == ""


def test_a_lone_surrogate_becomes_a_question_mark() -> None:
    assert bounded("sale \ud800 now") == "sale ? now"


@given(st.text(st.characters(exclude_categories=())))
def test_a_bounded_text_stays_as_it_is_and_can_be_stored(text: str) -> None:
    once = bounded(text)
    assert bounded(once) == once
    assert sqlite3.connect(":memory:").execute("SELECT ?", (once,)).fetchone() == (once,)
