from __future__ import annotations

import pytest

from market.study.report.drawing import Spec, Style
from market.study.report.slogans import Point, Words
from market.study.report.study_figures import looks
from market.study.report.word_figures import drift, word_map
from market.study.statistics.estimates import Estimate

ARROWS = {"Thrifty": (0.1, 0.2), "Hype": (0.3, -0.1)}


def said(name: str, slogan: str, x: float = 0.0, y: float = 0.0, times: int = 3) -> Point:
    return Point(name, slogan, (1, 3), times, x, y)


def drawn(*points: Point, style: dict[str, Style] | None = None) -> Spec:
    made = word_map(Words(points=points, arrows=ARROWS), style or looks(["a", "b", "c"]))
    assert made is not None
    return made


def heard(made: Spec) -> list[str]:
    return [text for trace in made["data"] for text in trace["hovertext"]]


def test_a_place_that_several_share_is_one_point_whose_label_names_all() -> None:
    made = drawn(*(said(name, "Welcome") for name in "abc"), said("a", "Cheap", x=0.5))
    assert sum(len(trace["x"]) for trace in made["data"]) == 2
    assert heard(made) == [
        "a, steps 1 to 3, 3×<br>“Cheap”",
        "a, b, c, steps 1 to 3, 3× each<br>“Welcome”",
    ]


def test_a_shared_place_has_the_colour_of_nobody_and_says_how_many_share_it() -> None:
    made = drawn(said("a", "Welcome"), said("b", "Welcome"), said("c", "Cheap", x=0.5))
    own, several = made["data"]
    assert own["marker"]["color"] == looks(["a", "b", "c"])["c"].variable
    assert several["marker"]["color"] == "var(--ink)"
    assert (own["text"], several["text"]) == ([""], ["2"])
    texts = [entry["text"] for entry in made["legend"]]
    assert texts == ["c", "several in one place, with their number"]


def test_different_words_at_one_place_are_all_told() -> None:
    made = drawn(said("a", "Cheap"), said("b", "CHEAP", times=1))
    (text,) = heard(made)
    assert text == "a, steps 1 to 3, 3×<br>“Cheap”<br>b, steps 1 to 3, 1×<br>“CHEAP”"


def test_those_without_a_colour_are_one_entry_of_the_legend() -> None:
    style = {"a": Style("c1"), "b": Style(), "c": Style()}
    points = [said(name, name, x=at / 10) for at, name in enumerate("abc")]
    legend = drawn(*points, style=style)["legend"]
    assert [(entry["text"], entry["colour"]) for entry in legend] == [
        ("a", "c1"),
        ("everybody else", ""),
    ]


def test_a_distance_has_no_band_below_zero() -> None:
    wide = [Estimate(0.1, -0.2, 0.4, 3, "t"), Estimate(0.2, -0.1, 0.5, 3, "t")]
    (panel,) = drift(Words(drift={"a": wide}), looks(["a"]))
    assert min(panel["data"][0]["y"]) == 0
    assert panel["note"].endswith("; intervals are cut at 0")


@pytest.mark.parametrize("hostile", ["<b>x</b>", "</script>"])
def test_names_and_words_are_escaped_in_labels(hostile: str) -> None:
    made = drawn(said(hostile, hostile), said("b", hostile))
    assert "<b>" not in heard(made)[0].replace("<br>", "")
    assert hostile not in heard(made)[0]
