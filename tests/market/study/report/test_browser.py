"""Reports in a real browser: headless Chromium, no network, hostile words on every page."""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, sync_playwright

from market.study.report import write_report
from market.study.sweeps.concluding import conclude
from market.tables import write_tables
from tests.market.study.report import hostile
from tests.market.study.sweeps.swept import study, written
from tests.market.vending.recorded import record

OPEN_ALL = "document.querySelectorAll('details').forEach((each) => { each.open = true; })"
PHONE, DESK = {"width": 390, "height": 844}, {"width": 1280, "height": 900}


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_report(hostile.tournament(tmp_path_factory.mktemp("run") / "hostile"))


@pytest.fixture(scope="module")
def chromium() -> Iterator[Browser]:
    program = shutil.which("chromium")
    assert program, "these tests need Chromium; `make browser` installs it"
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=program, args=["--no-sandbox", "--disable-dev-shm-usage"]
        )
        yield browser
        browser.close()


@dataclass
class Opened:
    """A page, with what it complained of and asked for."""

    page: Page
    complaints: list[str] = field(default_factory=list)
    requests: list[str] = field(default_factory=list)


def opened(context: BrowserContext, report: Path) -> Opened:
    seen = Opened(context.new_page())
    seen.page.on("console", lambda said: seen.complaints.append(said.text))
    seen.page.on("pageerror", lambda error: seen.complaints.append(str(error)))
    seen.page.on("request", lambda request: seen.requests.append(request.url))
    seen.page.goto(report.as_uri())
    seen.page.locator("#browser").wait_for(state="visible")
    return seen


@pytest.fixture(scope="module")
def desk(chromium: Browser, report: Path) -> Iterator[Opened]:
    context = chromium.new_context(viewport=DESK, color_scheme="light", offline=True)
    yield opened(context, report)
    context.close()


def choose(page: Page, **values: str) -> None:
    for control, value in values.items():
        page.locator(f"[data-control={control}]").select_option(value)


def test_no_hostile_word_runs_wherever_a_reader_goes(desk: Opened) -> None:
    page = desk.page
    choose(page, episode="all.seed-1.rep-1", seat="gpt", step="", show="all")
    total = int(page.locator("[data-control=place]").inner_text().split(" of ")[1])
    for _ in range(total):
        page.evaluate(OPEN_ALL)
        if page.locator("[data-control=after]").is_enabled():
            page.locator("[data-control=after]").click()
    page.evaluate(OPEN_ALL)
    for point in page.locator(".chart .points path").all()[:20]:
        point.dispatch_event("mouseover")
    assert page.evaluate("window.pwned") is None
    assert not page.locator("main img, main iframe, main a[href^=javascript], main script").count()
    assert hostile.SLOGAN in page.locator("#words").inner_text()


def test_the_page_asks_for_nothing_and_complains_of_nothing(desk: Opened) -> None:
    assert [url for url in desk.requests if not re.match("file:|blob:|data:", url)] == []
    assert len([url for url in desk.requests if url.startswith("file:")]) == 1
    assert desk.complaints == []


def test_every_figure_is_drawn(desk: Opened) -> None:
    charts = desk.page.locator("[data-figure]")
    assert charts.count() > 15
    assert desk.page.locator("[data-figure] .main-svg").count() >= charts.count()
    for name in ("mean-capital", "word-map", "mean-index-0", "frontier"):
        marks = desk.page.locator(f"[data-figure={name}] .scatterlayer path")
        assert marks.count(), name


def test_the_browser_of_decisions_shows_what_was_seen_done_said_and_refused(desk: Opened) -> None:
    page = desk.page
    choose(page, episode="all.seed-1.rep-1", seat="gpt", step="1", show="refused")
    decision = page.locator("[data-control=decision]")
    text = decision.inner_text()
    assert "gpt step 1, turn 0: bid" in text
    assert "1 refused" in text
    assert hostile.ATTACK[:40] in decision.locator("tr.refusal").first.inner_text()
    assert "unknown item" in decision.locator("tr.refusal").first.inner_text()
    assert hostile.ATTACK in decision.locator("pre.reply").first.inner_text()
    assert "$0.002" in text
    decision.locator("summary", has_text="Prompt").click()
    assert hostile.PROMPT in decision.locator(".message").first.inner_text()
    choose(page, step="3", show="silent")
    assert "no action: malformed" in decision.inner_text()
    choose(page, seat="markup-1", step="", show="silent")
    assert "No decision is like that." in decision.inner_text()


