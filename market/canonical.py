"""One spelling for every JSON value: what is written, hashed and compared.

UTF-8, keys sorted, no spaces, no NaN. An answer is serialised first, and what is parsed back is
what is applied, so that a recording and the game it records cannot differ.
"""

from __future__ import annotations

import hashlib
import json
from typing import Any, NoReturn

_encode = json.JSONEncoder(
    ensure_ascii=False, allow_nan=False, sort_keys=True, separators=(",", ":")
).encode


def dumps(value: Any) -> str:
    """Serialise to the one spelling.

    Raises:
        ValueError: If the value is not JSON: NaN, infinity, a lone surrogate, mixed keys, an
            unknown type, nesting or a number without end.
    """
    try:
        text = _encode(value)
        if not text.isascii():
            text.encode()
    except (TypeError, RecursionError, UnicodeEncodeError) as error:
        raise ValueError(f"not JSON: {error}") from error
    return text


def loads(text: str) -> Any:
    """Parse JSON, refusing what the standard does not know.

    Raises:
        ValueError: If the text is not JSON, or holds NaN, infinity or nesting without end.
    """
    try:
        return json.loads(text, parse_constant=_refuse_constant)
    except RecursionError as error:
        raise ValueError("not JSON: nested too deeply") from error


def digest(text: str) -> str:
    """The SHA-256 of a text, in hexadecimal."""
    return hashlib.sha256(text.encode()).hexdigest()


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"not JSON: {name}")
