"""`summary.json`: what a run came to, from its journals and answer logs alone."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from actors.budget import owners, unsure_tries
from actors.language.prices import FREE
from actors.progress.status import status
from actors.roster import roster
from market import canonical
from market.calls import CallLogError, CallRecord, Outcome, read_calls, unsettled
from market.config import Config, EpisodePlan, expand
from market.environment import Json, NoAction, Result
from market.journal import JournalError, JournalReader, has_header, journal_digest
from market.study.estimands.scores import Score, average, standing


def summarise(
    folder: Path, config: Config, seats: Sequence[Mapping[str, Json]], seconds: float
) -> dict[str, Json]:
    """Sum up a finished run; of what its folder holds, the episodes that were asked for.

    Args:
        folder: The run's folder.
        config: Its configuration.
        seats: For each seat `seat`, `policy` and `model`.
        seconds: Seconds of play that are known of; the answer logs may know of more.
    """
    plans = {plan.id: plan for plan in expand(config)}
    episodes = [episode for episode in _episodes(folder, plans) if episode.result is not None]
    digests = sorted(episode.digest for episode in episodes)
    logs = {name: _log(folder / "episodes" / name / "calls.jsonl") for name in sorted(plans)}
    calls = list(_calls(logs, plans, config))
    summary = {
        "name": config.name,
        "environment": config.environment,
        "seed": config.seed,
        **(
            _one_episode(config, seats, episodes[0])
            if config.tournament is None
            else _tournament(folder, config, seats, plans, episodes)
        ),
        "no_actions": sum(episode.silent for episode in episodes),
        **_spend([call for _, call in calls]),
        "wall_seconds": round(max(seconds, *(log.played for log in logs.values())), 3) or None,
        "journal_digest": digests[0]
        if len(digests) == 1
        else canonical.digest(canonical.dumps(digests)),
    }
    for entry in summary["retailers"]:
        entry["spend"] = _spend([call for name, call in calls if name == entry["name"]])
    return summary


@dataclass(frozen=True, slots=True)
class _Log:
    """What a summary needs of an answer log: the calls that were answered or lost.

    Attributes:
        calls: These; None stands for all those of a log that cannot be read.
        played: Seconds that the run had been played for when something was logged last.
    """

    calls: Sequence[CallRecord | None]
    played: float


def _log(path: Path) -> _Log:
    try:
        log = read_calls(path)
    except CallLogError:
        return _Log([None], 0.0)
    settled = [c for c in log.records if c.reply is not None or unsure_tries(c)]
    played = max((call.played or 0.0 for call in log.records), default=0.0)
    # Without what they were asked: a tournament's prompts are more than memory should hold at once.
    return _Log([replace(c, messages=()) for c in (*settled, *unsettled(log).values())], played)


def _calls(
    logs: Mapping[str, _Log], plans: Mapping[str, EpisodePlan], config: Config
) -> Iterator[tuple[str, CallRecord | None]]:
    """The calls, each with the name of the entry that it is told in."""
    for episode, log in logs.items():
        names = owners(plans[episode].config)
        if config.tournament is None:
            names = {seat: seat for seat in names}
        for call in log.calls:
            if call is None:
                asking = [s.casting.seat for s in roster(plans[episode].config) if s.model]
                yield from ((name, None) for name in {names[seat] for seat in asking})
            else:
                yield names.get(call.seat, call.seat), call


def _spend(calls: Sequence[CallRecord | None]) -> dict[str, Json]:
    """What calls took. Of a lost one nobody knows, unless it was free; of unread ones neither."""
    read = [call for call in calls if call is not None]
    answered = [call.reply.usage for call in read if call.reply is not None]
    usages = [usage for usage in answered if not usage.cached]
    lost = [call for call in read if call.reply is None]
    costs = [None if usage.unsure else usage.cost_usd for usage in usages]
    costs += [None for call in lost if call.model not in FREE]
    unread = [None] * (len(calls) - len(read))
    return {
        "calls": len(usages),
        "calls_cached": len(answered) - len(usages),
        "calls_lost": sum(call.outcome is not Outcome.PROVIDER_FAILED for call in lost),
        "tokens": {
            "prompt": _known_sum([*(usage.prompt_tokens for usage in usages), *unread]),
            "completion": _known_sum([*(usage.completion_tokens for usage in usages), *unread]),
        },
        "cost_usd": _known_sum([*costs, *unread]),
    }


@dataclass(frozen=True, slots=True)
class _Episode:
    """What a summary needs of a journal."""

    id: str
    result: Result | None
    silent: int
    digest: str


def _episodes(folder: Path, plans: Iterable[str]) -> Iterator[_Episode]:
    """The episodes of a run, read one at a time."""
    for name in sorted(plans):
        path = folder / "episodes" / name / "journal.jsonl"
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
            yield _Episode(name, reader.result, silent, journal_digest(path))


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
    plans: Mapping[str, EpisodePlan],
    episodes: Sequence[_Episode],
) -> dict[str, Json]:
    """One entry per retailer with means over the finished episodes, and the episodes by state."""
    scores: dict[str, list[Score]] = {}
    for episode in episodes:
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
    totals = [episode.result.totals for episode in episodes if episode.result is not None]
    names = dict.fromkeys(name for each in totals for name in each)
    indices = {name: average(each.get(name) for each in totals) for name in names}
    return {
        "retailers": sorted(retailers, key=lambda entry: -entry["score"]),
        "episodes": len(episodes),
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
