"""Streams are named, however they are opened."""

from __future__ import annotations

import numpy as np
import pytest

from market.rng import ForkedSeed, generator, key, keys, reopen

FORKED = ForkedSeed(3, 2, 99)


@pytest.mark.parametrize("seed", [0, 7, -1, 2**70, FORKED])
@pytest.mark.parametrize("step", [1, 2, 3])
def test_names_that_begin_alike_have_the_keys_of_the_whole_names(seed: int, step: int) -> None:
    of = keys(seed, "ties", step)
    assert of("item", "seat-1") == key(seed, "ties", step, "item", "seat-1")
    assert of(4) == key(seed, "ties", step, 4)
    assert of() == key(seed, "ties", step)
    assert of("it'em", "sé\x1fat") == key(seed, "ties", step, "it'em", "sé\x1fat")


def test_a_reopened_generator_draws_what_a_new_one_draws() -> None:
    stream = generator(1, "attention", 1)
    stream.random(3)
    stream.integers(2**31, size=3, dtype=np.uint32)
    for seat in ("a", "b", "a"):
        reopen(stream, key(1, "attention", 2, seat))
        fresh = generator(1, "attention", 2, seat)
        assert stream.standard_exponential(5).tobytes() == fresh.standard_exponential(5).tobytes()
        assert (
            stream.integers(9, size=3, dtype=np.uint32).tobytes()
            == fresh.integers(9, size=3, dtype=np.uint32).tobytes()
        )
