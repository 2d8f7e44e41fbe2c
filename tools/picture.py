"""Draw the end of a run as a terminal shows it: `python tools/picture.py RUN PICTURE.svg`."""

from __future__ import annotations

import io
import json
import re
import sys
from pathlib import Path

from rich.console import Console

from actors.progress.live import results

WIDTH = 118


def picture(run: Path) -> str:
    """The leaderboard and the indices of a run as SVG, which loads nothing from anywhere."""
    summary = json.loads((run / "summary.json").read_text(encoding="utf-8"))
    console = Console(record=True, width=WIDTH, file=io.StringIO(), force_terminal=True)
    console.print(results(summary, WIDTH))
    svg = console.export_svg(title=f"market run arena/{summary['name']}")
    return re.sub(r"@font-face \{.*?\}\s*", "", svg, flags=re.DOTALL)


if __name__ == "__main__":
    Path(sys.argv[2]).write_text(picture(Path(sys.argv[1])), encoding="utf-8")
