from __future__ import annotations

import base64
import hashlib
import json
from dataclasses import replace
from html.parser import HTMLParser

import pytest

from market.study.report.board import leaderboard, metrics
from market.study.report.run_view import (
    InactionView,
    ItemView,
    OfferView,
    RefusalView,
    RetailerView,
    RunView,
    SloganView,
    UsageView,
)
from market.study.report.writing import Material
from market.study.report.writing import render as render_material
from tests.market.study.report.fabricated import run

HOSTILE = [
    "</script><script>pwned()</script>",
    "<img src=x onerror=pwned()>",
    '" onmouseover="pwned()" x="',
    "' onfocus='pwned()' autofocus='",
    "{{ 7 * 7 }}{% raw %}",
    "<!--<script>",
    "]]>\u2028\u2029\x00\x1b[31m",
    "\ud800\udc00\udfff",
    "\u202egnp.exe",
    "javascript:pwned()",
    "%{x}<extra></extra>$$x$$",
]


class Page(HTMLParser):
    """What a browser would make of a page: its elements, and the text of its scripts."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.scripts: list[str] = []
        self.text: list[str] = []
        self._open: list[str] = []
        self.feed(page)
        self.close()

    def handle_starttag(self, tag, attrs):
        self.elements.append((tag, dict(attrs)))
        self._open.append(tag)
        if tag == "script":
            self.scripts.append("")

    def handle_endtag(self, tag):
        while self._open and self._open.pop() != tag:
            pass

    def handle_data(self, data):
        if self._open and self._open[-1] == "script":
            self.scripts[-1] += data
        elif not (self._open and self._open[-1] == "style"):
            self.text.append(data)

    @property
    def words(self) -> str:
        return " ".join(" ".join(self.text).split())


def render(view: RunView) -> str:
    return render_material(Material(view))


def hostile(text: str) -> RunView:
    return RunView(
        title=text,
        environment=text,
        seed=1,
        steps=1,
        episode=text,
        retailers=(
            RetailerView(
                text, text, text, 5, {"profit": 5, "fill_rate": None}, {"fill_rate": text}
            ),
            RetailerView("script", "markup", None, 1, {"profit": 1}),
        ),
        settings=((text, text),),
        config=text,
        funds=10,
        capital={text: (15,), "script": (11,)},
        indices={"gini_net_worth": (0.1,), text: (0.2,)},
        items=(ItemView(text, text, 10, 30),),
        offers=(OfferView(text, 1, text, 12, 3), OfferView(text, 1, "script", 13, 0)),
        slogans=(SloganView(text, 1, text, 4, 0.2),),
        refusals=(RefusalView(text, 1, text, text, text, text),),
        inactions=(InactionView(text, 1, text, text),),
        usage=(UsageView(text, 1, None, None, None),),
        wall_seconds=1.0,
        journal_digest=text,
        versions=((text, text),),
    )


@pytest.fixture(scope="module")
def page() -> Page:
    return Page(render(run()))


@pytest.mark.parametrize("text", [*HOSTILE, "".join(HOSTILE)])
def test_no_words_of_a_retailer_become_markup_or_script(text):
    html = render(hostile(text))
    html.encode()
    plain, attacked = Page(render(hostile("harmless"))), Page(html)
    shapes = [[(tag, sorted(attrs)) for tag, attrs in p.elements] for p in (plain, attacked)]
    assert shapes[0] == shapes[1]
    assert plain.scripts[1:] == attacked.scripts[1:]
    json.loads(attacked.scripts[0])
    assert "\u2028" not in html
    assert "\u202e" not in html


def test_hostile_words_are_still_shown_as_they_are():
    html = render(hostile("<img src=x onerror=pwned()>"))
    assert "<img src=x onerror=pwned()>" in Page(html).words


def test_the_page_asks_nothing_of_a_network(page):
    for tag, attributes in page.elements:
        assert tag not in {"link", "iframe", "img", "object", "embed", "base", "form"}
        assert "src" not in attributes
        assert attributes.get("href", "#").startswith("#")
        assert not any(name.startswith("on") for name in attributes)


def test_the_policy_allows_its_scripts_and_nothing_else(page):
    (policy,) = [
        attributes["content"]
        for tag, attributes in page.elements
        if attributes.get("http-equiv") == "Content-Security-Policy"
    ]
    data, *scripts = page.scripts
    hashes = [
        f"'sha256-{base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()}'"
        for script in scripts
    ]
    assert len(hashes) == 3
    assert f"script-src {' '.join(hashes)};" in policy
    assert policy.startswith("default-src 'none';")
    assert "http" not in policy
    json.loads(data)


def test_plotly_is_inlined_once():
    assert render(run()).count("plotly.js v") == 1


def test_every_figure_has_its_place(page):
    specs = {spec["id"] for spec in json.loads(page.scripts[0])}
    places = {attributes.get("data-figure") for _, attributes in page.elements} - {None}
    assert specs == places


def test_equal_runs_have_equal_pages():
    assert render(run()) == render(run())


def test_the_leaderboard_goes_from_best_to_worst_and_equal_scores_share_a_rank():
    scores = {"a": 5, "b": -3, "c": 5, "d": None, "e": 0}
    retailers = tuple(RetailerView(seat, "p", None, score) for seat, score in scores.items())
    lines = leaderboard(RunView("t", "arena", 1, 1, retailers))
    assert [(line.rank, line.retailer.seat) for line in lines] == [
        (1, "a"),
        (1, "c"),
        (3, "e"),
        (4, "b"),
        (5, "d"),
    ]
    assert [line.start for line in lines] == [37.5, 37.5, 37.5, 0, 37.5]
    assert [line.width for line in lines] == [62.5, 62.5, 0, 37.5, 0]


def test_an_undefined_metric_shows_a_dash_and_its_reason(page):
    titles = [attributes.get("title") for tag, attributes in page.elements if tag == "td"]
    assert titles.count("no attempts") == 1


def test_an_unknown_cost_is_never_a_number(page):
    assert "Cost unknown $0.25 for 3 of 4 models" in page.words


def test_repeated_refusals_are_counted_and_no_actions_have_their_cause(page):
    assert "bid item1, 2,000 at 5: below base (×2)" in page.words
    assert "no answer to sell: malformed" in page.words
    assert "2 malformed, 1 truncated, 1 late" in page.words


def test_a_slogan_said_again_and_again_is_shown_once_per_stretch():
    view = replace(
        run(),
        slogans=tuple(SloganView("gpt", step, "As ever", 10 + step, 0.25) for step in (1, 2, 3)),
        refusals=(),
        inactions=(),
    )
    assert "1–3 “As ever” 11 to 13 0.25" in Page(render(view)).words.replace("As ever", "“As ever”")


def test_a_run_of_which_almost_nothing_is_known_has_a_page_too():
    view = RunView("bare", "other", 0, 0, (RetailerView("a", "idle", None, None),))
    words = Page(render(view)).words
    assert "bare" in words
    assert "unknown" in words
    assert "No model was called." in words


def test_another_environment_has_the_metrics_that_it_wants_first_and_not_its_score_twice():
    made = {"net_assets": 5.0, "odd": 1.0, "waste_rate": None, "asset_growth": 2.0}
    retailer = RetailerView("a", "idle", None, 5.0, made, {"waste_rate": "nothing received"})
    view = replace(run(), environment="vending", retailers=(retailer,))
    headings = [heading for _, heading, *_ in metrics(view)]
    assert headings == ["Asset growth", "Waste rate", "Odd"]
    (line,) = leaderboard(view)
    assert [cell.shown for cell in line.cells] == ["2.000", "–", "1.000"]
    assert metrics(replace(view, environment="no such")) != ()
