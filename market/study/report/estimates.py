"""Estimates as rows of the page: a figure, its interval on a shared scale, and its reasons."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from market.study import text
from market.study.estimands.finding import Finding
from market.study.statistics.estimates import Estimate

#: Where a figure stands on a scale whose width is 100.
Place = float


@dataclass(frozen=True, slots=True)
class Bar:
    """An interval on a scale from 0 to 100; `zero` is None where zero is off the scale."""

    at: Place
    low: Place
    high: Place
    zero: Place | None


@dataclass(frozen=True, slots=True)
class Row:
    """One estimate.

    Attributes:
        about: What it is about, column by column.
        shown: Its value.
        value: The same to sort by.
        interval: Its interval; empty where there is none.
        bar: Both, drawn; None where there is no value.
        blocks: Independent seeds behind it.
        decided: Whether the interval leaves zero out.
        reason: Why value or interval is undefined; empty where neither is.
        how: How the interval was made.
        sentence: What the figure means.
    """

    about: tuple[str, ...]
    shown: str
    value: float | None
    interval: str
    bar: Bar | None
    blocks: int
    decided: bool
    reason: str
    how: str
    sentence: str


@dataclass(frozen=True, slots=True)
class Table:
    """Estimates of one kind on one scale.

    Attributes:
        title: What they are.
        keys: Headings of what they are about.
        unit: Their unit.
        rows: The estimates.
        low: The lower end of the scale, as text; empty where nothing is drawn.
        high: The upper end.
    """

    title: str
    keys: tuple[str, ...]
    unit: str
    rows: tuple[Row, ...]
    low: str = ""
    high: str = ""

    @property
    def sentence(self) -> str:
        """The meaning that all rows share; empty where each has its own."""
        told = {row.sentence for row in self.rows}
        return told.pop() if len(told) == 1 else ""


@dataclass(frozen=True, slots=True)
class Scale:
    """From `low` to `high`, with room for all that is drawn on it."""

    low: float
    high: float

    @classmethod
    def over(cls, estimates: Iterable[Estimate]) -> Scale | None:
        """A scale that holds some estimates; with zero, unless that would squeeze them."""
        ends = [
            end
            for each in estimates
            for end in (each.value, each.low, each.high)
            if end is not None
        ]
        if not ends:
            return None
        low, high = min(ends), max(ends)
        width = high - low
        if (low > 0 and low < 2 * width) or not width:
            low = min(low, 0.0)
        if (high < 0 and -high < 2 * width) or not width:
            high = max(high, 0.0)
        if low == high:
            low, high = low - 1, high + 1
        return cls(low, high)

    def place(self, value: float) -> Place:
        """Where a value stands."""
        return round(100 * (value - self.low) / (self.high - self.low), 2)

    def bar(self, estimate: Estimate) -> Bar | None:
        """An estimate on the scale; None where it has no value."""
        if estimate.value is None:
            return None
        low = estimate.value if estimate.low is None else estimate.low
        high = estimate.value if estimate.high is None else estimate.high
        zero = self.place(0) if self.low <= 0 <= self.high else None
        return Bar(self.place(estimate.value), self.place(low), self.place(high), zero)


def table(title: str, findings: Sequence[Finding], keys: Mapping[str, str]) -> Table:
    """Lines of one figure as a table.

    Args:
        title: What they are.
        findings: The lines.
        keys: What of `about` is shown, with its heading; those that no line has are left out, and
            markets and designs where there is one only.
    """
    shown = {key: head for key, head in keys.items() if _tells(key, findings)}
    scale = Scale.over(each.estimate for each in findings)
    unit = findings[0].unit if findings else ""
    spelled = figure_of(unit)
    return Table(
        title=title,
        keys=tuple(shown.values()),
        unit=unit,
        rows=tuple(_row(each, tuple(shown), scale, spelled) for each in findings),
        low="" if scale is None else spelled(scale.low),
        high="" if scale is None else spelled(scale.high),
    )


def tables(findings: Sequence[Finding], keys: Mapping[str, str]) -> list[Table]:
    """One table per figure, in the order of their first lines.

    Args:
        findings: Lines of any figures.
        keys: As in `table`.
    """
    by_figure: dict[str, list[Finding]] = {}
    for each in findings:
        by_figure.setdefault(each.figure, []).append(each)
    return [table(name, own, keys) for name, own in by_figure.items()]


def figure_of(unit: str) -> Callable[[float], str]:
    """How figures of a unit are spelled."""
    return money if unit == "USD" else number


def number(value: float) -> str:
    """A figure with as many decimals as its size deserves."""
    size = abs(value)
    if size >= 100:
        return text.count(value)
    return text.decimal(value, 0 if value == int(value) else 1 if size >= 10 else 3)


def money(value: float) -> str:
    """A cost in dollars, small ones with the digits that they have."""
    return f"${value:,.4g}" if 0 < abs(value) < 0.1 else text.money_usd(value)


def interval(estimate: Estimate, spelled: Callable[[float], str] = number) -> str:
    """An interval; empty where there is none."""
    if estimate.low is None or estimate.high is None:
        return ""
    return f"{spelled(estimate.low)} to {spelled(estimate.high)}"


def _tells(key: str, findings: Sequence[Finding]) -> bool:
    values = {each.about[key] for each in findings if key in each.about}
    return len(values) > (1 if key in ("preset", "design") else 0)


def _row(
    finding: Finding, keys: Sequence[str], scale: Scale | None, spelled: Callable[[float], str]
) -> Row:
    estimate = finding.estimate
    return Row(
        about=tuple(str(finding.about.get(key, "")) for key in keys),
        shown="–" if estimate.value is None else spelled(estimate.value),
        value=estimate.value,
        interval=interval(estimate, spelled),
        bar=None if scale is None else scale.bar(estimate),
        blocks=estimate.blocks,
        decided=estimate.decided,
        reason=estimate.undefined or "",
        how="" if estimate.low is None else f"{estimate.level:.0%}, {estimate.method}",
        sentence=finding.sentence,
    )
