"""Reading a selling answer: hostile words and numbers go no further than this."""

from __future__ import annotations

import time
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from market import canonical
from market.arena.auction import MOST
from market.arena.rules import MOST_PRICE
from market.arena.storefront import (
    SLOGAN_CHARACTERS,
    PriceReason,
    RefusedPrice,
    Shelf,
    SloganNote,
    clean_slogan,
    read,
)

SHELF = Shelf(
    caps={"tea": 20, "coffee": 20, "wine": None},
    held={"tea": True, "coffee": False, "wine": True},
    tick=5,
    words=25,
)


def prices(**stated: Any) -> tuple[dict[str, int], list[RefusedPrice]]:
    front = read({"prices": stated, "slogan": ""}, SHELF)
    return dict(front.prices), list(front.refused)


def test_a_valid_price_stands_and_may_be_spelled_with_a_point() -> None:
    assert prices(tea=20, wine=5.0) == ({"tea": 20, "wine": 5}, [])


@pytest.mark.parametrize(
    ("item", "price", "reason"),
    [
        ("beer", 5, PriceReason.UNKNOWN_ITEM),
        ("", 5, PriceReason.UNKNOWN_ITEM),
        ("coffee", 5, PriceReason.NOT_HELD),
        ("tea", 0, PriceReason.NOT_POSITIVE),
        ("tea", -5, PriceReason.NOT_POSITIVE),
        ("tea", 6, PriceReason.OFF_TICK),
        ("tea", 25, PriceReason.ABOVE_CAP),
        ("wine", MOST_PRICE + 5, PriceReason.BEYOND_ALL),
    ],
)
def test_a_void_price_is_refused_with_its_reason(
    item: str, price: int, reason: PriceReason
) -> None:
    assert prices(**{item: price, "tea2": 5})[1][0] == RefusedPrice(item, price, reason)
    assert prices(**{item: price})[0] == {}


def test_one_void_price_leaves_the_others_standing() -> None:
    assert prices(tea=10, coffee=10, wine=10)[0] == {"tea": 10, "wine": 10}


@pytest.mark.parametrize("price", [2**63, 10**40, 1e300, -(10**40)])
def test_numbers_beyond_all_bounds_are_refused_and_bounded(price: float) -> None:
    stands, (refused,) = prices(wine=price)
    assert stands == {}
    assert abs(refused.price) == MOST


def test_without_a_cap_there_is_still_a_highest_price() -> None:
    assert prices(wine=MOST_PRICE)[0] == {"wine": MOST_PRICE}


def test_the_name_of_an_unknown_item_is_cut() -> None:
    (refused,) = prices(**{"x" * 10_000: 5})[1]
    assert refused.item == "x" * 64


def test_twenty_five_words_stand_and_the_twenty_sixth_is_cut() -> None:
    words = [f"w{number}" for number in range(26)]
    assert clean_slogan(" ".join(words[:25]), 25) == (" ".join(words[:25]), ())
    assert clean_slogan("\n ".join(words), 25) == (" ".join(words[:25]), (SloganNote.WORDS,))


@pytest.mark.parametrize(
    ("hostile", "shown"),
    [
        ("buy\x00 \x1b[2Jnow\x07", "buy [2Jnow"),
        ("b\u200bu\u200dy\ufeff", "buy"),
        ("\u202egnp.exe\u2066", "gnp.exe"),
        ("tag\U000e0041\U000e0042", "tag"),
        ("lone \ud800\udfff end", "lone end"),
        ("\u200b\u200b", ""),
        ("del\x7fete", "delete"),
    ],
)
def test_what_nobody_sees_is_removed(hostile: str, shown: str) -> None:
    assert clean_slogan(hostile, 25) == (shown, (SloganNote.CLEANED,))


def test_white_space_of_every_kind_is_one_space() -> None:
    assert clean_slogan("  fine\r\n\ttea\u2028for\u00a0all \x0b", 25) == ("fine tea for all", ())


def test_words_of_every_script_stand() -> None:
    for slogan in ("Gute Ware für alle", "便宜又好", "чай", "🛒 tea", "cafe\u0301"):
        assert clean_slogan(slogan, 25) == (slogan, ())


def test_a_slogan_of_one_endless_word_is_cut() -> None:
    slogan, notes = clean_slogan("W" * 1_000, 25)
    assert slogan == "W" * SLOGAN_CHARACTERS
    assert notes == (SloganNote.LENGTH,)


def test_ten_megabytes_cost_nothing() -> None:
    began = time.process_time()
    for text in ("x" * 10**7, "a " * 5_000_000, "\u200b" * 10**7, "\u202e🛒" * 5_000_000):
        slogan, notes = clean_slogan(text, 25)
        assert len(slogan) <= SLOGAN_CHARACTERS
        assert notes
    assert time.process_time() - began < 1


@given(st.text(alphabet=st.characters(), max_size=400), st.integers(1, 30))
def test_a_slogan_is_one_bounded_line_of_json_and_stays_as_it_is(text: str, words: int) -> None:
    slogan, _ = clean_slogan(text, words)
    assert len(slogan) <= SLOGAN_CHARACTERS
    assert len(slogan.split()) <= words
    assert slogan.splitlines() in ([], [slogan])
    assert clean_slogan(slogan, words) == (slogan, ())
    canonical.dumps(slogan)
