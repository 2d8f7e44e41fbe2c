from __future__ import annotations

from market.study.report.bands import cut_note, path_of, within
from market.study.report.paths import Path
from market.study.statistics.estimates import Estimate

PATH = Path("share", (0.1, 0.9, None), (-0.1, 0.7, None), (0.3, 1.1, None))


def test_an_interval_is_cut_where_its_figure_ends_and_the_mean_stays() -> None:
    path, cut = within(PATH, (0.0, 1.0))
    assert path == Path("share", (0.1, 0.9, None), (0.0, 0.7, None), (0.3, 1.0, None))
    assert cut == {0.0, 1.0}


def test_a_figure_without_an_end_keeps_its_interval() -> None:
    assert within(PATH, (None, None)) == (PATH, set())
    path, cut = within(PATH, (0.0, None))
    assert (path.high, cut) == (PATH.high, {0.0})


def test_the_note_names_the_ends_that_were_cut_and_no_others() -> None:
    assert cut_note({1.0, 0.0}) == "; intervals are cut at 0 and 1"
    assert cut_note([1.0]) == "; intervals are cut at 1"
    assert cut_note(()) == ""


def test_estimates_are_a_path_in_their_order() -> None:
    each = [Estimate(5, 4, 6, 3, "t"), Estimate.missing("one seed", value=2.0)]
    assert path_of("a", each) == Path("a", (5, 2), (4, None), (6, None))
