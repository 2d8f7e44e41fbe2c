from __future__ import annotations

import threading
import time
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from actors.language import litellm_transport
from actors.language.litellm_transport import LitellmTransport


def test_transports_made_at_once_are_warmed_once_and_none_goes_on_before_it_is_over(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    # Warming closes the clients that it made; one that began later would close those in use.
    began: list[int] = []
    over = threading.Event()

    def warm(_litellm: Any) -> None:
        began.append(1)
        time.sleep(0.05)
        over.set()

    monkeypatch.setattr(litellm_transport, "warm", warm)
    litellm_transport._warm_once.cache_clear()

    def prepared(_: int) -> bool:
        LitellmTransport().prepare()
        return over.is_set()

    try:
        with ThreadPoolExecutor(8) as pool:
            assert all(pool.map(prepared, range(8)))
    finally:
        litellm_transport._warm_once.cache_clear()
    assert len(began) == 1
