"""What an environment adds to the page of a run: sections of its own, as plain data.

`EnvironmentKind.pages` names a function of a `market.study.Run` and the episode that is shown in
detail, which gives them in order. Figures are specifications as `market.study.report.drawing` makes
them; texts are escaped where they are shown.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

#: A figure: its `id`, unique on the page, a `description`, plotly's `data` and `layout`, and its
#: caption: `title`, `note` and `legend` (`drawing.legend_of`).
Spec = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Section:
    """A section of the page.

    Attributes:
        anchor: Its anchor, unique on the page.
        title: Its heading.
        lead: What is seen, in a sentence or two.
        figures: Figures in order.
        heads: Heads of a table; empty for none.
        rows: Its rows, as texts; numbers come as they are to be read.
    """

    anchor: str
    title: str
    lead: str
    figures: Sequence[Spec] = ()
    heads: Sequence[str] = ()
    rows: Sequence[Sequence[str]] = ()
