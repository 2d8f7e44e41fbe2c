from __future__ import annotations

import json
import re
from dataclasses import replace
from importlib.resources import files
from itertools import pairwise

import plotly.graph_objects as go
import pytest

from market.study.report import figures
from market.study.report.drawing import Style, tick_format
from market.study.report.run_view import ItemView, OfferView, RetailerView, RunView
from tests.market.study.report.fabricated import MODELS, STEPS, run


def specs(view: RunView) -> list[figures.Spec]:
    capital = figures.capital(view)
    return [
        *([capital] if capital else []),
        *figures.index_panels(view),
        *figures.price_panels(view),
    ]


def test_every_figure_is_one_that_plotly_accepts():
    drawn = specs(run())
    assert len(drawn) == 1 + 9 + 8
    for spec in drawn:
        plain = json.loads(re.sub(r"var\(--[a-z0-9]+\)", "#123456", json.dumps(spec)))
        go.Figure(plain["data"], plain["layout"])


def test_every_colour_is_defined_for_both_themes():
    templates = files("market.study.report") / "templates"
    style_sheet = (templates / "report.css").read_text(encoding="utf-8")
    light, dark = style_sheet.split("prefers-color-scheme: dark", 1)
    used = set(re.findall(r"var\((--[a-z0-9]+)\)", json.dumps(specs(run()))))
    assert len(used) > 5
    for variable in used:
        assert f"{variable}:" in light
        assert f"{variable}:" in dark


def test_language_models_have_colours_of_their_own_and_scripts_have_none():
    style = figures.styles(run())
    coloured = {seat: look.colour for seat, look in style.items() if look.colour}
    assert coloured.keys() == MODELS.keys()
    assert len(set(coloured.values())) == len(MODELS)


def test_a_seat_is_coloured_like_its_retailer_and_copies_differ_in_dash_and_symbol():
    retailers = tuple(RetailerView(f"a-{i}", "p", None, -i) for i in range(3))
    view = RunView("t", "arena", 1, 1, (*retailers, RetailerView("b", "p", None, -9)))
    given = {"a": Style("c4"), "b": Style("c2", "dash", "square")}
    style = figures.like_retailers(view, dict.fromkeys(("a-0", "a-1", "a-2"), "a"), given)
    assert [look.colour for look in style.values()] == ["c4", "c4", "c4", "c2"]
    assert style["b"] == given["b"]
    assert len({(look.dash, look.symbol) for look in list(style.values())[:3]}) == 3


def test_those_who_are_not_highlighted_stay_grey():
    seats = dict.fromkeys(figures.styles(run()), "script")
    style = figures.like_retailers(run(), seats, {"script": Style("c5")})
    assert {seat for seat, look in style.items() if look.colour} == MODELS.keys()


@pytest.mark.parametrize(
    ("values", "form"), [((0.2, -0.3), "~g"), ((250, None), "~g"), ((-1_200, 3), "~s"), ((), "~g")]
)
def test_an_axis_has_short_figures_from_a_thousand_on_only(values, form):
    assert tick_format(values) == form


def test_without_language_models_the_best_are_highlighted():
    view = run()
    scripts = tuple(r for r in view.retailers if r.model is None)
    style = figures.styles(replace(view, retailers=scripts))
    best = [r.seat for r in replace(view, retailers=scripts).ranked()[: figures.BEST]]
    assert [seat for seat, look in style.items() if look.colour] == best


def test_more_models_than_colours_differ_in_dash_and_symbol():
    retailers = tuple(RetailerView(f"m{i:02}", "llm", "some/model", i) for i in range(20))
    style = figures.styles(RunView("t", "arena", 1, 1, retailers))
    looks = list(style.values())
    assert len(set(looks)) == 20


def test_capital_begins_with_the_funds_and_ends_with_net_worth():
    view = run()
    drawn = {trace["name"]: trace for trace in figures.capital(view)["data"]}
    assert drawn["gpt"]["x"] == list(range(STEPS + 1))
    assert drawn["gpt"]["y"] == [view.funds, *view.capital["gpt"]]


def test_highlighted_lines_lie_on_top():
    names = [trace["name"] for trace in figures.capital(run())["data"]]
    assert set(names[-len(MODELS) :]) == MODELS.keys()


def test_labels_at_the_end_of_lines_do_not_overlap():
    view = replace(run(), capital=dict.fromkeys(run().capital, (100.0, 100.0)) | {"gpt": (0, 9)})
    heights = sorted(note["y"] for note in figures.capital(view)["layout"]["annotations"])
    gaps = [after - before for before, after in pairwise(heights)]
    assert min(gaps) == pytest.approx(0.055 * 45_000)


def test_panels_without_data_are_left_out():
    view = replace(run(), indices={"bluff": (None,) * STEPS, "cr4_revenue": (0.3,) * STEPS})
    panels = figures.index_panels(view)
    assert [panel["title"] for panel in panels] == ["Share of the four largest"]
    assert len(panels[0]["data"]) == 1


def test_prices_are_multiples_of_base_and_hollow_where_nothing_sold():
    view = replace(
        run(),
        items=(ItemView("tea", "commodity", 50, None),),
        offers=(OfferView("tea", 1, "gpt", 75, 0), OfferView("tea", 2, "gpt", 60, 5)),
    )
    (panel,) = figures.price_panels(view)
    offers, paid = panel["data"]
    assert offers["y"] == [1.5, 1.2]
    assert offers["marker"]["symbol"] == ["circle-open", "circle"]
    assert paid["y"] == [None, 1.2]


def test_a_run_without_data_has_no_figures():
    assert specs(RunView("empty", "arena", 0, 0, ())) == []


def test_labels_hold_nothing_that_plotly_reads_as_markup():
    assert figures.label("<b>x</b> & y") == "&lt;b&gt;x&lt;/b&gt; &amp; y"
    assert len(figures.label("x" * 99, longest=10)) == 10
