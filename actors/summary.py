"""`summary.json`: what a run came to, from its journals and answer logs alone."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from actors.budget import owners, unsure_tries
from actors.language.prices import FREE
from actors.progress.status import status
from market import canonical
from market.calls import CallLogError, CallRecord, Outcome, read_calls, unsettled
from market.config import Config, EpisodePlan, expand
from market.environment import Json, NoAction, Result
from market.journal import JournalError, JournalReader, has_header, journal_digest
from market.study.estimands.scores import Score, average, standing


def summarise(
    folder: Path, config: Config, seats: Sequence[Mapping[str, Json]], seconds: float
) -> dict[str, Json]:
    """Sum up a finished run.

    Args:
        folder: The run's folder.
        config: Its configuration.
        seats: For each seat `seat`, `policy` and `model`.
        seconds: Wall time.
    """
    episodes = [episode for episode in _episodes(folder) if episode.result is not None]
    digests = sorted(episode.digest for episode in episodes)
    calls = list(_calls(folder, config))
    summary = {
        "name": config.name,
        "environment": config.environment,
        "seed": config.seed,
        **(
            _one_episode(config, seats, episodes[0])
            if config.tournament is None
            else _tournament(folder, config, seats, episodes)
        ),
        "no_actions": sum(episode.silent for episode in episodes),
        **_spend([call for _, call in calls]),
        "wall_seconds": round(seconds, 3),
        "journal_digest": digests[0]
        if len(digests) == 1
        else canonical.digest(canonical.dumps(digests)),
    }
    for entry in summary["retailers"]:
        entry["spend"] = _spend([call for name, call in calls if name == entry["name"]])
    return summary


def _calls(folder: Path, config: Config) -> Iterator[tuple[str, CallRecord]]:
    """The calls that were answered or lost, each with the name of the entry that it is told in."""
    plans = () if config.tournament is None else expand(config)
    names = {plan.id: owners(plan.config) for plan in plans}
    for path in sorted(folder.glob("episodes/*/calls.jsonl")):
        try:
            log = read_calls(path)
        except CallLogError:
            # What was spent in it is told by nobody, and so unknown.
            yield "", CallRecord("", 0, 0, "", 0, Outcome.PROVIDER_FAILED, unsure=1)
            continue
        settled = [c for c in log.records if c.reply is not None or unsure_tries(c)]
        for call in [*settled, *unsettled(log).values()]:
            yield names.get(path.parent.name, {}).get(call.seat, call.seat), call


def _spend(calls: Sequence[CallRecord]) -> dict[str, Json]:
    """What calls took. Of a lost one nobody knows, unless it was free."""
    usages = [call.reply.usage for call in calls if call.reply is not None]
    lost = [call for call in calls if call.reply is None]
    costs = [None if usage.unsure else usage.cost_usd for usage in usages]
    costs += [None for call in lost if call.model not in FREE]
    return {
        "calls": len(usages),
        "calls_lost": sum(call.outcome is not Outcome.PROVIDER_FAILED for call in lost),
        "tokens": {
            "prompt": _known_sum([usage.prompt_tokens for usage in usages]),
            "completion": _known_sum([usage.completion_tokens for usage in usages]),
        },
        "cost_usd": _known_sum(costs),
    }


@dataclass(frozen=True, slots=True)
class _Episode:
    """What a summary needs of a journal."""

    id: str
    result: Result | None
    silent: int
    digest: str


def _episodes(folder: Path) -> Iterator[_Episode]:
    """The episodes of a run, read one at a time."""
    for path in sorted(folder.glob("episodes/*/journal.jsonl")):
        if has_header(path):
            try:
                reader = JournalReader(path)
                silent = sum(
                    isinstance(answer, NoAction)
                    for batch in reader
                    for answer in batch.answers.values()
                )
            except JournalError:
                continue  # damaged, and counted as failed
            yield _Episode(path.parent.name, reader.result, silent, journal_digest(path))


def _one_episode(
    config: Config, seats: Sequence[Mapping[str, Json]], episode: _Episode
) -> dict[str, Json]:
    assert episode.result is not None
    return {
        "retailers": _retailers(seats, episode.result, config.kind.metrics),
        "episodes": 1,
        "indices": _ordered(episode.result.totals, config.kind.indices),
    }


def _tournament(
    folder: Path,
    config: Config,
    seats: Sequence[Mapping[str, Json]],
    episodes: Sequence[_Episode],
) -> dict[str, Json]:
    """One entry per retailer with means over the finished episodes, and the episodes by state."""
    plans = {plan.id: plan for plan in expand(config)}
    played = [episode for episode in episodes if episode.id in plans]
    scores: dict[str, list[Score]] = {}
    for episode in played:
        assert episode.result is not None
        for score in _scores(plans[episode.id], episode.result):
            scores.setdefault(score.retailer, []).append(score)
    models = {seat["seat"]: seat["model"] for seat in seats}
    retailers = [
        {
            "name": retailer.name,
            "policy": retailer.policy,
            "model": models.get(retailer.seats[0]),
            **standing(scores[retailer.name]),
        }
        for retailer in config.retailers
        if retailer.name in scores
    ]
    for entry in retailers:
        entry["metrics"] = _ordered(entry["metrics"], config.kind.metrics)
    totals = [episode.result.totals for episode in played if episode.result is not None]
    names = dict.fromkeys(name for each in totals for name in each)
    indices = {name: average(each.get(name) for each in totals) for name in names}
    return {
        "retailers": sorted(retailers, key=lambda entry: -entry["score"]),
        "episodes": len(played),
        "states": dict(status(folder).counts),
        "rosters": list(dict.fromkeys(plan.roster for plan in plans.values())),
        "indices": _ordered(indices, config.kind.indices),
    }


def _scores(plan: EpisodePlan, result: Result) -> Iterator[Score]:
    """The score of each seat of an episode."""
    for retailer in plan.config.retailers:
        for seat in retailer.seats:
            found = result.seats[seat]
            yield Score(
                retailer=retailer.retailer,
                seat=seat,
                episode=plan.id,
                market=plan.preset,
                seed=plan.seed,
                score=found.score,
                metrics=found.metrics,
            )


def _retailers(
    seats: Sequence[Mapping[str, Json]], result: Result, metrics: Sequence[str]
) -> list[Json]:
    """One entry per seat, the best first."""
    entries = []
    for seat in seats:
        found = result.seats[seat["seat"]]
        entries.append(
            {
                "name": seat["seat"],
                "policy": seat["policy"],
                "model": seat["model"],
                "seat": seat["seat"],
                "score": found.score,
                "metrics": _ordered(found.metrics, metrics),
                "undefined": dict(found.undefined),
            }
        )
    return sorted(entries, key=lambda entry: -entry["score"])


def _ordered(figures: Mapping[str, Json], first: Sequence[str]) -> dict[str, Json]:
    """Figures in the order that people want; a journal keeps them by the alphabet."""
    names = [*(name for name in first if name in figures), *figures]
    return {name: figures[name] for name in names}


def _known_sum(values: Sequence[int | float | None]) -> int | float | None:
    """The sum; None if any part is unknown, since unknown is not 0."""
    known = [value for value in values if value is not None]
    return sum(known) if len(known) == len(values) else None
