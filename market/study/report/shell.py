"""A page between its three walls: escaped texts, inert data, a policy that names its scripts."""

from __future__ import annotations

import base64
import hashlib
import re
from collections.abc import Sequence
from functools import lru_cache
from importlib.resources import files

import jinja2
from markupsafe import Markup, escape

from market.study import text
from market.study.report.drawing import Spec


def page(template: str, drawn: Sequence[Spec], **values: object) -> str:
    """Render a page, encodable as UTF-8 whatever the values hold.

    Args:
        template: Its template, which extends `shell.html.j2`.
        drawn: The figures in it.
        values: What else the template shows.
    """
    scripts = (plotly_script(), _template_text("report.js"), _template_text("decisions.js"))
    return (
        _environment()
        .get_template(template)
        .render(
            **values,
            figures=Markup(text.script_json(drawn)),
            scripts=[Markup(script) for script in scripts],
            style=Markup(_template_text("report.css")),
            policy=content_security_policy(*scripts),
        )
    )


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
        loader=jinja2.PackageLoader("market.study.report"),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        finalize=_tidy,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {
        "block": _block,
        "coded": _coded,
        # Base64 holds nothing to clean or to escape, and there are megabytes of it.
        "inert": Markup,
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


def _coded(value: str) -> Markup:
    """A text on one line, cleaned and escaped, with what stands between backticks as code."""
    return Markup(re.sub("`([^`]+)`", r"<code>\1</code>", str(escape(text.clean(value)))))


def _template_text(name: str) -> str:
    return (files("market.study.report") / "templates" / name).read_text(encoding="utf-8")
