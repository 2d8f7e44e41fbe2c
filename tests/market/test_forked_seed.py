from __future__ import annotations

import pickle

from market.replay import luck
from market.rng import ForkedSeed, draws, generator, key


def test_streams_of_earlier_steps_and_of_none_are_the_seeds_own() -> None:
    forked = ForkedSeed(7, 3, 99)
    assert key(forked, "ties", 2, "tea", "a") == key(7, "ties", 2, "tea", "a")
    assert key(forked, "public name", "a") == key(7, "public name", "a")
    assert draws(forked, "policy", "act", 2, 0, "a").uniform() == (
        draws(7, "policy", "act", 2, 0, "a").uniform()
    )


def test_streams_of_the_step_and_later_ones_are_the_other_seeds() -> None:
    forked = ForkedSeed(7, 3, 99)
    for step in (3, 4):
        assert key(forked, "attention", step, "a") == key(99, "attention", step, "a")
    assert (generator(forked, "item", 3).random(4) == generator(99, "item", 3).random(4)).all()


def test_a_forked_seed_is_kept_apart_from_the_bare_number() -> None:
    forked = ForkedSeed(7, 3, 99)
    assert forked != 7
    assert forked == ForkedSeed(7, 3, 99)
    assert len({7, forked, ForkedSeed(7, 4, 99), ForkedSeed(7, 3, 98)}) == 4


def test_it_travels_between_processes() -> None:
    forked = pickle.loads(pickle.dumps(ForkedSeed(7, 3, 99)))
    assert (type(forked), int(forked), forked.step, forked.later) == (ForkedSeed, 7, 3, 99)


def test_the_luck_of_a_fork_is_of_no_other_episode() -> None:
    assert luck(7, None) == 7
    forked = luck(7, {"step": 3, "seed": 7})
    assert isinstance(forked, ForkedSeed)
    assert forked.later != 7
    assert forked.later != luck(8, {"step": 3, "seed": 7}).later  # type: ignore[attr-defined]
