"""`summary.json`: what a run came to, from its journals and answer logs alone."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from market import canonical
from market.calls import Outcome, read_calls, unsettled
from market.config import Config
from market.environment import Json, NoAction, Result
from market.journal import journal_digest, read


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
    journals = sorted(folder.glob("episodes/*/journal.jsonl"))
    digests = sorted(journal_digest(path) for path in journals)
    recordings = [read(path) for path in journals]
    results = [recording.result for recording in recordings if recording.result is not None]
    silent = sum(
        isinstance(answer, NoAction)
        for recording in recordings
        for batch in recording.batches
        for answer in batch.answers.values()
    )
    logs = [read_calls(path) for path in sorted(folder.glob("episodes/*/calls.jsonl"))]
    replies = [call.reply for log in logs for call in log.records if call.reply is not None]
    lost = [call for log in logs for call in log.records if call.outcome is Outcome.LOST]
    lost += [call for log in logs for call in unsettled(log).values()]
    costs = [reply.usage.cost_usd for reply in replies]
    costs += [None for call in lost if call.model != "local"]
    return {
        "name": config.name,
        "environment": config.environment,
        "seed": config.seed,
        "retailers": _retailers(seats, results[0], config.kind.metrics),
        "episodes": len(journals),
        "indices": _ordered(results[0].totals, config.kind.indices),
        "no_actions": silent,
        "calls": len(replies),
        "calls_lost": len(lost),
        "tokens": {
            "prompt": _known_sum([reply.usage.prompt_tokens for reply in replies]),
            "completion": _known_sum([reply.usage.completion_tokens for reply in replies]),
        },
        "cost_usd": _known_sum(costs),
        "wall_seconds": round(seconds, 3),
        "journal_digest": digests[0]
        if len(digests) == 1
        else canonical.digest(canonical.dumps(digests)),
    }


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
