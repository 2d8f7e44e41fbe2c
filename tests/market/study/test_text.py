from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from market.study.text import (
    clean,
    clean_block,
    count,
    decimal,
    duration,
    money_usd,
    script_json,
)

any_text = st.text(st.characters(codec=None), max_size=60)


@given(any_text)
def test_a_cleaned_text_is_one_line_that_can_be_written(text):
    tidy = clean(text)
    tidy.encode()
    assert tidy.splitlines() in ([], [tidy])
    assert clean(tidy) == tidy


def test_what_turns_the_direction_of_a_line_or_cannot_be_shown_is_replaced():
    assert clean("a\u202eb\x00c\ud800d\x1be") == "a\ufffdb\ufffdc\ufffdd\ufffde"


def test_words_of_other_languages_and_joined_emoji_stay():
    words = "Café, 良い品, مرحبا, क्षमा, 👩\u200d🌾"
    assert clean(words) == words


def test_white_space_of_every_kind_becomes_single_spaces():
    assert clean(" a\u2028b\n\n\tc\u00a0d ") == "a b c d"


def test_a_block_keeps_its_lines_and_their_indentation():
    assert clean_block("{\n  a: \x00\n}") == "{\n  a: \ufffd\n}"


@given(any_text)
def test_script_json_says_the_same_and_cannot_end_its_element(text):
    spelled = script_json({"text": text})
    assert json.loads(spelled)["text"] == text
    assert spelled.isascii()
    assert not set("<>&") & set(spelled)


def test_script_json_refuses_what_is_no_json():
    with pytest.raises(ValueError, match="JSON compliant"):
        script_json(float("nan"))


def test_numbers_for_people():
    assert count(-1234567) == "−1,234,567"
    assert count(None) == "unknown"
    assert decimal(0.41849) == "0.418"
    assert decimal(-0.0001) == "0.000"
    assert decimal(-1234.5, 1) == "−1,234.5"
    assert decimal(108972.38) == "108,972.38"
    assert decimal(None, unknown="–") == "–"


def test_an_unknown_cost_is_unknown_and_a_small_one_is_not_nothing():
    assert money_usd(None) == "unknown"
    assert money_usd(0.0) == "$0.00"
    assert money_usd(0.0004) == "< $0.01"
    assert money_usd(1234.5) == "$1,234.50"


@pytest.mark.parametrize(
    ("seconds", "said"),
    [(None, "unknown"), (4.21, "4.2 s"), (97.3, "1 min 37 s"), (7800, "2 h 10 min")],
)
def test_times_for_people(seconds, said):
    assert duration(seconds) == said
