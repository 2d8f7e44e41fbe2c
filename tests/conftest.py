"""What all tests share."""

from __future__ import annotations

import os
from collections.abc import Iterator

import pytest
from hypothesis import settings

# How long an example takes says more of the machine than of the code.
settings.register_profile("patient", settings(), deadline=None)
settings.load_profile("patient")


@pytest.fixture(scope="session", autouse=True)
def _cache_of_its_own(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Keep what is cached away from the user's cache, also in processes that tests start."""
    if os.environ.get("MARKET_ARENA_CACHE"):
        yield
        return
    os.environ["MARKET_ARENA_CACHE"] = str(tmp_path_factory.mktemp("cache"))
    yield
    del os.environ["MARKET_ARENA_CACHE"]
