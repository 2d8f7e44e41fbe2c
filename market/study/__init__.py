"""What recorded markets show: frames, estimands, counterfactuals, indices, figures, reports.

    import market.study as study

    run = study.load("runs/scripted")
    run.scores                                  # tidy frames (pandas)
    run.findings(reference="markup")            # every estimate that the design allows

Importing this imports nothing heavy: what is asked for is loaded when it is.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from market.study.estimands.findings import Findings
    from market.study.recording import Run, StudyError, load

_HOMES = {
    "Findings": "market.study.estimands.findings",
    "Run": "market.study.recording",
    "StudyError": "market.study.recording",
    "load": "market.study.recording",
}

__all__ = ["Findings", "Run", "StudyError", "load"]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module `market.study` has no `{name}`")
    return getattr(importlib.import_module(_HOMES[name]), name)
