"""What `market study` says: the plan beforehand, the results afterwards."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rich.box import SIMPLE_HEAD
from rich.console import Console, Group, RenderableType
from rich.table import Table
from rich.text import Text

from actors.progress.live import PLAIN_WIDTH
from market.study.sweeps.concluding import Conclusion
from market.study.sweeps.gathering import text
from market.study.sweeps.plan import Sweep, registered
from market.study.sweeps.published import spelled

#: Lines of a table; the files hold all.
MOST = 40
#: Longest setting that is shown whole, in characters.
WIDE = 28


def preview(sweep: Sweep) -> str:
    """The plan, in a few lines."""
    study = sweep.config.study
    assert study is not None
    seats = sum(unit.seats for shard in sweep.shards for unit in shard.units)
    lines = [
        f"{sweep.config.name}: {sweep.units:,} episodes of {len(sweep.cells):,} cells, "
        f"{seats / sweep.units:,.0f} retailers each, in {len(sweep.shards):,} parts.",
        f"Primary outcome: {study.primary} (with the plan SHA-256 "
        f"{registered(sweep.config).config_digest}).",
    ]
    exploratory = [outcome for outcome in study.told if outcome != study.primary]
    if exploratory:
        lines.append(f"Exploratory: {', '.join(exploratory)}.")
    lines += [f"  {cell.id}" for cell in sweep.cells[:MOST]]
    if len(sweep.cells) > MOST:
        lines.append(f"  and {len(sweep.cells) - MOST:,} more")
    return "\n".join(lines) + "\n"


def show(sweep: Sweep, conclusion: Conclusion) -> None:
    """Print the results."""
    console = Console(highlight=False)
    if not console.is_terminal:
        console.width = PLAIN_WIDTH
    console.print(results(sweep, conclusion))


def results(sweep: Sweep, conclusion: Conclusion) -> Group:
    """The primary outcome of each game, and what was published beside ours."""
    study = sweep.config.study
    assert study is not None
    settings = {cell.id: cell.settings for cell in sweep.cells}
    primary = [line for line in conclusion.told if line.outcome == study.primary]
    several = len({(line.preset, line.roster) for line in primary}) > 1
    table = Table(title=f"Primary outcome: {study.primary}", title_justify="left", box=SIMPLE_HEAD)
    for key in study.vary:
        table.add_column(Text(key.rpartition(".")[2]))
    if several:
        table.add_column("market")
        table.add_column("roster")
    for column in ("mean (95% interval)", "seeds", "difference from the first"):
        table.add_column(column, justify="right")
    for line in primary[:MOST]:
        cells = [_shown(value) for value in settings[line.cell].values()]
        cells += [line.preset, line.roster] if several else []
        difference = "" if line.difference is None else spelled(line.difference)
        row = [*cells, spelled(line.estimate), str(line.estimate.blocks), difference]
        table.add_row(*map(Text, row))
    parts: list[RenderableType] = [Text(each.sentence) for each in sweep.amendments]
    parts.append(table)
    if len(primary) > MOST:
        parts.append(Text(f"and {len(primary) - MOST:,} more in tables/cells.parquet"))
    if conclusion.summary["published"]:
        parts.append(_published(conclusion.summary))
    return Group(*parts)


def _published(summary: Mapping[str, Any]) -> Table:
    table = Table(
        title="Beside what was published (first cell)", title_justify="left", box=SIMPLE_HEAD
    )
    table.add_column("outcome")
    table.add_column("ours", justify="right")
    table.add_column("published", justify="right")
    table.add_column("difference")
    for each in summary["published"]:
        table.add_row(*(Text(each[key]) for key in ("outcome", "ours", "published", "sentence")))
    return table


def _shown(value: Any) -> str:
    told = text(value)
    if told is None:
        return "none"
    return told if len(told) <= WIDE else f"{told[: WIDE - 1]}…"
