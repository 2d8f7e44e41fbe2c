"""Shows an episode while it is played: a live table on a terminal, plain lines elsewhere."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, TextIO

from rich.box import SIMPLE_HEAD
from rich.columns import Columns
from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.table import Table
from rich.text import Text

from actors.progress.watch import NOTHING, Plan, Progress, Watcher, Work

#: Columns by which seats are ranked; the first that an environment has counts.
RANKING = ("profit", "score")

#: Columns of text that a metric of the leaderboard takes, and all before the metrics.
METRIC_WIDTH, NAMES_WIDTH = 14, 52

#: Indices shown at the end; the rest is in the summary.
INDICES = 9

#: Width where no terminal says one.
PLAIN_WIDTH = 120


@contextmanager
def watcher(
    stream: TextIO | None = None,
    before: Work = NOTHING,
) -> Iterator[Watcher]:
    """The watcher that suits the stream (the standard output), until the block ends.

    Args:
        stream: The stream.
        before: What earlier runs did of the episode.
    """
    console = Console(file=stream or sys.stdout, highlight=False)
    if not console.is_terminal:
        console.width = PLAIN_WIDTH
        yield PlainWatcher(console, before)
        return
    with Live(console=console, refresh_per_second=4) as live:
        yield LiveWatcher(live, before)


class PlainWatcher:
    """One line per step, then the results."""

    def __init__(self, console: Console, before: Work = NOTHING) -> None:
        self._console = console
        self._before = before
        self._last: Progress | None = None

    def started(self, plan: Plan) -> None:
        """Say what is played."""
        parts = [plan.environment, f"{len(plan.seats)} retailers"]
        if plan.steps:
            parts.append(f"{plan.steps} steps")
        _line(self._console, f"{plan.name}: {', '.join(parts)}")

    def progressed(self, progress: Progress) -> None:
        """Say how a step ended, once the next one is asked."""
        if self._last is not None and progress.step > self._last.step:
            self._say(self._last.step, progress)
        self._last = progress

    def finished(self, summary: Mapping[str, Any]) -> None:
        """Say how the last step and the episode ended."""
        if self._last is not None:
            self._say(self._last.step, self._last)
        self._console.print(results(summary, self._console.width))

    def _say(self, step: int, progress: Progress) -> None:
        parts = [_step(step, progress.steps), *_spent_so_far(progress, self._before)]
        for seat in ranked(progress.standings)[:1]:
            row = progress.standings[seat]
            figures = ", ".join(f"{name} {value:,}" for name, value in row.items())
            parts.append(f"first {seat} ({figures})")
        _line(self._console, ", ".join(parts))


class LiveWatcher:
    """A table of retailers that follows the episode, then the results."""

    def __init__(self, live: Live, before: Work = NOTHING) -> None:
        self._live = live
        self._before = before
        self._plan: Plan | None = None

    def started(self, plan: Plan) -> None:
        """Show the roster."""
        self._plan = plan
        self._live.update(Text(f"{plan.name}: starting {len(plan.seats)} retailers"))

    def progressed(self, progress: Progress) -> None:
        """Show the standings."""
        if self._plan is not None:
            self._live.update(standings(self._plan, progress, self._before))

    def finished(self, summary: Mapping[str, Any]) -> None:
        """Show the results in place of the table; they may be higher than the terminal."""
        self._live.update(Text(""), refresh=True)
        self._live.console.print(results(summary, self._live.console.width))


def standings(plan: Plan, progress: Progress, before: Work = NOTHING) -> Group:
    """A table of the seats, best first, under one line on the episode."""
    columns = list(dict.fromkeys(key for row in progress.standings.values() for key in row))
    table = Table("retailer", "policy", box=SIMPLE_HEAD)
    for column in columns:
        table.add_column(Text(_words(column)), justify="right")
    played = {seat: (policy, model) for seat, policy, model in plan.seats}
    for seat in ranked(progress.standings):
        policy, model = played.get(seat, ("", None))
        row = progress.standings[seat]
        table.add_row(
            Text(seat),
            _player(policy, model),
            *(Text(f"{row[column]:,}" if column in row else "") for column in columns),
        )
    state = [_step(progress.step, progress.steps), progress.phase, *_spent_so_far(progress, before)]
    return Group(Text(f"{plan.name}: {', '.join(part for part in state if part)}"), table)


def results(summary: Mapping[str, Any], width: int = PLAIN_WIDTH) -> Group:
    """The leaderboard and the market's indices, from what `summary.json` holds.

    Args:
        summary: The summary.
        width: Columns of text; as many metrics are shown as there is room for.
    """
    table = _means(summary) if "states" in summary else _leaderboard(summary, width)
    indices = [
        Text(f"{_words(name)} {_figure(value)}")
        for name, value in summary["indices"].items()
        if value is None or isinstance(value, int | float)
    ][:INDICES]
    parts: list[RenderableType] = [table]
    if "states" in summary:
        parts.append(Text(_company(summary)))
    if indices:
        parts += [Text("Market", style="italic"), Columns(indices, width=width // 3 - 2)]
    cached = summary.get("calls_cached", 0)
    if summary["calls"] or cached:
        read, written = summary["tokens"]["prompt"], summary["tokens"]["completion"]
        tokens = None if read is None or written is None else read + written
        spent = _spent(summary["calls"], tokens, summary["cost_usd"])
        parts.append(Text(f"Spent: {spent}{f', {cached:,} answers from the cache' * bool(cached)}"))
    return Group(*parts)


def _leaderboard(summary: Mapping[str, Any], width: int) -> Table:
    """The seats of one episode, best first."""
    retailers = sorted(summary["retailers"], key=lambda row: -row["score"])
    named = dict.fromkeys(name for row in retailers for name in row["metrics"])
    # A metric that is the score by another name tells nothing.
    metrics = [m for m in named if any(row["metrics"].get(m) != row["score"] for row in retailers)]
    metrics = metrics[: max(0, (width - NAMES_WIDTH) // METRIC_WIDTH)]
    table = Table(title="Leaderboard", title_justify="left", box=SIMPLE_HEAD)
    table.add_column("", justify="right", no_wrap=True)
    table.add_column("retailer", no_wrap=True)
    table.add_column("policy", max_width=24)
    for column in ("score", *metrics):
        table.add_column(Text(_words(column)), justify="right", max_width=METRIC_WIDTH - 2)
    for place, row in enumerate(retailers, start=1):
        table.add_row(
            str(place),
            Text(row["seat"]),
            _player(row["policy"], row["model"]),
            Text(_figure(row["score"])),
            *(Text(_figure(row["metrics"].get(name))) for name in metrics),
        )
    return table


def _means(summary: Mapping[str, Any]) -> Table:
    """The retailers of a tournament by their mean scores, best first."""
    table = Table(title="Leaderboard", title_justify="left", box=SIMPLE_HEAD)
    table.add_column("", justify="right", no_wrap=True)
    table.add_column("retailer", no_wrap=True)
    table.add_column("policy", max_width=24)
    for column in ("mean score", "95% interval", "seeds", "episodes"):
        table.add_column(column, justify="right", no_wrap=True)
    for place, row in enumerate(summary["retailers"], start=1):
        half = row["score_half_width"]
        low_high = (
            "-" if half is None else f"{row['score'] - half:,.0f} to {row['score'] + half:,.0f}"
        )
        table.add_row(
            str(place),
            Text(row["name"]),
            _player(row["policy"], row["model"]),
            Text(f"{row['score']:,.0f}"),
            Text(low_high),
            str(row["seeds"]),
            str(row["episodes"]),
        )
    return table


def _company(summary: Mapping[str, Any]) -> str:
    """What a leaderboard of means says, and what it does not."""
    unfinished = [
        f"{count} {state}"
        for state, count in summary["states"].items()
        if count and state != "finished"
    ]
    told = [f"{', '.join(unfinished)}: means are of the others."] if unfinished else []
    if len(summary["rosters"]) == 1:
        told.append(
            "All episodes had the same roster, so a rank holds in this company only; rosters that "
            "differ (leave-one-out, subsets, self-play) tell more."
        )
    else:
        told.append(
            f"Means are over {len(summary['rosters'])} rosters, and not every retailer is in each; "
            "compare within a roster on equal seeds."
        )
    markets = {name for row in summary["retailers"] for name in row.get("markets", ())}
    if len(markets) > 1:
        told.append(f"They are also over {len(markets)} markets, which the summary tells apart.")
    return " ".join(told)


def ranked(rows: Mapping[str, Mapping[str, int]]) -> Sequence[str]:
    """Seats, best first; in their own order where nothing ranks them."""
    column = next((name for name in RANKING if any(name in row for row in rows.values())), None)
    if column is None:
        return list(rows)
    return sorted(rows, key=lambda seat: -rows[seat].get(column, 0))


def _step(step: int, steps: int) -> str:
    return f"step {step}/{steps}" if steps else f"step {step}"


def _spent_so_far(progress: Progress, before: Work) -> list[str]:
    parts = [f"{progress.seconds:.1f} s"]
    if progress.calls:
        parts.append(_spent(progress.calls, progress.tokens, progress.cost_usd))
        if progress.share is not None:
            now = Work(progress.share, progress.calls, progress.tokens, progress.cost_usd)
            parts += forecast(now, before)
    return parts


def forecast(now: Work, before: Work = NOTHING, whole: float = 1.0) -> list[str]:
    """What all will have taken in the end, at the pace of this run; nothing where that is unknown.

    Args:
        now: What is done, and what it took, earlier runs included.
        before: The part of it that earlier runs did.
        whole: All there is to do.
    """
    done, left = now.share - before.share, whole - now.share
    if done <= 0 or left <= 0:
        return []
    if now.cost_usd is None or before.cost_usd is None:
        return [f"{now.tokens + (now.tokens - before.tokens) * left / done:,.0f} tokens in the end"]
    cost = now.cost_usd + (now.cost_usd - before.cost_usd) * left / done
    return [f"${cost:,.4f} in the end"] if cost else []


def _spent(calls: int, tokens: int | None, cost_usd: float | None) -> str:
    known = "tokens unknown" if tokens is None else f"{tokens:,} tokens"
    cost = "cost unknown" if cost_usd is None else f"${cost_usd:,.4f}"
    return f"{calls:,} model calls, {known}, {cost}"


def _player(policy: str, model: str | None) -> Text:
    return Text(f"{policy} ({model})" if model else policy)


def _words(name: str) -> str:
    return name.replace("_", " ")


def _figure(value: float | None) -> str:
    if value is None:
        return "-"
    if isinstance(value, int):
        return f"{value:,}"
    return f"{value:,.3f}" if abs(value) < 1_000 else f"{value:,.2f}"


def _line(console: Console, text: str) -> None:
    console.print(Text(text), soft_wrap=True)
