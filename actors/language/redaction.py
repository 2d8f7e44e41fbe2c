"""Keeps keys out of texts.

Providers quote keys in their errors and put them into addresses, and a server at an address of
the user's own choice may say anything. Whatever they wrote passes here before anyone sees it.
"""

from __future__ import annotations

import functools
import json
import os
import urllib.parse
from collections.abc import Iterable, Mapping
from typing import Final

from market.environment import Json
from market.secrets import forbidden_key

#: A shorter value is a placeholder such as `EMPTY`, and may be an ordinary word.
_SHORTEST: Final = 8

#: The option that names the variable of a key.
_NAMES_A_KEY: Final = "api_key_env"

_is_secret: Final = functools.lru_cache(maxsize=4_096)(forbidden_key)

#: Variables of this process that are said to hold secrets, whatever their names are.
_said: Final[set[str]] = set()


def know(*variables: str | None) -> None:
    """Take it that environment variables hold secrets; from now on `known_keys` has them."""
    _said.update(name for name in variables if name)


def know_all(options: Json) -> None:
    """Take it of all variables that options name as those of keys, however deep."""
    if isinstance(options, Mapping):
        name = options.get(_NAMES_A_KEY)
        know(name if isinstance(name, str) else None)
        options = list(options.values())
    if isinstance(options, list | tuple):
        for each in options:
            know_all(each)


def known_keys() -> set[str]:
    """Values of all environment variables that hold secrets: by their names, or said to do so."""
    return {value for name, value in os.environ.items() if name in _said or _is_secret(name)}


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
