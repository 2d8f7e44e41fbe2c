"""From the folder of a run to its page."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from market import registry
from market.study import text
from market.study.pages import Section
from market.study.report import figures, study_figures, word_figures
from market.study.report.board import inaction_table, leaderboard, metrics, tiles
from market.study.report.decisions import Browser, Gathered, browser
from market.study.report.drawing import Style
from market.study.report.loading import load_view, usage
from market.study.report.paths import in_order, names
from market.study.report.run_view import RunView
from market.study.report.settled import Settled, settled
from market.study.report.shell import page
from market.study.report.slogans import Words, words
from market.study.report.tiles import many_tiles
from market.study.report.tournament import TournamentView, gather
from market.study.report.voices import voices

if TYPE_CHECKING:
    from market.study.estimands.findings import Findings
    from market.study.recording import Run

#: Sections of the page in their order: anchor and name.
_SECTIONS = (
    ("standings", "Leaderboard"),
    ("separability", "Told apart"),
    ("ratings", "Strengths"),
    ("effects", "Effects"),
    ("self-play", "Self-play"),
    ("invasion", "Invasion"),
    ("paths", "Capital"),
    ("indices", "Market"),
    ("bounds", "Bounds"),
    ("associations", "Correlations"),
    ("pass-through", "Pass-through"),
    ("welfare", "Welfare"),
    ("cost", "Cost"),
    ("validity", "Validity"),
    ("leaderboard", "Leaderboard"),
    ("capital", "Capital"),
    ("market", "Market"),
    ("prices", "Prices"),
    ("words", "Words and refusals"),
    ("slogans", "Map of words"),
    ("luck", "Luck and regret"),
    ("decisions", "Decisions"),
    ("record", "Record"),
)


@dataclass(frozen=True, slots=True)
class Material:
    """Everything that a page is made of.

    Attributes:
        run: One episode in detail.
        many: Estimates over many episodes; None where there is one.
        words: The map of what was said; None where nobody speaks.
        settled: Luck, regret and the value of words; None where the environment has none.
        browser: Every decision; None where none can be shown.
        own: Sections of the environment's own.
        retailers: The retailer in each seat of the episode.
        models: Retailers that language models play.
    """

    run: RunView
    many: TournamentView | None = None
    words: Words | None = None
    settled: Settled | None = None
    browser: Browser | None = None
    own: tuple[Section, ...] = ()
    retailers: Mapping[str, str] = field(default_factory=dict)
    models: tuple[str, ...] = ()


def write_report(
    run_dir: Path | str,
    counterfactuals: int = 0,
    told: Callable[[str], None] | None = None,
    gathered: Gathered | None = None,
) -> Path:
    """Write `report.html` into the folder of a run, whole or not at all, and return its path.

    Args:
        run_dir: Folder of a run whose tables are made (`market.tables.write_tables`).
        counterfactuals: Episodes to compute luck, regret and the value of words for; what was
            computed before is shown in any case.
        told: Called with the id of each episode for which they are about to be computed.
        gathered: Decisions that were gathered while the tables were made; others are played again.

    Raises:
        market.study.report.ReportError: If no report can be made of the folder.
    """
    path = Path(run_dir) / "report.html"
    part = path.with_suffix(".html.part")
    html = render(material(Path(run_dir), counterfactuals, told, gathered))
    part.write_text(html, encoding="utf-8", newline="\n")
    part.replace(path)
    return path


def material(
    folder: Path,
    counterfactuals: int = 0,
    told: Callable[[str], None] | None = None,
    gathered: Gathered | None = None,
) -> Material:
    """Gather what a page is made of; the arguments are those of `write_report`."""
    from market.study.recording import StudyError, load

    view = load_view(folder)
    try:
        run: Run = load(folder)
        finished = run.episodes[run.episodes["finished"]]
    except StudyError:
        return Material(view)  # the configuration is no longer one that this version knows
    many = gather(run, _findings(run)) if len(finished) > 1 else None
    shown = next(iter(run.seatings))
    if many is not None and (example := many.example(run)):
        shown = example
        view = load_view(folder, example)
    if many is not None:
        view = replace(view, usage=usage(_calls(run)))
    journals = [run.journal(episode) for episode in in_order(run, many.market if many else None)]
    return Material(
        run=view,
        many=many,
        words=_words(run, seats=many is None),
        settled=settled(run, journals, counterfactuals, told),
        browser=browser(journals, gathered=gathered),
        own=_own(run, shown),
        retailers=run.seatings[shown].names,
        models=_models(run),
    )


def render(made: Material) -> str:
    """The page as HTML text, encodable as UTF-8 whatever the material holds."""
    run, many = made.run, made.many
    look = _looks(made)
    seats = figures.like_retailers(run, made.retailers, look) if many else figures.styles(run)
    lines = leaderboard(run, seats)
    capital = figures.capital(run, seats)
    panels, prices = figures.index_panels(run), figures.price_panels(run, seats)
    mean_capital = study_figures.capital(many.capital, look) if many else None
    mean_panels = study_figures.index_panels(many.indices) if many else []
    frontier = study_figures.cost(many.points, look) if many else None
    word_map = word_figures.word_map(made.words, look) if made.words else None
    drifts = word_figures.drift(made.words, look) if made.words else []
    drawn = [mean_capital, *mean_panels, frontier, capital, *panels, *prices, word_map, *drifts]
    drawn += [spec for section in made.own for spec in section.figures]
    spoken = voices(run, lines)
    models = sum(retailer.model is not None for retailer in run.retailers)
    sections = {**many.others, **many.sections} if many else {}
    shown = {
        **{name: tables or (many and many.others.get(name)) for name, tables in sections.items()},
        "standings": many,
        "separability": many and many.standings and len(many.standings[0].lines) > 1,
        "invasion": many and many.invasions,
        "paths": mean_capital,
        "indices": mean_panels,
        "cost": many,
        "validity": many,
        "leaderboard": True,
        "capital": capital,
        "market": panels,
        "prices": prices,
        "words": spoken,
        "slogans": word_map or drifts,
        "luck": made.settled,
        "decisions": made.browser,
        "record": True,
    }
    own = [(section.anchor, section.title) for section in made.own]
    shown |= dict.fromkeys((anchor for anchor, _ in own), True)
    at = next(i for i, (anchor, _) in enumerate(_SECTIONS) if anchor == "decisions")
    named = [*_SECTIONS[:at], *own, *_SECTIONS[at:]]
    one = {"leaderboard": "One episode", "capital": "", "market": "", "prices": ""} if many else {}
    return page(
        "report.html.j2",
        [spec for spec in drawn if spec],
        title=many.name if many else run.title,
        run=run,
        many=many,
        detailed=", ".join(filter(None, many.market)) if many else "",
        tiles=many_tiles(run, many) if many else tiles(run, lines),
        sections=[
            (anchor, one.get(anchor, name))
            for anchor, name in named
            if shown.get(anchor) and one.get(anchor, name)
        ],
        own=made.own,
        lines=lines,
        looks=look,
        models=models,
        metrics=metrics(run),
        decimal=text.decimal,
        capital=capital,
        panels=panels,
        prices=prices,
        mean_capital=mean_capital,
        mean_panels=mean_panels,
        frontier=frontier,
        word_map=word_map,
        words_undefined=made.words.undefined if made.words else None,
        words_left=made.words.left if made.words else 0,
        drifts=drifts,
        settled=made.settled,
        browser=made.browser,
        index_rows=[
            (name, [text.decimal(value, 4, "–") for value in values])
            for name, values in run.indices.items()
        ],
        voices=spoken,
        inactions=inaction_table(run.inactions),
    )


def _findings(run: Run) -> Findings:
    """All findings; of the score where no finished episode has the outcome that was named."""
    from market.study.recording import StudyError

    try:
        return run.findings()
    except StudyError:
        return run.findings(outcome="score")


def _calls(run: Run) -> list[dict[str, Any]]:
    """The calls of all episodes, null as None."""
    frame = run.table("calls").astype(object)
    rows: list[dict[Any, Any]] = frame.where(frame.notna(), None).to_dict("records")
    return rows


def _own(run: Run, episode: str) -> tuple[Section, ...]:
    """What the environment adds to the page."""
    if not run.kind.pages:
        return ()
    return tuple(registry.load(run.kind.pages)(run, episode))


def _models(run: Run) -> tuple[str, ...]:
    found = {
        seating.names[seat]: None
        for seating in run.seatings.values()
        for seat, model in seating.models.items()
        if model is not None
    }
    return tuple(found)


def _words(run: Run, seats: bool) -> Words | None:
    """The map of what was said in finished episodes; None where the environment has no slogans.

    It is one of retailers, or of seats as the page of one episode is.
    """
    if not {"slogans", "similarities"} <= set(run.tables):
        return None
    slogans = run.table("slogans", ["episode", "seed", "step", "turn", "seat", "slogan"])
    if not (slogans["slogan"] != "").any():
        return None
    who = names(run)
    if seats:
        who = who.assign(retailer=who["seat"])
    return words(slogans, run.table("similarities"), who)


def _looks(made: Material) -> dict[str, Style]:
    """A look for each retailer: models first, then as they are ranked; of one episode, seats."""
    if made.many is None:
        return figures.styles(made.run)
    named: list[str] = []
    for board in made.many.standings:
        named += [line.name for line in board.lines]
    named += [path.name for path in made.many.capital]
    named += [name for name, *_ in made.many.points]
    if made.words:
        named += [point.name for point in made.words.points]
        named += list(made.words.drift or ())
    return study_figures.looks(list(dict.fromkeys(named)), made.models)
