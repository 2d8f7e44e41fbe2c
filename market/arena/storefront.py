"""Reads a selling answer: which prices stand, what is said, and why anything was refused."""

from __future__ import annotations

import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from functools import lru_cache
from typing import NamedTuple

from market.arena.auction import NAME_KEPT, whole
from market.arena.rules import MOST_PRICE
from market.environment import Json

#: Characters of a slogan; more are cut, whatever the number of words.
SLOGAN_CHARACTERS = 300


class PriceReason(StrEnum):
    """Why a price is void."""

    UNKNOWN_ITEM = "unknown item"
    NOT_HELD = "not held"
    NOT_POSITIVE = "not positive"
    OFF_TICK = "off tick"
    ABOVE_CAP = "above cap"
    BEYOND_ALL = f"above {MOST_PRICE:,}"


class SloganNote(StrEnum):
    """What was mended of a slogan."""

    WORDS = "cut to the allowed words"
    LENGTH = f"cut to {SLOGAN_CHARACTERS} characters"
    CLEANED = "control characters removed"


class Shelf(NamedTuple):
    """What may be priced: for each item, the highest price or None, and whether it is held.

    Attributes:
        caps: Highest price per item; None for none.
        held: Whether the retailer may price the item.
        tick: Prices are multiples of it.
        words: Words of a slogan.
    """

    caps: Mapping[str, int | None]
    held: Mapping[str, bool]
    tick: int
    words: int


@dataclass(frozen=True, slots=True)
class RefusedPrice:
    """A void price, the name of the item cut and the number bounded, and the reason."""

    item: str
    price: int
    reason: PriceReason


@dataclass(frozen=True, slots=True)
class Storefront:
    """What stands of a selling answer.

    Attributes:
        prices: Valid price per item.
        slogan: The words, cleaned and cut.
        refused: Void prices.
        notes: What was mended of the slogan.
    """

    prices: Mapping[str, int]
    slogan: str
    refused: tuple[RefusedPrice, ...] = ()
    notes: tuple[SloganNote, ...] = ()


#: The storefront of a retailer that took no action.
CLOSED = Storefront({}, "")


def read(action: Json, shelf: Shelf) -> Storefront:
    """Read an action `{"prices": {item: price}, "slogan": words}` of the selling form."""
    prices: dict[str, int] = {}
    refused = []
    for item, stated in action["prices"].items():
        price = whole(stated)
        reason = _void(item, price, shelf)
        if reason is None:
            prices[item] = price
        else:
            refused.append(RefusedPrice(item[:NAME_KEPT], price, reason))
    slogan, notes = clean_slogan(action["slogan"], shelf.words)
    return Storefront(prices, slogan, tuple(refused), notes)


def clean_slogan(text: str, words: int) -> tuple[str, tuple[SloganNote, ...]]:
    """A slogan on one line without control characters, cut to its bounds, and what was mended.

    The words stay the agent's own: rivals' prompts and pages quote and escape them besides.
    """
    return _cleaned(text[: 20 * SLOGAN_CHARACTERS], words)


@lru_cache(maxsize=512)
def _cleaned(text: str, words: int) -> tuple[str, tuple[SloganNote, ...]]:
    """As `clean_slogan`; retailers repeat themselves."""
    notes = []
    parts = text.split()
    shown = " ".join(parts)
    if not shown.isascii() or not shown.isprintable():
        visible = "".join(c for c in shown if unicodedata.category(c) not in ("Cc", "Cf", "Cs"))
        if visible != shown:
            notes.append(SloganNote.CLEANED)
            parts = visible.split()
    if len(parts) > words:
        parts = parts[:words]
        notes.append(SloganNote.WORDS)
    shown = " ".join(parts)
    if len(shown) > SLOGAN_CHARACTERS:
        shown = shown[:SLOGAN_CHARACTERS].rstrip()
        notes.append(SloganNote.LENGTH)
    return shown, tuple(notes)


def _void(item: str, price: int, shelf: Shelf) -> PriceReason | None:
    if item not in shelf.held:
        return PriceReason.UNKNOWN_ITEM
    if not shelf.held[item]:
        return PriceReason.NOT_HELD
    if price <= 0:
        return PriceReason.NOT_POSITIVE
    if price % shelf.tick:
        return PriceReason.OFF_TICK
    cap = shelf.caps[item]
    if cap is None:
        return PriceReason.BEYOND_ALL if price > MOST_PRICE else None
    return PriceReason.ABOVE_CAP if price > cap else None
