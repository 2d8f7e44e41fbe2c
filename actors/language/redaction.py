"""Keeps keys out of texts.

Providers quote keys in their errors and put them into addresses, and a server at an address of
the user's own choice may say anything. Whatever they wrote passes here before anyone sees it.
"""

from __future__ import annotations

import functools
import json
import os
import urllib.parse
from collections.abc import Iterable
from typing import Final

from market.secrets import forbidden_key

#: A shorter value is a placeholder such as `EMPTY`, and may be an ordinary word.
_SHORTEST: Final = 8

_is_secret: Final = functools.lru_cache(maxsize=4_096)(forbidden_key)


def known_keys() -> set[str]:
    """Values of all environment variables that hold secrets, by their names."""
    return {value for name, value in os.environ.items() if _is_secret(name)}


def redacted(text: str, keys: Iterable[str]) -> str:
    """A text with `***` for every key, also where it is spelled as in an address or in JSON."""
    spellings = {
        spelling
        for key in keys
        if len(key) >= _SHORTEST
        for spelling in (key, urllib.parse.quote(key, safe=""), json.dumps(key)[1:-1])
    }
    for spelling in sorted(spellings, key=len, reverse=True):
        text = text.replace(spelling, "***")
    return text
