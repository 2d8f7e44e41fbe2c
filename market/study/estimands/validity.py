"""What may spoil a result: episodes that do not count, turns without action, void lines.

An episode is *valid* if it came to its end and no seat was left without an answer by its provider
(`unanswered`). An agent's own failures (late, crashed, malformed, refused, truncated) are part of
what it can do and do not make an episode invalid; they are counted here by cause. Results are given
on the valid episodes and on all finished ones, so that nothing hangs on the choice unseen.

A *void line* is a row of an environment's table that says why it was refused: a column `reason` or
`error` that is not null. Where such a column is never null every row of the table is a refusal, and
these are counted per decision instead of per line.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from market import registry
from market.calls import Outcome
from market.columns import columns
from market.environment import OUTSIDE, Cause, Event
from market.study.estimands.finding import About, Finding
from market.study.statistics.estimates import Estimate
from market.study.statistics.intervals import ratio

if TYPE_CHECKING:
    import pandas as pd

    from market.study.recording import Run

#: Columns of an environment's tables that say why something was refused.
REASONS = ("reason", "error")

_EPISODES = "Of the episodes that were begun."
_NO_ACTION = "Decisions that passed without an action, of all decisions of its seats."


def validity(run: Run) -> Iterator[Finding]:
    """Shares of finished and valid episodes, then rates per retailer.

    All count every episode that was begun: what is excluded elsewhere is what shows here.
    """
    yield from _episodes(run)
    keys = _names(run)
    decisions = run.table("decisions")
    decisions = decisions[decisions["seat"] != OUTSIDE].merge(keys, on=["episode", "seat"])
    asked = decisions.groupby(["name", "seed"]).size()
    for name, own in decisions.groupby("name", sort=False):
        silent = own[~own["answered"].astype(bool)]
        causes = {"no action": silent, **{str(c): silent[silent["cause"] == c] for c in Cause}}
        for cause, rows in causes.items():
            figure = "no action" if cause == "no action" else f"no action: {cause}"
            yield _rate(figure, str(name), rows, _of(asked, name), _NO_ACTION, "no decisions")
    yield from _void(run, keys, asked)
    yield from _cut(run, keys)


def _episodes(run: Run) -> Iterator[Finding]:
    frame = run.episodes
    for figure in ("finished", "valid"):
        share = Estimate.missing(
            "a share of the episodes that there are has no interval",
            value=float(frame[figure].mean()),
            blocks=int(frame["seed"].nunique()),
        )
        yield Finding(
            "validity",
            f"{figure} episodes",
            "",
            {"episodes": len(frame)},
            share,
            "share",
            _EPISODES,
        )


def _void(run: Run, keys: pd.DataFrame, asked: pd.Series[int]) -> Iterator[Finding]:
    """Void lines per retailer, in each table that has any."""
    events: tuple[type[Event], ...] = registry.load(run.kind.events) if run.kind.events else ()
    for event in events:
        kinds = columns(event)
        reason = next((name for name in REASONS if name in kinds), None)
        if reason is None or event.table not in run.tables:
            continue
        rows = run.table(event.table, ["episode", "seed", "seat", reason])
        rows = rows.merge(keys, on=["episode", "seat"])
        if kinds[reason][1]:
            lines = rows.groupby(["name", "seed"]).size()
            sentence = (
                f"Lines of `{event.table}` that were void in whole or part, of all its lines."
            )
        else:
            lines = asked
            sentence = f"Rows of `{event.table}`, each a refusal, per decision of its seats."
        void = rows[rows[reason].notna()]
        for name in dict.fromkeys(keys["name"]):
            own = void[void["name"] == name]
            of = _of(lines, name)
            yield _rate(f"void: {event.table}", name, own, of, sentence, "no lines")


def _cut(run: Run, keys: pd.DataFrame) -> Iterator[Finding]:
    """Replies of models that were cut at the token limit, re-asked ones included."""
    calls = run.table("calls", ["episode", "seed", "seat", "outcome", "finish"])
    replied = calls[calls["outcome"] == str(Outcome.REPLIED)].merge(keys, on=["episode", "seat"])
    sentence = "Replies that were cut at the token limit, of all replies of its models."
    for name, own in replied.groupby("name", sort=False):
        of = own.groupby("seed").size()
        cut = own[own["finish"] == "length"]
        yield _rate("truncated replies", str(name), cut, of, sentence, "no replies")


def _rate(
    figure: str, name: str, rows: pd.DataFrame, of: pd.Series[int], sentence: str, missing: str
) -> Finding:
    """Rows per unit of `of`, which is by seed."""
    about: About = {"retailer": name, "count": len(rows), "of": int(of.sum())}
    if not of.sum():
        estimate = Estimate.missing(missing)
    else:
        counts: Mapping[Any, int] = rows.groupby("seed").size().to_dict()
        estimate = ratio([counts.get(seed, 0) for seed in of.index], of.tolist())
    return Finding("validity", figure, "", about, estimate, "share", sentence)


def _of(counts: pd.Series[int], name: object) -> pd.Series[int]:
    """Of counts by name and seed those of one name, by seed."""
    own = counts[counts.index.get_level_values("name") == name]
    return own.droplevel("name")


def _names(run: Run) -> pd.DataFrame:
    """The retailer of each seat of each episode."""
    import pandas as pd

    rows = [
        (episode, seat, name)
        for episode, seating in run.seatings.items()
        for seat, name in seating.names.items()
    ]
    return pd.DataFrame(rows, columns=["episode", "seat", "name"])
