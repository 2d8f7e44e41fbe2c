from __future__ import annotations

import pandas as pd
import pytest

from market.study.report.slogans import words

#: Per (seat, step) what is said and how near it is to two personas.
SAID = {
    ("a", 1): ("cheap", 0.8, 0.0),
    ("a", 2): ("fair", 0.2, 0.8),
    ("b", 1): ("new", 0.2, 0.0),
    ("b", 2): ("new", 0.2, 0.0),
}


def frames(said=SAID, seeds=(1,)):
    keys = [
        {"episode": f"e{seed}", "seed": seed, "step": step, "turn": 1, "seat": seat}
        for seed in seeds
        for seat, step in said
    ]
    slogans = [{**key, "slogan": said[key["seat"], key["step"]][0]} for key in keys]
    similarities = [
        {**key, "persona": persona, "similarity": round(1e6 * said[key["seat"], key["step"]][at])}
        for key in keys
        for at, persona in ((1, "Thrifty"), (2, "Ethical"))
    ]
    names = [
        {"episode": f"e{seed}", "seat": seat, "retailer": f"shop {seat}"}
        for seed in seeds
        for seat in ("a", "b")
    ]
    return pd.DataFrame(slogans), pd.DataFrame(similarities), pd.DataFrame(names)


def test_words_are_as_far_apart_on_the_map_as_their_similarities_are() -> None:
    found = words(*frames())
    places = {point.slogan: (point.x, point.y) for point in found.points}
    assert found.undefined is None
    assert sum(found.explained) == pytest.approx(1)

    def apart(first: str, second: str) -> float:
        (a, b), (c, d) = places[first], places[second]
        return ((a - c) ** 2 + (b - d) ** 2) ** 0.5

    assert apart("cheap", "new") == pytest.approx(0.6)
    assert apart("fair", "new") == pytest.approx(0.8)
    assert apart("cheap", "fair") == pytest.approx(1.0)


def test_an_arrow_points_to_the_words_that_a_persona_likes() -> None:
    found = words(*frames())
    places = {point.slogan: (point.x, point.y) for point in found.points}
    assert found.arrows is not None
    for persona, liked in (("Thrifty", "cheap"), ("Ethical", "fair")):
        x, y = found.arrows[persona]
        along = {slogan: a * x + b * y for slogan, (a, b) in places.items()}
        assert max(along, key=along.__getitem__) == liked


def test_equal_words_of_a_retailer_are_one_point() -> None:
    (new,) = [point for point in words(*frames(seeds=(1, 2))).points if point.slogan == "new"]
    assert (new.name, new.times, new.steps) == ("shop b", 4, (1, 2))


def test_drift_is_the_distance_from_ones_own_first_words() -> None:
    found = words(*frames(seeds=(1, 2)))
    assert found.drift is not None
    assert [each.value for each in found.drift["shop a"]] == [0, pytest.approx(1.0)]
    assert [each.value for each in found.drift["shop b"]] == [0, 0]
    assert found.drift["shop a"][1].blocks == 2


def test_spread_is_the_mean_distance_from_the_centre_of_a_step() -> None:
    first, second = words(*frames()).spread
    assert first.value == pytest.approx(0.3)
    assert second.value == pytest.approx(0.4)
    assert first.undefined == "one block does not vary"


def test_too_few_words_have_no_map_and_say_why() -> None:
    same = dict.fromkeys(SAID, SAID["b", 1])
    found = words(*frames(same))
    assert (found.points, found.arrows) == ((), None)
    assert (
        found.undefined == "a map takes two personas and three slogans that they like differently"
    )
    silent = {key: ("", near, far) for key, (_, near, far) in SAID.items()}
    assert words(*frames(silent)).undefined == "nobody said anything"
