"""Tables of estimates by the section of the page that they belong to.

What a market does hangs on who is there, so most figures are told per market and design. A page
shows those of one market and design in full, and has the others behind a fold.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from market.study.estimands.finding import Finding
from market.study.estimands.findings import Findings
from market.study.report import estimates
from market.study.report.estimates import Table
from market.study.report.standings import Market, market_of

_WHERE = {"preset": "Market", "design": "Rosters"}
_WHO = {**_WHERE, "retailer": "Retailer"}
_EFFECT = {**_WHO, "reference": "instead of"}
#: The retailer of lines about all of them.
_ALL = "*"
#: The figure of each retailer in the table `bounds`; its other figures are markets.
_SHARE = "share of bound minus floor"

#: Makes tables of lines.
Make = Callable[[Sequence[Finding]], list[Table]]


def sections(found: Findings, market: Market) -> dict[str, list[Table]]:
    """The tables of each section.

    Args:
        found: All lines.
        market: Whose lines are shown where a section is told per design.
    """
    effects = [*found.of("replacement"), *found.of("externality")]
    whole = {
        "effects": _plain(effects, _EFFECT),
        "self-play": _plain(found.of("self-play"), {**_WHO, "seats": "Seats"}),
        "invasion": _plain(found.of("invasion"), {**_WHERE, "entrant": "One", "host": "among"}),
        "validity": _rates(found.of("validity")),
    }
    return whole | {
        name: make([line for line in found.of(table) if _shown(line, market)])
        for name, (table, make) in _BY_DESIGN.items()
    }


def effects_lead(tables: Sequence[Table], reference: str) -> str:
    """What the tables of effects hold: who was put in another's place, whose seat was empty.

    Args:
        tables: The tables of the section.
        reference: Whom others are held against.
    """
    titles = {table.title for table in tables}
    told = []
    if "replacement effect" in titles:
        told.append(
            f"What each gains over {reference} in its place, and what that does to the others: "
            "same seat, same seed, same rivals in the same other seats."
        )
    if "effect on the market" in titles:
        told.append(
            f"What changes in the market when each plays in the place of {reference}: same seat, "
            "same seed, same rivals in the same other seats."
        )
    if "externality of presence" in titles:
        told.append(
            "What the presence of each does to the others: what they get where it is there, less "
            "what the same seats get on the same seed where its seat is empty."
        )
    return " ".join(told)


def others(found: Findings, market: Market) -> dict[str, list[Table]]:
    """The tables of sections that are told per design, of all other markets and designs."""
    return {
        name: make([line for line in found.of(table) if not _shown(line, market)])
        for name, (table, make) in _BY_DESIGN.items()
    }


def _shown(line: Finding, market: Market) -> bool:
    preset, design = market_of(line)
    return preset == market[0] and design in ("", market[1])


def _plain(lines: Sequence[Finding], keys: Mapping[str, str]) -> list[Table]:
    """A table per figure."""
    return estimates.tables([line for line in lines if line.about.get("retailer") != _ALL], keys)


def _bounds(lines: Sequence[Finding]) -> list[Table]:
    """The share of each retailer, and the markets worth comparing with on one scale."""
    shares = [line for line in lines if line.figure == _SHARE]
    markets = [
        _with(line, market=line.figure.replace("_", " ")) for line in lines if line not in shares
    ]
    keys = {"preset": "Preset", "market": "Market", "seats": "Seats"}
    return [
        *estimates.tables(shares, _WHO),
        *([estimates.table("markets worth comparing with", markets, keys)] if markets else []),
    ]


def _strengths(lines: Sequence[Finding]) -> list[Table]:
    """The strength of each retailer, and how well strengths fit the games."""
    fit = [line for line in lines if line.figure != "strength"]
    fitted = [_with(line, measure=line.figure) for line in fit]
    return [
        *_plain([line for line in lines if line not in fit], _WHO),
        *([estimates.table("fit", fitted, {**_WHERE, "measure": "Measure"})] if fit else []),
    ]


def _accounts(lines: Sequence[Finding]) -> list[Table]:
    """The accounts of each market beside each other, on one scale."""
    named = [_with(line, account=line.figure.replace("_", " ")) for line in lines]
    keys = {**_WHERE, "account": "Whose"}
    return [estimates.table("gain per episode", named, keys)] if named else []


def _costs(lines: Sequence[Finding]) -> list[Table]:
    """Nothing where everything is known to have cost nothing."""
    costs = [line.estimate.value for line in lines if line.figure == "cost"]
    return _plain(lines, _WHO) if any(cost != 0 for cost in costs) else []


def _rates(lines: Sequence[Finding]) -> list[Table]:
    """Rates per retailer, those that are zero for everybody left out."""
    happened = {line.figure for line in lines if line.estimate.value}
    named = [
        _with(line, rate=line.figure)
        for line in lines
        if line.figure in happened and "retailer" in line.about
    ]
    keys = {"retailer": "Retailer", "rate": "What", "count": "Times", "of": "of"}
    return [estimates.table("rates", named, keys)] if named else []


def _with(line: Finding, **more: str) -> Finding:
    return replace(line, about={**line.about, **more})


#: Section, table of findings, and how its lines become tables.
_BY_DESIGN: Mapping[str, tuple[str, Make]] = {
    "ratings": ("ratings", _strengths),
    "bounds": ("bounds", _bounds),
    "welfare": ("welfare", _accounts),
    "associations": ("associations", lambda lines: _plain(lines, {**_WHERE, "metric": "Metric"})),
    "pass-through": ("pass-through", lambda lines: _plain(lines, _WHO)),
    "cost": ("frontier", _costs),
}
