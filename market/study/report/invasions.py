"""The matrix of one among many: what a copy of the host would gain by becoming the entrant."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from market.study.estimands.finding import Finding
from market.study.report import estimates
from market.study.report.standings import market_of


@dataclass(frozen=True, slots=True)
class Invasion:
    """A matrix of one among many: rows enter, columns host.

    Attributes:
        title: Market and size.
        hosts: Headings.
        rows: Per entrant its name and, by host, what a copy of the host would gain by becoming it:
            as text, strength from -1 to 1 and the sentence; None where it was not played.
    """

    title: str
    hosts: tuple[str, ...]
    rows: tuple[tuple[str, tuple[tuple[str, float, str] | None, ...]], ...]


def invasions(lines: Sequence[Finding]) -> Iterable[Invasion]:
    """A matrix per market and number of seats.

    Args:
        lines: Lines of the table `invasion`.
    """
    gains = [line for line in lines if line.figure == "gain"]
    for where in dict.fromkeys((market_of(line), line.about["seats"]) for line in gains):
        own = [line for line in gains if (market_of(line), line.about["seats"]) == where]
        reach = max((abs(line.estimate.value or 0) for line in own), default=0) or 1
        cells = {
            (str(line.about["entrant"]), str(line.about["host"])): _gain(line, reach)
            for line in own
        }
        entrants = list(dict.fromkeys(entrant for entrant, _ in cells))
        hosts = list(dict.fromkeys(host for _, host in cells))
        names = [*entrants, *(host for host in hosts if host not in entrants)]
        yield Invasion(
            title=", ".join(filter(None, (*where[0], f"{where[1]} seats"))),
            hosts=tuple(name for name in names if name in hosts),
            rows=tuple(
                (entrant, tuple(cells.get((entrant, host)) for host in names if host in hosts))
                for entrant in entrants
            ),
        )


def _gain(line: Finding, reach: float) -> tuple[str, float, str]:
    estimate = line.estimate
    if estimate.value is None:
        return "–", 0.0, estimate.undefined or ""
    ends = estimates.interval(estimate)
    sure = f"95% interval {ends}" if ends else str(estimate.undefined)
    mark = "*" if estimate.decided else ""
    strength = round(estimate.value / reach, 3)
    return f"{estimates.number(estimate.value)}{mark}", strength, f"{line.sentence} {sure}"
