from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import sem
from scipy.stats import t as student

from market.study.estimands.scores import Score, average, mean, standing


def score(
    value: float, seed: int, seat: str = "a", market: str | None = None, episode: str | None = None
) -> Score:
    return Score("a", seat, episode or f"{market}-{seed}", market, seed, value, {"profit": value})


@pytest.mark.parametrize("seeds", [2, 3, 10, 100])
def test_the_interval_is_that_of_student(seeds: int) -> None:
    found = mean([score(seed**2, seed) for seed in range(seeds)])
    assert found.error is not None
    assert found.half_width == pytest.approx(student.ppf(0.975, seeds - 1) * found.error)


@given(st.lists(st.floats(-1e6, 1e6), min_size=2, max_size=20))
def test_with_one_score_per_seed_the_error_is_the_usual_one(values: list[float]) -> None:
    found = mean([score(value, seed) for seed, value in enumerate(values)])
    assert found.value == pytest.approx(sum(values) / len(values), abs=1e-6)
    assert found.error == pytest.approx(sem(values), abs=1e-6)


def test_more_episodes_on_the_same_seeds_make_nobody_surer() -> None:
    few = mean([score(1, 1), score(3, 2)])
    many = mean([score(value, seed, episode=f"{seed}-{i}") for seed, value in ((1, 1), (2, 3))
                 for i in range(50)])  # fmt: skip
    assert (many.value, many.error, many.seeds) == (few.value, few.error, few.seeds)
    assert (few.episodes, many.episodes) == (2, 100)


def test_one_seed_has_no_error() -> None:
    found = mean([score(1, 1, "a-1"), score(2, 1, "a-2")])
    assert (found.value, found.error, found.half_width, found.episodes) == (1.5, None, None, 1)


def test_a_standing_tells_seats_and_markets_apart() -> None:
    found = standing([score(1, 1, "a-1", "x"), score(3, 1, "a-2", "x"), score(8, 2, "a-1", "y")])
    assert found["score"] == 5
    assert found["metrics"] == {"profit": 4}
    assert (found["episodes"], found["seeds"]) == (2, 2)
    assert found["seats"]["a-1"]["score"] == 4.5
    assert found["seats"]["a-2"]["score_error"] is None
    assert {name: each["score"] for name, each in found["markets"].items()} == {"x": 2, "y": 8}
    assert "markets" not in standing([score(1, 1)])


def test_what_is_undefined_is_left_out_of_an_average() -> None:
    assert average([1, None, 3]) == 2
    assert average([None]) is None
