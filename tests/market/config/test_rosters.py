"""Rosters are held against rules before anything starts, each episode's by itself."""

from __future__ import annotations

from pathlib import Path

import pytest

from market.config import Config, ConfigError, load
from market.config.documents import write


def shared(folder: Path, count: int, **more: object) -> Config:
    """Operators of one world."""
    retailers = [{"name": "idle", "policy": "idle", "count": count}]
    path = folder / "shared.yaml"
    path.write_text(write({"extends": "vending/competitive", "retailers": retailers, **more}))
    return load(str(path))


def test_more_seats_than_can_share_a_world_are_refused(tmp_path: Path) -> None:
    assert len(shared(tmp_path, 20).retailers[0].seats) == 20
    with pytest.raises(ConfigError, match=r"`rules\.operation`: 21 seats share a world"):
        shared(tmp_path, 21)


def test_a_pool_may_be_larger_where_few_meet_at_a_time(tmp_path: Path) -> None:
    designs = [{"design": "subsets", "size": 4, "count": 2}]
    assert (
        shared(tmp_path, 25, tournament={"seeds": [1], "rosters": designs}).tournament is not None
    )
