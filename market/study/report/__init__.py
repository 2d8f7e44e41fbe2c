"""One self-contained page about what was recorded, which opens without a network.

    write_report("runs/scripted")       # runs/scripted/report.html

    loading, run_view     one episode, gathered as plain data
    tournament            many episodes: estimates, paths and words, each with its interval
    counterfactuals       luck, regret and the value of words, of some episodes
    decisions, packing    every decision: what was seen, said, refused and why
    *figures, slogans     what plotly draws
    shell, writing        the page itself, between three walls

Three walls stand between retailers' words and the reader's browser: every text is cleaned and
escaped on its way out (jinja2), data for scripts is JSON or base64 in which nothing can end its
element, and a Content-Security-Policy allows only the scripts whose hashes it names and no
connection at all.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from market.study.report.decisions import Gathered
    from market.study.report.loading import ReportError
    from market.study.report.shell import page
    from market.study.report.writing import write_report

_HOMES = {
    "Gathered": "market.study.report.decisions",
    "ReportError": "market.study.report.loading",
    "page": "market.study.report.shell",
    "write_report": "market.study.report.writing",
}

__all__ = ["Gathered", "ReportError", "page", "write_report"]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module `market.study.report` has no `{name}`")
    return getattr(importlib.import_module(_HOMES[name]), name)
