"""Addresses that a configuration may hold: whole ones, and without what must stay secret.

A configuration is copied into every result and every package of one, and so are its addresses.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Any
from urllib.parse import urlsplit

#: The option that says where a model is reached.
API_BASE = "api_base"

_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*://")
#: Begins an address with a password in it: `scheme://user:password@host`.
_PASSWORD = re.compile(rf"{_SCHEME.pattern}[^/?#\s@]*:[^/?#\s]*@")
_HIDDEN = (
    "holds what may be a secret, which does not belong into a configuration; leave out {}, and "
    "name an environment variable that holds the key in `api_key_env`"
)


def refused(name: str, value: Any) -> str | None:
    """Why a value may not stand under a name, without repeating it; None for a good one.

    Args:
        name: The name of the value, which may be dotted.
        value: A text, a list of what a study varies, or anything else, which is good.
    """
    texts = value if isinstance(value, list) else [value]
    found = _of_models if name.rpartition(".")[2] == API_BASE else _of_anything
    return next(found(text for text in texts if isinstance(text, str) and text), None)


def is_server(text: str) -> bool:
    """Whether a text is the address of a server, with its scheme."""
    try:
        parts = urlsplit(text)
        host, _ = parts.hostname, parts.port
    except ValueError:
        return False
    return bool(host) and parts.scheme in ("http", "https")


def _of_anything(texts: Iterable[str]) -> Iterator[str]:
    return (_HIDDEN.format("user and password") for text in texts if _PASSWORD.match(text))


def _of_models(texts: Iterable[str]) -> Iterator[str]:
    for text in texts:
        whole = text if _SCHEME.match(text) else f"http://{text}"
        if "@" in text.partition("?")[0].partition("#")[0]:
            yield _HIDDEN.format("what stands before `@`")
        elif "?" in text or "#" in text:
            yield _HIDDEN.format("all from `?` or `#` on")
        elif not is_server(whole):
            yield "is the address of no server; write one such as `http://localhost:8000/v1`"
        elif whole != text:
            yield f"lacks its scheme; write `{whole}`"
