from __future__ import annotations

from market.study.estimands.finding import Finding
from market.study.report import estimates
from market.study.report.estimates import Bar, Scale
from market.study.statistics.estimates import Estimate


def line(figure: str = "mean", value: float | None = 5.0, **about: str) -> Finding:
    estimate = (
        Estimate.missing("nobody played")
        if value is None
        else Estimate(value, value - 1, value + 1, 4, "t")
    )
    return Finding("standings", figure, "score", about, estimate, "score", f"It is {value}.")


def test_a_scale_holds_every_interval_and_zero_where_that_does_not_squeeze_them() -> None:
    near = Scale.over([Estimate(5, 4, 6, 3, "t"), Estimate(9, 8, 10, 3, "t")])
    assert near == Scale(0, 10)
    assert near.bar(Estimate(5, 4, 6, 3, "t")) == Bar(50, 40, 60, 0)
    far = Scale.over([Estimate(101, 100, 102, 3, "t")])
    assert far == Scale(100, 102)
    assert far.bar(Estimate(101, 100, 102, 3, "t")) == Bar(50, 0, 100, None)
    below = Scale.over([Estimate(-5, -6, -4, 3, "t")])
    assert below == Scale(-6, -4)


def test_what_does_not_vary_is_drawn_beside_zero() -> None:
    assert Scale.over([Estimate.missing("one seed", value=3.0)]) == Scale(0, 3)
    assert Scale.over([Estimate.missing("one seed", value=0.0)]) == Scale(-1, 1)


def test_where_nothing_is_known_nothing_is_drawn() -> None:
    made = estimates.table("mean", [line(value=None, retailer="a")], {"retailer": "Retailer"})
    (row,) = made.rows
    assert (row.shown, row.value, row.interval, row.bar) == ("–", None, "", None)
    assert row.reason == "nobody played"
    assert (made.low, made.high) == ("", "")


def test_a_row_has_its_value_its_interval_and_what_they_are_of() -> None:
    made = estimates.table("mean", [line(retailer="a")], {"retailer": "Retailer"})
    (row,) = made.rows
    assert (row.about, row.shown, row.interval, row.blocks) == (("a",), "5", "4 to 6", 4)
    assert (row.decided, row.how) == (True, "95%, t")
    assert made.sentence == "It is 5.0."


def test_markets_are_named_only_where_there_are_several() -> None:
    keys = {"design": "Rosters", "retailer": "Retailer", "metric": "Metric"}
    one = [line(design="all", retailer="a"), line(design="all", retailer="b")]
    assert estimates.table("mean", one, keys).keys == ("Retailer",)
    two = [*one, line(design="latin", retailer="a", value=2.0)]
    assert estimates.table("mean", two, keys).keys == ("Rosters", "Retailer")
    assert estimates.table("mean", two, keys).sentence == ""


def test_figures_are_told_apart_and_keep_their_order() -> None:
    lines = [line("gain", retailer="a"), line("loss", retailer="a"), line("gain", retailer="b")]
    made = estimates.tables(lines, {"retailer": "Retailer"})
    assert [(each.title, len(each.rows)) for each in made] == [("gain", 2), ("loss", 1)]


def test_a_figure_has_the_decimals_that_its_size_deserves() -> None:
    assert [estimates.number(x) for x in (12345.6, 12.34, 1.5, 0.01234, -3, 0)] == [
        "12,346", "12.3", "1.500", "0.012", "−3", "0",
    ]  # fmt: skip
    assert [estimates.money(x) for x in (0, 0.00042, 0.0123, 1.5)] == [
        "$0.00", "$0.00042", "$0.0123", "$1.50",
    ]  # fmt: skip
