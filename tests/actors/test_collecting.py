"""The collector is relaxed while a process has much to make, and as it was afterwards."""

from __future__ import annotations

import gc

from actors.collecting import YOUNG, relaxed


def test_the_collector_is_afterwards_as_it_was() -> None:
    before = gc.get_threshold(), gc.get_freeze_count()
    with relaxed():
        assert gc.get_threshold()[0] == YOUNG
    assert (gc.get_threshold(), gc.get_freeze_count()) == before


def test_within_another_it_changes_nothing() -> None:
    with relaxed():
        inside = gc.get_threshold()
        with relaxed():
            assert gc.get_threshold() == inside
        assert gc.get_threshold() == inside
        assert gc.get_freeze_count()
