"""Addresses that a configuration may hold."""

from __future__ import annotations

from typing import Any

import pytest

from market.config.addresses import refused


@pytest.mark.parametrize(
    "value",
    [
        None,
        "",
        "http://127.0.0.1:8123/v1",
        "https://example.org",
        "http://[::1]:8000/v1",
        ["http://a:1/v1", "http://b"],
        3,
    ],
)
def test_a_whole_address_without_secrets_is_good(value: Any) -> None:
    assert refused("api_base", value) is None


@pytest.mark.parametrize(
    ("value", "told"),
    [
        ("http://me:hunter2@host/v1", "leave out what stands before `@`"),
        ("https://hunter2@host/v1", "leave out what stands before `@`"),
        ("me:hunter2@host", "leave out what stands before `@`"),
        ("http://host/v1?api_key=hunter2", "leave out all from `?` or `#` on"),
        ("http://host/v1#hunter2", "leave out all from `?` or `#` on"),
        (["http://good", "http://host?key=hunter2"], "leave out all from `?` or `#` on"),
        ("localhost:8000/v1", "lacks its scheme; write `http://localhost:8000/v1`"),
        ("ftp://host", "is the address of no server; write one such as"),
        ("http://", "is the address of no server"),
        ("http://host:port", "is the address of no server"),
        ("http://[::1", "is the address of no server"),
    ],
)
def test_another_is_refused_with_what_mends_it_and_not_repeated(value: Any, told: str) -> None:
    for name in ("api_base", "retailers.0.options.api_base"):
        what = refused(name, value)
        assert what is not None
        assert told in what
        assert "hunter2" not in what


def test_a_password_is_refused_in_an_address_of_any_name() -> None:
    what = refused("response_cache", "sftp://me:hunter2@host/cache.db")
    assert what is not None
    assert "leave out user and password" in what
    for good in ("hdfs://me@host/x", "look at http://a:b@c", "s3://bucket/a:b@c", 7):
        assert refused("response_cache", good) is None
