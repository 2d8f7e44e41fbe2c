"""The collector is relaxed while a process has much to make, and as it was afterwards."""

from __future__ import annotations

import gc

from actors.collecting import RELAXED, relaxed


def test_the_collector_is_afterwards_as_it_was() -> None:
    before = gc.get_threshold()
    assert before != RELAXED
    with relaxed():
        assert gc.get_threshold() == RELAXED
        assert gc.get_freeze_count()
    assert gc.get_threshold() == before
    assert not gc.get_freeze_count()


def test_it_is_so_also_where_somebody_else_froze_objects() -> None:
    gc.freeze()
    try:
        with relaxed():
            assert gc.get_threshold() == RELAXED
    finally:
        gc.unfreeze()


def test_within_another_it_changes_nothing() -> None:
    with relaxed():
        with relaxed():
            assert gc.get_threshold() == RELAXED
        assert gc.get_threshold() == RELAXED
        assert gc.get_freeze_count()
