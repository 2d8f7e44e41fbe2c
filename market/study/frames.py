"""Tidy frames of a run: one row per observation, columns that say what they are and in what unit.

    episodes    one row per episode
    metrics     one row per finished episode, seat and metric; null has its reason beside it
    scores      the same, one column per metric
    retailers   one row per market, design of rosters and retailer, means over seeds
    findings    one row per estimate (`Findings.frame`)

Frames are pandas; null is unknown or undefined, never 0.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from market.columns import columns, describe
from market.environment import OUTSIDE, Cause, Event, Json
from market.study.estimands.finding import over_seeds

if TYPE_CHECKING:
    import pandas as pd

#: Unit and meaning of the columns of each frame, in order; `scores` goes on with its metrics.
COLUMNS: Mapping[str, Mapping[str, tuple[str, str]]] = {
    "episodes": {
        "episode": ("", "Id of the episode."),
        "preset": ("", "Name of its market; null where there is one only."),
        "roster": ("", "Name of its roster."),
        "design": ("", "The design that this was drawn by."),
        "seed": ("", "Its seed: episodes of one seed are one block."),
        "repetition": ("", "From 1."),
        "finished": ("", "Whether it came to its end."),
        "valid": ("", "Whether it is finished and no seat was left unanswered by its provider."),
        "steps": ("steps", "The last step in which somebody decided; 0 where none did."),
        "decisions": ("decisions", "Decisions of seats."),
        "no_actions": ("decisions", "Of these, those that passed without an action."),
        "unanswered": ("decisions", "Of these, those for which the provider is to blame."),
    },
    "metrics": {
        "episode": ("", "Id of the episode."),
        "preset": ("", "Name of its market; null where there is one only."),
        "roster": ("", "Name of its roster."),
        "design": ("", "The design that this was drawn by."),
        "seed": ("", "Its seed."),
        "repetition": ("", "From 1."),
        "valid": ("", "Whether the episode is valid."),
        "seat": ("", "The seat; `outside` for figures of the whole market."),
        "name": ("", "The retailer that played it; null for the whole market."),
        "policy": ("", "Its policy; null for the whole market."),
        "model": ("", "Its language model; null for scripts."),
        "metric": ("", "Name of the figure; `score` is what the seat was to maximise."),
        "value": ("of the metric", "Its value; null where undefined."),
        "undefined": ("", "Why it is undefined; null where it is not."),
    },
    "retailers": {
        "preset": ("", "Name of the market; null where there is one only."),
        "design": ("", "The design of rosters: means over others do not compare."),
        "name": ("", "The retailer."),
        "policy": ("", "Its policy."),
        "model": ("", "Its language model; null for scripts."),
        "episodes": ("episodes", "Finished episodes in which it played."),
        "seeds": ("seeds", "Seeds of these."),
        "score": ("score", "Mean score per seat: the mean over seeds of the means within seeds."),
        "low": ("score", "Lower end of the 95% interval, seeds as blocks; null for one seed."),
        "high": ("score", "Upper end of it."),
    },
    "findings": {
        "table": ("", "The table that it belongs to, such as `replacement`."),
        "figure": ("", "What is estimated."),
        "outcome": ("", "The outcome that it is of; empty where it is of none."),
        "about": ("", "Mapping: what it is about, such as `retailer` and `reference`."),
        "value": ("as `unit` says", "The estimate; null where undefined."),
        "low": ("as `unit` says", "Lower end of the interval; null where there is none."),
        "high": ("as `unit` says", "Upper end of it."),
        "blocks": ("blocks", "Independent blocks, mostly seeds, behind it."),
        "method": ("", "How the interval was made."),
        "level": ("", "Its confidence."),
        "undefined": ("", "Why value or interval is null; null where neither is."),
        "unit": ("", "Unit of value, low and high."),
        "sentence": ("", "What the figure means and what it does not."),
        "primary": ("", "Whether the study named it before the first episode."),
        "episodes": ("", "Whether it counts `valid` episodes or `all` finished ones."),
    },
}

#: Units by what the documented meaning of a column says; the first that fits.
_UNITS = (
    (r"1e-6", "1e-6"),
    (r"US dollars", "USD"),
    (r"\b[Ss]econds\b", "seconds"),
    (r"\b[Tt]okens\b", "tokens"),
    (r"^(Times|Attempts)\b", "attempts"),
    (r"\b[Bb]uyers who\b", "buyers"),
    (r"\b(Units|Quantity|quantity)\b", "units"),
    (
        r"\b([Mm]oney|[Pp]rices?|[Cc]osts?|[Pp]roceeds|[Pp]rofit|[Ff]unds|gain|paid|worth)\b",
        "money",
    ),
    (r"\bAsked per unit|\bwritten down\b", "money"),
)


@dataclass(frozen=True, slots=True)
class Seating:
    """Who plays an episode.

    Attributes:
        preset: Name of its market; None where there is one only.
        roster: Name of its roster.
        design: The design that this was drawn by.
        seed: Its seed.
        repetition: From 1.
        names: The retailer in each seat.
        policies: The policy in each seat.
        models: The language model behind each seat; None for scripts.
        config: The episode's configuration as a journal records it.
    """

    preset: str | None
    roster: str
    design: str
    seed: int
    repetition: int
    names: Mapping[str, str]
    policies: Mapping[str, str]
    models: Mapping[str, str | None]
    config: Mapping[str, Json]


def episodes(
    seatings: Mapping[str, Seating], decisions: pd.DataFrame, results: pd.DataFrame
) -> pd.DataFrame:
    """One row per episode that was begun, in the order of the ids.

    Args:
        seatings: Who plays each episode.
        decisions: The table `decisions`.
        results: The table `results`.
    """
    import pandas as pd

    finished = set(results["episode"])
    asked = decisions[decisions["seat"] != OUTSIDE]
    last = asked.groupby("episode")["step"].max().to_dict()
    counts = asked.groupby("episode").size().to_dict()
    silent = asked[~asked["answered"].astype(bool)].groupby("episode").size().to_dict()
    owed = asked[asked["cause"] == str(Cause.UNANSWERED)].groupby("episode").size().to_dict()
    rows = [
        {
            "episode": episode,
            "preset": seating.preset,
            "roster": seating.roster,
            "design": seating.design,
            "seed": seating.seed,
            "repetition": seating.repetition,
            "finished": episode in finished,
            "valid": episode in finished and not owed.get(episode, 0),
            "steps": last.get(episode, 0),
            "decisions": counts.get(episode, 0),
            "no_actions": silent.get(episode, 0),
            "unanswered": owed.get(episode, 0),
        }
        for episode, seating in seatings.items()
    ]
    return pd.DataFrame(rows, columns=list(COLUMNS["episodes"]))


def metrics(
    seatings: Mapping[str, Seating], episodes: pd.DataFrame, results: pd.DataFrame
) -> pd.DataFrame:
    """One row per finished episode, seat and metric, those of the whole market included."""
    import pandas as pd

    players = pd.DataFrame(
        [
            (episode, seat, name, seating.policies[seat], seating.models[seat])
            for episode, seating in seatings.items()
            for seat, name in seating.names.items()
        ],
        columns=["episode", "seat", "name", "policy", "model"],
    )
    about = episodes[["episode", "preset", "roster", "design", "repetition", "valid"]]
    merged = results.merge(about, on="episode").merge(players, on=["episode", "seat"], how="left")
    return merged[list(COLUMNS["metrics"])].reset_index(drop=True)


def scores(metrics: pd.DataFrame) -> pd.DataFrame:
    """One row per finished episode and seat, one column per metric, `score` first."""
    keys = [name for name in COLUMNS["metrics"] if name not in ("metric", "value", "undefined")]
    seats = metrics[metrics["seat"] != OUTSIDE]
    names = list(dict.fromkeys(["score", *seats["metric"]]))
    wide = seats.pivot(index=["episode", "seat"], columns="metric", values="value")
    found = seats[keys].drop_duplicates(["episode", "seat"])
    found = found.merge(wide.reset_index(), on=["episode", "seat"])
    return found.reindex(columns=[*keys, *names])


def retailers(scores: pd.DataFrame) -> pd.DataFrame:
    """One row per market, design and retailer: its score and means of its metrics, best first.

    Metrics are averaged over seeds like the score, those that are undefined left out.
    """
    import pandas as pd

    keys = ["preset", "design", "name", "policy", "model"]
    names = [name for name in scores.columns if name not in COLUMNS["metrics"] and name != "score"]
    rows = []
    groups: Iterable[tuple[Any, pd.DataFrame]] = scores.groupby(keys, dropna=False, sort=False)
    for values, own in groups:
        by_seed = own.groupby("seed")[["score", *names]].mean()
        estimate = over_seeds(by_seed["score"].dropna().tolist(), "no score")
        rows.append(
            {
                **dict(zip(keys, values, strict=True)),
                "episodes": own["episode"].nunique(),
                "seeds": len(by_seed),
                "score": estimate.value,
                "low": estimate.low,
                "high": estimate.high,
                **{name: by_seed[name].mean() for name in names},
            }
        )
    frame = pd.DataFrame(rows, columns=[*COLUMNS["retailers"], *names])
    return frame.sort_values("score", ascending=False, kind="stable", ignore_index=True)


def described(
    events: Iterable[type[Event]], frames: Mapping[str, Mapping[str, tuple[str, str]]]
) -> pd.DataFrame:
    """Every column of every table and frame: `table`, `column`, `type`, `null`, `unit`, `meaning`.

    Args:
        events: The event classes whose tables there are.
        frames: Unit and meaning per column of what is derived from them, by frame.
    """
    import pandas as pd

    rows: list[dict[str, Any]] = []
    for event in events:
        kinds = {"episode": (str, False), "seed": (int, False), **columns(event)}
        for name, meaning in describe(event).items():
            kind, null = kinds[name]
            rows.append(
                {
                    "table": event.table,
                    "column": name,
                    "type": kind.__name__,
                    "null": null,
                    "unit": unit(kind, meaning),
                    "meaning": meaning,
                }
            )
    rows += [
        {"table": frame, "column": name, "unit": unit, "meaning": meaning}
        for frame, about in frames.items()
        for name, (unit, meaning) in about.items()
    ]
    return pd.DataFrame(rows, columns=["table", "column", "type", "null", "unit", "meaning"])


def unit(kind: type, meaning: str) -> str:
    """The unit of a column by what its documentation says; empty for a name, a count or a flag."""
    if kind in (bool, str):
        return ""
    return next((unit for pattern, unit in _UNITS if re.search(pattern, meaning)), "")
