from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from market.arena.counterfactual.board import Board, Row
from market.arena.counterfactual.seat import Seat
from market.arena.counterfactual.slogans import best_slogan, seen
from tests.market.arena.counterfactual.recordings import recorded_scenes


def test_slogans_of_equal_meaning_are_one_alternative_and_silence_is_another(
    tmp_path: Path,
) -> None:
    (scene,) = recorded_scenes(tmp_path / "journal", "arena/monopoly")
    first = replace(scene, similarities={"b": (5,), "a": (5,)})
    later = replace(scene, similarities={"b": (5,), "a": (5,), "c": (-3,)})
    assert seen([first, later]) == {(0,): "", (5,): "a", (-3,): "c"}


def test_the_recorded_slogan_is_kept_unless_another_brings_more() -> None:
    worth = {(0,): [1.0, 3.0], (1,): [2.0, 2.0], (2,): [2.5, 2.0]}

    def of(said: Row) -> NDArray[np.float64]:
        return np.array(worth[said])

    assert best_slogan([(0,), (1,)], of, (1,)) == (1,)
    assert best_slogan([(0,), (1,), (2,)], of, (1,)) == (2,)


def test_a_slogan_nearer_to_everybody_is_considered_by_more(tmp_path: Path) -> None:
    scene, *_ = recorded_scenes(tmp_path / "journal", "arena/default", "rules.steps=1")
    seat = Seat(Board(scene, 4), 0)
    reach = [seat.hearing((words,) * 4).inside.sum() for words in (-900_000, 0, 900_000)]
    assert reach[0] < reach[1] < reach[2]
