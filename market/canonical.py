"""One spelling for every JSON value: what is written, hashed and compared.

UTF-8, keys sorted, no spaces, no NaN. An answer is serialised first, and what is parsed back is
what is applied, so that a recording and the game it records cannot differ.

The spelling is that of the standard library, which defines it. orjson is ten times as fast and
spells nearly everything the same; where it might not, it is not asked: it writes NaN as null and
objects of other types as something, and has its own way with exponents.
"""

from __future__ import annotations

import hashlib
import json
import marshal
import re
from typing import Any, NoReturn

import orjson

_encode = json.JSONEncoder(
    ensure_ascii=False, allow_nan=False, sort_keys=True, separators=(",", ":")
).encode

_OPTIONS = (
    orjson.OPT_SORT_KEYS
    | orjson.OPT_PASSTHROUGH_DATACLASS
    | orjson.OPT_PASSTHROUGH_DATETIME
    | orjson.OPT_PASSTHROUGH_SUBCLASS
)

#: In what `marshal` makes of a value: a float whose exponent says NaN or infinity.
_NO_NUMBER = re.compile(rb"g.{6}[\xf0-\xff][\x7f\xff]", re.DOTALL)

#: In what orjson spells: a number with an exponent, or one so small that the standard library
#: gives it one.
_EXPONENT = re.compile(rb"e[-+](?<=[0-9]e.)")
_SMALL = b"0.0000"


def dumps(value: Any) -> str:
    """Serialise to the one spelling.

    Raises:
        ValueError: If the value is not JSON: NaN, infinity, a lone surrogate, mixed keys, an
            unknown type, nesting or a number without end.
    """
    spelled = _quickly(value)
    return _standard(value) if spelled is None else spelled.decode()


def settled(value: Any, plain: bool = False) -> tuple[str, Any]:
    """The one spelling of a value, and what is parsed back from it.

    Args:
        value: The value.
        plain: Whether it is known to hold nothing but built-in dictionaries and lists, strings,
            whole numbers and truth values, which orjson spells as the standard library does.

    Raises:
        ValueError: As `dumps`.
    """
    spelled = _plainly(value) if plain else _quickly(value)
    if spelled is None:
        text = _standard(value)
        return text, loads(text)
    return spelled.decode(), orjson.loads(spelled)


def _quickly(value: Any) -> bytes | None:
    """The spelling as orjson makes it; None where that may not be the standard one.

    `marshal` tells which: it refuses whatever is no instance of a built-in type itself, such as a
    member of an enumeration, and shows every float.
    """
    try:
        spelled = orjson.dumps(value, option=_OPTIONS)
        plain = marshal.dumps(value, 2)
    except (TypeError, ValueError):
        return None
    if _NO_NUMBER.search(plain) or _EXPONENT.search(spelled) or _SMALL in spelled:
        return None
    return spelled


def _plainly(value: Any) -> bytes | None:
    """The spelling of a plain value; None for a lone surrogate or a number beyond 64 bits."""
    try:
        return orjson.dumps(value, option=orjson.OPT_SORT_KEYS)
    except TypeError:
        return None


def _standard(value: Any) -> str:
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
        return _decode(text)
    except RecursionError as error:
        raise ValueError("not JSON: nested too deeply") from error


def digest(text: str) -> str:
    """The SHA-256 of a text, in hexadecimal."""
    return hashlib.sha256(text.encode()).hexdigest()


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"not JSON: {name}")


_decode = json.JSONDecoder(parse_constant=_refuse_constant).decode
