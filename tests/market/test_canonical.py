"""The one spelling of JSON is that of the standard library, however it is made."""

from __future__ import annotations

import json
import math
import uuid
from collections import OrderedDict
from datetime import date
from enum import Enum, IntEnum, StrEnum
from typing import Any

import orjson
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from market import canonical

_INTEGERS = st.integers() | st.integers(-(2**70), 2**70) | st.integers(2**63 - 2, 2**64 + 2)
_FLOATS = st.floats() | st.sampled_from(
    [0.0, -0.0, 1e16, 1e15, 9999999999999998.0, 1e-4, 1e-5, 9.999e-5, 1e-7, 5e-324, 1e22, 1e300]
)
_TEXT = st.text(st.characters(exclude_categories=())) | st.sampled_from(
    ["e-1", "1e-1", "9e+2", "0.0000", "\x00\x1f\x7f\u2028\ud800", "g" * 9, "g" + "\x7f" * 9, "😀"]
)
_SCALARS = st.none() | st.booleans() | _INTEGERS | _FLOATS | _TEXT
_JSON = st.recursive(
    _SCALARS,
    lambda inner: (
        st.lists(inner)
        | st.lists(inner).map(tuple)
        | st.dictionaries(_TEXT | st.integers(-3, 3), inner)
    ),
    max_leaves=20,
)


class Tone(StrEnum):
    """A text that is a member of an enumeration."""

    LOUD = "loud"


class Size(IntEnum):
    """A number that is a member of an enumeration."""

    LARGE = 7


class Odd(int, Enum):
    """A number whose member has a value of another type."""

    ONE = True


class Plain(Enum):
    """No JSON at all."""

    X = "x"


def standard(value: Any) -> str | None:
    """What the standard library says; None where it refuses."""
    try:
        text = json.dumps(
            value, ensure_ascii=False, allow_nan=False, sort_keys=True, separators=(",", ":")
        )
        text.encode()
    except (TypeError, ValueError):
        return None
    return text


def spelled(value: Any) -> str | None:
    try:
        return canonical.dumps(value)
    except ValueError:
        return None


@given(_JSON)
@example({"b": [1e16, 1e-7, -0.0], "a": (2**70, None)})
@example([math.nan])
@example({"said": [-math.inf, None]})
def test_every_value_is_spelled_as_the_standard_library_spells_it(value: Any) -> None:
    assert spelled(value) == standard(value)


@given(_JSON)
def test_what_is_settled_is_what_the_text_says(value: Any) -> None:
    text = standard(value)
    if text is None:
        with pytest.raises(ValueError, match="JSON"):
            canonical.settled(value)
        return
    settled = canonical.settled(value)
    assert settled[0] == text
    assert repr(settled[1]) == repr(json.loads(text))


@pytest.mark.parametrize(
    "value",
    [
        Tone.LOUD, {"tone": Tone.LOUD}, {Tone.LOUD: 1}, Size.LARGE, [Size.LARGE], Odd.ONE,
        OrderedDict(b=1, a=2), {1: "a"}, {True: 1, None: 2}, Plain.X, [Plain.X], uuid.UUID(int=5),
        date(2026, 1, 2), {"a": {1, 2}}, b"bytes", 1j, {"a": 1, 2: 3}, orjson.Fragment(b"1"),
        object(),
    ],
)  # fmt: skip
def test_objects_are_spelled_or_refused_as_the_standard_library_does(value: Any) -> None:
    assert spelled(value) == standard(value)


@pytest.mark.parametrize("depth", [200, 300, 100_000])
def test_nesting_is_spelled_or_refused_but_never_crashes(depth: int) -> None:
    value: Any = []
    for _ in range(depth):
        value = [value]
    assert spelled(value) == (None if depth == 100_000 else "[" * (depth + 1) + "]" * (depth + 1))


def test_a_value_that_holds_itself_is_refused() -> None:
    value: list[Any] = []
    value.append(value)
    assert spelled(value) is None
