"""Typed distributions have the moments they state, and refuse what is no distribution."""

from __future__ import annotations

import numpy as np
import pytest
from pydantic import TypeAdapter, ValidationError

from market.rng import generator
from market.vending.distributions import (
    Categorical,
    Constant,
    Distribution,
    Gamma,
    LogNormal,
    Uniform,
    Zipf,
)

N = 20_000


@pytest.mark.parametrize(
    ("distribution", "mean", "variance"),
    [
        (Constant(value=3), 3, 0),
        (Uniform(low=1, high=4), 2.5, 9 / 12),
        (Gamma(mean=5, variance=2), 5, 2),
        (LogNormal(mean=2, sigma=0.5), 2, 4 * (np.exp(0.25) - 1)),
        (Categorical(values=(3, 4, 5), probabilities=(0.85, 0.12, 0.03)), 3.18, 0.2076),
    ],
)
def test_draws_have_the_stated_mean_and_variance(
    distribution: Distribution, mean: float, variance: float
) -> None:
    drawn = distribution.draw(generator(0, "test"), N)
    assert drawn.mean() == pytest.approx(mean, abs=5 * (variance / N) ** 0.5 + 1e-9)
    assert drawn.var() == pytest.approx(variance, rel=0.06, abs=1e-9)


def test_zipf_gives_each_rank_once_with_mean_one() -> None:
    drawn = np.sort(Zipf(exponent=1).draw(generator(0, "test"), 4))[::-1]
    # 1, 1/2, 1/3, 1/4 add up to 25/12.
    assert drawn.tolist() == pytest.approx([1.92, 0.96, 0.64, 0.48])


def test_the_order_of_zipf_weights_is_random() -> None:
    first = Zipf(exponent=1).draw(generator(0, "test"), 50)
    second = Zipf(exponent=1).draw(generator(1, "test"), 50)
    assert sorted(first) == sorted(second)
    assert first.tolist() != second.tolist()


@pytest.mark.parametrize(
    ("uniform", "value"), [(0.0, 3), (0.849, 3), (0.851, 4), (0.98, 5), (1 - 2**-53, 5)]
)
def test_a_categorical_is_inverted_in_the_stated_order(uniform: float, value: float) -> None:
    lead = Categorical(values=(3, 4, 5), probabilities=(0.85, 0.12, 0.03))
    assert lead.at(uniform) == value


def test_everything_is_rounded_before_it_decides() -> None:
    drawn = Gamma(mean=1, variance=0.2).draw(generator(0, "test"), 100)
    assert drawn.tolist() == drawn.round(9).tolist()


@pytest.mark.parametrize(
    "spelled",
    [
        {"kind": "uniform", "low": 2, "high": 1},
        {"kind": "gamma", "mean": 0, "variance": 1},
        {"kind": "categorical", "values": [1, 2], "probabilities": [1]},
        {"kind": "categorical", "values": [1, 2], "probabilities": [0.5, 0.4]},
        {"kind": "normal", "mean": 0},
        {"kind": "constant", "value": float("nan")},
    ],
)
def test_what_is_no_distribution_is_refused(spelled: dict[str, object]) -> None:
    with pytest.raises(ValidationError):
        TypeAdapter(Distribution).validate_python(spelled)
