from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from market.config import ConfigError
from market.config.documents import parse, read, write

JSON: st.SearchStrategy[Any] = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(st.characters(exclude_categories=["Cs"]))
    | st.sampled_from(["no", "1e3", "010", "~", "<<", "2020-01-01", "1_000", "0x1f", "=", ".5"]),
    lambda below: st.lists(below) | st.dictionaries(st.text(st.characters(codec="utf-8")), below),
    max_leaves=10,
)


@given(JSON)
def test_what_is_written_is_read_as_the_same_data(data: Any) -> None:
    assert parse(write(data), "here") == data


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("no", "no"),
        ("true", True),
        ("1e-3", 0.001),
        ("5", 5),
        ("-0", 0),
        ("010", "010"),
        ("1:30", "1:30"),
        ("2020-01-01", "2020-01-01"),
        ("", None),
        ("123456789012345678901234567890", 123456789012345678901234567890),
    ],
)
def test_yaml_is_read_by_its_core_schema(text: str, value: Any) -> None:
    found = parse(f"key: {text}", "here")["key"]
    assert (found, type(found)) == (value, type(value))


def test_anchors_and_merge_keys_are_understood() -> None:
    text = "base: &base {a: 1, b: 2}\nother: {<<: *base, b: 3}"
    assert parse(text, "here")["other"] == {"a": 1, "b": 3}


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("a: 1\nb: [1", "line 2"),
        ("a: 1\nb: 2\na: 3", "line 3: the key `a` is given twice; keep one of them."),
        ("a:\n  x: 1\n  x: 1", "line 3: the key `x` is given twice"),
        ("1: a", "line 1: the key 1 is no text; put it in quotes."),
        ("a: .nan", "here.yaml: `a`: nan is no finite number; write one, or null for none."),
        ("a: {b: [1, -.inf]}", "here.yaml: `a.b.1`: -inf is no finite number"),
        ("a: &x [*x, .nan]", "here.yaml: `a.1`: nan"),
        (".inf", "here.yaml: inf is no finite number"),
        ("a:\n\tb: 1", "line 2: a tab stands where spaces must; indent with spaces."),
        ("a: &x [*x]", "Circular"),
        ("a: !!python/object/apply:os.getcwd []", "line 1: could not determine a constructor"),
        ("a: !!binary aGk=", "holds something other than text"),
        (f"a: {'9' * 5000}", "holds something other than text"),
        ("a: \x01", "special characters"),
        ("--- 1\n--- 2", "line 2: a second document begins after `---`; leave one document in"),
    ],
)
def test_malformed_yaml_is_told_in_one_sentence(text: str, told: str) -> None:
    with pytest.raises(ConfigError) as error:
        parse(text, "here.yaml")
    message = str(error.value)
    assert message.startswith("here.yaml")
    assert told in message
    assert message.endswith(".")
    assert "\n" not in message


def test_a_json_file_is_read_as_json(tmp_path: Path) -> None:
    path = tmp_path / "config.json"
    path.write_text(json.dumps({"a": "\x7f\U0001f600", "b": [1e-07, 10**30]}), encoding="utf-8")
    assert read(path) == {"a": "\x7f\U0001f600", "b": [1e-07, 10**30]}


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ('{"a": 1,\n"a": 2}', "the key `a` is given twice"),
        ('{"a": 1,\n', "line 2"),
        ('{"a": [NaN]}', "`a.0`: nan is no finite number"),
        ("[1]", "no mapping"),
        ("null", "is empty"),
    ],
)
def test_malformed_json_is_told_in_one_sentence(tmp_path: Path, text: str, told: str) -> None:
    path = tmp_path / "config.json"
    path.write_text(text)
    with pytest.raises(ConfigError, match=told) as error:
        read(path)
    assert str(error.value).startswith(str(path))


def test_bytes_that_are_no_text_are_told(tmp_path: Path) -> None:
    path = tmp_path / "config.yaml"
    path.write_bytes(b"a: \xff\xfe")
    with pytest.raises(ConfigError, match="no text in UTF-8"):
        read(path)
