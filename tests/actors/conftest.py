"""One Ray for all tests of a session: starting one takes seconds."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from actors.cluster import connected


@pytest.fixture(scope="session")
def ray_cluster() -> Iterator[None]:
    with connected(None):
        yield
