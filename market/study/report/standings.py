"""Leaderboards of many episodes: means with intervals, rank sets, and who can be told apart."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from market.study.estimands.effects import CONDITIONAL
from market.study.estimands.finding import Finding
from market.study.estimands.findings import Findings
from market.study.report import estimates
from market.study.report.estimates import Row
from market.study.statistics.estimates import Estimate

if TYPE_CHECKING:
    from market.study.recording import Run

#: A market and a design, as `Finding.about` names them; empty where there is one only.
Market = tuple[str, str]

#: Error held over all pairs below which two retailers are called apart.
APART = 0.05


@dataclass(frozen=True, slots=True)
class Ranked:
    """A line of the leaderboard of many episodes.

    Attributes:
        name: The retailer.
        policy: Its policy.
        model: Its language model; None for scripts.
        mean: Its mean outcome.
        rank: Its rank by means; None where undefined.
        ranks: The ranks that are not ruled out, such as `1 to 3`, or why there are none.
        metrics: Means of its metrics by name; None where undefined.
        episodes: Episodes behind them.
    """

    name: str
    policy: str
    model: str | None
    mean: Row
    rank: int | None
    ranks: str
    metrics: Mapping[str, float | None]
    episodes: int


@dataclass(frozen=True, slots=True)
class Pair:
    """A cell of the matrix of pairs, from the row's side."""

    shown: str
    p: str
    apart: int
    sentence: str


@dataclass(frozen=True, slots=True)
class Standings:
    """One leaderboard.

    Attributes:
        title: Market and design; empty where there is one leaderboard only.
        design: The design of its rosters.
        episodes: Valid episodes behind it.
        lines: The retailers, the best first.
        scale: The ends of the scale that intervals are drawn on.
        pairs: Per line a cell for each line; None on the diagonal.
        conditional: Whether it holds in one company of retailers only.
    """

    title: str
    design: str
    episodes: int
    lines: tuple[Ranked, ...]
    scale: tuple[str, str]
    pairs: tuple[tuple[Pair | None, ...], ...]
    conditional: bool

    @property
    def apart(self) -> tuple[int, int]:
        """Pairs that are told apart, and all pairs."""
        cells = [cell for row in self.pairs for cell in row if cell is not None]
        return sum(cell.apart != 0 for cell in cells) // 2, len(cells) // 2


def market_of(line: Finding) -> Market:
    """The market and design that a line is about."""
    return str(line.about.get("preset", "")), str(line.about.get("design", ""))


def standings(run: Run, found: Findings) -> Iterable[Standings]:
    """A leaderboard per market and design that treats all retailers alike."""
    lines = found.of("standings")
    about = {(str(r["preset"]), str(r["design"]), str(r["name"])): r for r in _records(run)}
    markets = list(dict.fromkeys(map(market_of, lines)))
    valid = run.episodes[run.episodes["valid"]]["episode"]
    counted = Counter(
        (seating.preset or "", seating.design)
        for seating in (run.seatings[episode] for episode in valid)
    )
    for market in markets:
        own = [line for line in lines if market_of(line) == market]
        means = [line for line in own if line.figure == "mean"]
        means.sort(key=lambda line: -(line.estimate.value or 0))
        ranks = {
            str(line.about["retailer"]): line.estimate for line in own if line.figure == "rank"
        }
        shown = estimates.table("mean", means, {"retailer": "Retailer"})
        names = [str(line.about["retailer"]) for line in means]
        ranked = [
            _ranked(name, row, ranks[name], about.get((*market, name), {}))
            for name, row in zip(names, shown.rows, strict=True)
        ]
        pairs = [line for line in found.of("separability") if market_of(line) == market]
        yield Standings(
            title=", ".join(filter(None, market)) if len(markets) > 1 else "",
            design=market[1],
            episodes=counted[market],
            lines=tuple(ranked),
            scale=(shown.low, shown.high),
            pairs=_pairs(names, pairs),
            conditional=any(line.sentence == CONDITIONAL for line in means),
        )


def _records(run: Run) -> list[dict[str, Any]]:
    """Rows of the frame `retailers`, null as None and no preset as empty."""
    frame = run.retailers.astype(object)
    frame = frame.where(frame.notna(), None)
    rows: list[dict[Any, Any]] = frame.to_dict("records")
    return [{**row, "preset": row["preset"] or ""} for row in rows]


def _ranked(name: str, mean: Row, rank: Estimate, about: Mapping[str, Any]) -> Ranked:
    if rank.low is None or rank.high is None:
        ranks = ""
    else:
        low, high = round(rank.low), round(rank.high)
        ranks = str(low) if low == high else f"{low} to {high}"
    known = ("preset", "design", "name", "policy", "model", "episodes", "seeds")
    model = about.get("model")
    return Ranked(
        name=name,
        policy=str(about.get("policy", "")),
        model=None if model is None else str(model),
        mean=mean,
        rank=None if rank.value is None else round(rank.value),
        ranks=ranks or f"– ({rank.undefined})",
        metrics={key: value for key, value in about.items() if key not in known},
        episodes=int(about.get("episodes", 0)),
    )


def _pairs(names: Sequence[str], lines: Iterable[Finding]) -> tuple[tuple[Pair | None, ...], ...]:
    found: dict[tuple[str, str], dict[str, Finding]] = {}
    for line in lines:
        key = str(line.about["first"]), str(line.about["second"])
        found.setdefault(key, {})[line.figure] = line

    def cell(row: str, column: str) -> Pair | None:
        turned = (row, column) not in found
        own = found.get((column, row) if turned else (row, column))
        if row == column or own is None:
            return None
        difference, p = own["difference"].estimate.value, own["adjusted p"].estimate.value
        if difference is None or p is None:
            return Pair("–", "", 0, own["difference"].estimate.undefined or "")
        gap = -difference if turned else difference
        apart = 0 if p > APART else 1 if gap > 0 else -1
        told = "more" if gap > 0 else "less"
        sentence = (
            f"{row} gets {estimates.number(abs(gap))} {told} than {column}; adjusted p {p:.3g}"
        )
        return Pair(estimates.number(gap), f"{p:.2f}" if p >= 0.005 else "<.01", apart, sentence)

    return tuple(tuple(cell(row, column) for column in names) for row in names)
