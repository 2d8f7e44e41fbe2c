"""One self-contained page about a run, which opens without a network and runs nobody's words.

`render` is a pure function: equal views give equal bytes. Three walls stand between retailers'
words and the reader's browser: every text is cleaned and escaped on its way out (jinja2), data
for figures is JSON in which nothing can end its element, and a Content-Security-Policy allows
only the two scripts whose hashes it names and no connection at all.
"""

from __future__ import annotations

import base64
import hashlib
from functools import lru_cache
from importlib.resources import files
from pathlib import Path

import jinja2
from markupsafe import Markup, escape

from market.study import figures, text
from market.study.loading import load_view
from market.study.page import METRICS, inaction_table, leaderboard, tiles, voices
from market.study.run_view import RunView


def render(run: RunView) -> str:
    """The page as HTML text, encodable as UTF-8 whatever the view holds."""
    lines = leaderboard(run)
    capital = figures.capital(run)
    panels, prices = figures.index_panels(run), figures.price_panels(run)
    drawn = [*([capital] if capital else ()), *panels, *prices]
    plotly, script = plotly_script(), _template_text("report.js")
    template = _environment().get_template("report.html.j2")
    return template.render(
        run=run,
        tiles=tiles(run, lines),
        lines=lines,
        models=sum(retailer.model is not None for retailer in run.retailers),
        metrics=METRICS if any(retailer.metrics for retailer in run.retailers) else (),
        capital=capital,
        panels=panels,
        prices=prices,
        index_rows=[
            (name, [text.decimal(value, 4, "–") for value in values])
            for name, values in run.indices.items()
        ],
        voices=voices(run, lines),
        inactions=inaction_table(run.inactions),
        figures=Markup(text.script_json(drawn)),
        plotly=Markup(plotly),
        script=Markup(script),
        style=Markup(_template_text("report.css")),
        policy=content_security_policy(plotly, script),
    )


def write_report(run_dir: Path | str) -> Path:
    """Write `report.html` into the folder of a run, whole or not at all, and return its path.

    Raises:
        market.study.loading.ReportError: If no report can be made of the folder.
    """
    path = Path(run_dir) / "report.html"
    part = path.with_suffix(".html.part")
    part.write_text(render(load_view(run_dir)), encoding="utf-8", newline="\n")
    part.replace(path)
    return path


def content_security_policy(*scripts: str) -> str:
    """A policy that lets the given inline scripts run and forbids everything else."""
    hashes = " ".join(
        f"'sha256-{base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()}'"
        for script in scripts
    )
    return (
        f"default-src 'none'; script-src {hashes}; style-src 'unsafe-inline'; "
        "img-src data: blob:; base-uri 'none'; form-action 'none'"
    )


@lru_cache(maxsize=1)
def plotly_script() -> str:
    """The plotly.js that the plotly package brings."""
    from plotly.offline import get_plotlyjs

    source: str = get_plotlyjs()
    return source


@lru_cache(maxsize=1)
def _environment() -> jinja2.Environment:
    environment = jinja2.Environment(
        loader=jinja2.PackageLoader("market.study"),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        finalize=_tidy,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {
        "block": _block,
        "count": text.count,
        "usd": text.money_usd,
        "duration": text.duration,
    }
    return environment


def _tidy(value: object) -> object:
    """Clean every text that the template puts out, before it is escaped."""
    if isinstance(value, str) and not isinstance(value, Markup):
        return text.clean(value)
    return value


def _block(value: str) -> Markup:
    """A text of several lines, cleaned and escaped."""
    return escape(text.clean_block(value))


def _template_text(name: str) -> str:
    return (files("market.study") / "templates" / name).read_text(encoding="utf-8")