def test_one_walks_from_decision_to_decision(desk: Opened) -> None:
    page = desk.page
    choose(page, episode="all.seed-2.rep-1", seat="undercutter", step="", show="all")
    place, before = page.locator("[data-control=place]"), page.locator("[data-control=before]")
    assert place.inner_text() == "1 of 6"
    assert before.is_disabled()
    page.locator("[data-control=after]").click()
    assert place.inner_text() == "2 of 6"
    assert (
        "undercutter step 1, turn 1: sell" in page.locator("[data-control=decision]").inner_text()
    )


def test_a_click_on_a_heading_sorts(desk: Opened) -> None:
    board = desk.page.locator("#standings table").first

    def means() -> list[float]:
        cells = board.locator("tbody td:nth-child(3)").all()
        return [float(cell.get_attribute("data-value") or "nan") for cell in cells]

    heading = board.locator("th button", has_text="Mean").first
    heading.click()
    assert means() == sorted(means(), reverse=True)
    heading.click()
    assert means() == sorted(means())
    assert board.locator("th[aria-sort=ascending]").inner_text().startswith("Mean")


@pytest.mark.parametrize("size", [DESK, PHONE], ids=["desk", "phone"])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_it_fits_every_screen_in_every_theme(
    chromium: Browser, report: Path, size: dict[str, int], scheme: str
) -> None:
    context = chromium.new_context(
        viewport=size, color_scheme=scheme, offline=True, is_mobile=size is PHONE
    )
    seen = opened(context, report)
    width, inner = seen.page.evaluate("[document.documentElement.scrollWidth, innerWidth]")
    assert width <= inner == size["width"]
    paper, ink, axis = seen.page.evaluate(
        "[getComputedStyle(document.body).backgroundColor, getComputedStyle(document.body).color,"
        " getComputedStyle(document.querySelector('[data-figure=mean-capital] .xtick text')).fill]"
    )
    assert (_light(paper), _light(ink)) == ((True, False) if scheme == "light" else (False, True))
    assert _light(axis) == (scheme == "dark") or scheme == "light"
    assert seen.complaints == []
    context.close()


def test_the_page_of_a_study_fits_a_phone(chromium: Browser, tmp_path: Path) -> None:
    swept = written(
        tmp_path,
        study("study.published={profit: {value: 12.5, note: From a table of theirs.}}"),
        lambda cell, seed, seat: {"score": 10.0 * seed, "profit": 10.0 * seed},
        lambda cell, seed, seat: {"market.gini_net_worth": 0.5},
    )
    conclude(swept, tmp_path)
    context = chromium.new_context(viewport=PHONE, offline=True, is_mobile=True)
    page = context.new_page()
    page.goto((tmp_path / "report.html").as_uri())
    page.locator("[data-figure] .main-svg").first.wait_for(state="visible")
    assert page.evaluate("document.documentElement.scrollWidth") == PHONE["width"]
    context.close()


def test_lists_that_went_by_columns_are_shown_row_by_row(chromium: Browser, tmp_path: Path) -> None:
    folder = record(tmp_path / "run", days=8)
    write_tables(folder)
    context = chromium.new_context(viewport=DESK, offline=True)
    seen = opened(context, write_report(folder))
    choose(seen.page, seat="s", step="8", show="all")
    decision = seen.page.locator("[data-control=decision]")
    seen.page.evaluate(OPEN_ALL)
    report = decision.locator("dl.terms table", has_text="used_volume")
    assert report.locator("tbody tr").count() == 3
    assert "Money is in fen" in decision.inner_text()
    assert decision.locator("th[title='Units sold.']").count()
    assert seen.complaints == []
    context.close()


def _light(colour: str) -> bool:
    red, green, blue = (int(part) for part in re.findall(r"\d+", colour)[:3])
    return red + green + blue > 384
