"""Words that others wrote, made safe to show to a language model.

Whatever a rival, a buyer or a model wrote is data. Before it enters a prompt it is put on one
line, bounded, freed of characters that nobody sees, and robbed of the signs with which chat
templates mark roles: `<|im_start|>` or `[INST]` inside a slogan would otherwise be read by a
tokenizer as the start of somebody else's message. It is then quoted, and nothing inside can
close the quote. No list of forbidden phrases is kept: such lists are never complete.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping

from market.environment import Json

#: Most characters of a rival's words that are shown.
LIMIT = 200
#: Whole numbers at or beyond this (either sign) are named by it, not written out.
LARGEST = 10**15

#: Control and format characters (zero width, bidirectional marks, tags), private and unassigned.
_UNSEEN_CATEGORIES = frozenset({"Cc", "Cf", "Co", "Cn"})
#: Letters and marks that are drawn as nothing: fillers, joiners, variation selectors.
_UNSEEN = frozenset(
    map(chr, (0x034F, 0x115F, 0x1160, 0x17B4, 0x17B5, 0x2800, 0x3164, 0xFFA0))
) | frozenset(map(chr, (*range(0x180B, 0x1810), *range(0xFE00, 0xFE10), *range(0xE0100, 0xE01F0))))
_SWAPPED = {"<": "‹", ">": "›", "[": "(", "]": ")", '"': "'", "`": "'"}
#: A text that is shown as it is: what can be printed of ASCII, but for what is swapped.
_PLAIN = re.compile(r"[ !#-;=?-Z\\^_a-~]*")


def clean(text: str, limit: int = LIMIT) -> str:
    """One visible line of at most `limit` characters; a cut is shown by a final `…`."""
    # Only a stretch of a long text is looked at, so that hostile length costs nothing.
    seen = text[: 4 * limit]
    if not _PLAIN.fullmatch(seen):
        seen = "".join(map(_shown, seen))
    line = " ".join(seen.split())
    if len(line) <= limit and len(text) <= 4 * limit:
        return line
    return line[: limit - 1].rstrip() + "…"


def quote(text: str, limit: int = LIMIT) -> str:
    """The text cleaned and between double quotes, none of which occur inside."""
    return f'"{clean(text, limit)}"'


def number(value: float) -> str:
    """A number as text; one that is absurdly large is named as such instead of written out."""
    if value >= LARGEST:
        return "over 10^15"
    if value <= -LARGEST:
        return "under -10^15"
    return str(value)


def cleaned(value: Json, limit: int) -> Json:
    """JSON with every text in it cleaned, keys included, and every number bounded."""
    if isinstance(value, str):
        return clean(value, limit)
    if isinstance(value, Mapping):
        return {clean(key, limit): cleaned(inner, limit) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [cleaned(inner, limit) for inner in value]
    if isinstance(value, int | float) and abs(value) >= LARGEST:
        return number(value)
    return value


def _shown(character: str) -> str:
    """What is shown for one character: itself, a stand-in, a space or nothing."""
    if character in _SWAPPED:
        return _SWAPPED[character]
    if character.isspace():
        return " "
    category = unicodedata.category(character)
    if category == "Cs":
        return "�"
    if category in _UNSEEN_CATEGORIES or character in _UNSEEN:
        return ""
    return character
