"""Putting figures and untrusted words into text for people."""

from __future__ import annotations

import json
import unicodedata
from typing import Any

#: Controls, surrogates and private use; of formatting characters only those that turn the
#: direction of a line are hostile, the rest joins letters and emoji.
_UNSHOWN = frozenset({"Cc", "Cs", "Co"})
_DIRECTION = frozenset("\u200e\u200f\u061c\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")

#: What stands for an unknown figure.
UNKNOWN = "unknown"


def clean(text: str) -> str:
    """An untrusted text on one line: white space single, what cannot be shown replaced."""
    return " ".join(_shown(text).split())


def clean_block(text: str) -> str:
    """An untrusted text of several lines, each as it stands; what cannot be shown replaced."""
    return "\n".join(_shown(line) for line in text.splitlines())


def count(value: int | float | None, unknown: str = UNKNOWN) -> str:
    """A whole number with thousands set apart: −12,345."""
    return unknown if value is None else f"{value:,.0f}".replace("-", "−")


def decimal(value: int | float | None, places: int = 3, unknown: str = UNKNOWN) -> str:
    """A number with decimals, at most two from 1,000 on; one that rounds to zero has no sign."""
    if value is None:
        return unknown
    if abs(value) >= 1_000:
        places = min(places, 2)
    text = f"{value:,.{places}f}"
    return text.lstrip("-") if not text.strip("-0.,") else text.replace("-", "−")


def money_usd(value: float | None) -> str:
    """A cost in dollars; unknown is unknown, and small is not nothing."""
    if value is None:
        return UNKNOWN
    return "< $0.01" if 0 < value < 0.01 else f"${value:,.2f}"


def duration(seconds: float | None) -> str:
    """A time for people: 4.2 s, 3 min 05 s, 2 h 10 min."""
    if seconds is None:
        return UNKNOWN
    if seconds < 60:
        return f"{seconds:.1f} s"
    minutes, rest = divmod(round(seconds), 60)
    if minutes < 60:
        return f"{minutes} min {rest:02d} s"
    return f"{minutes // 60} h {minutes % 60:02d} min"


def script_json(value: Any) -> str:
    """JSON that can stand inside a script element: nothing in it ends the element or the line."""
    spelled = json.dumps(value, ensure_ascii=True, allow_nan=False, separators=(",", ":"))
    return spelled.replace("&", "\\u0026").replace("<", "\\u003c").replace(">", "\\u003e")


def _shown(text: str) -> str:
    return "".join(
        "\ufffd"
        if character in _DIRECTION
        or (unicodedata.category(character) in _UNSHOWN and not character.isspace())
        else character
        for character in text
    )
