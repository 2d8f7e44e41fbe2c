"""`market replay --swap`: recorded episodes with one seat swapped, for people and for programs."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path

from actors.errors import UserError
from actors.outside import EncodedFacts
from market.environment import Answer, Decision, Json
from market.journal import Header, JournalReader
from market.language import ProviderFailure
from market.play import Player
from market.seats import seat_ids
from market.study.interventions.swap import Swapped, swap
from market.study.statistics import intervals


def seating(journals: Sequence[Path], seat: str) -> list[Path]:
    """Those of some journals in which there is a seat; all where it is in none, to say so."""
    return [path for path in journals if seat in seat_ids(_header(path).config["retailers"])] or [
        *journals
    ]


def swapped(
    journal: Path, seat: str, policy: str, options: Mapping[str, Json], live: bool
) -> Swapped:
    """Play a recorded episode with another policy on one seat.

    Slogans that the recording never heard are encoded as the episode was configured.

    Raises:
        UserError: If the encoder is needed and cannot be used.
        market.config.ConfigError, market.replay.ReplayError, market.journal.JournalError,
        market.study.interventions.rerun.RerunError: As `market.study.interventions.swap.swap`.
    """
    encoder = (_header(journal).config.get("encoder") or {}).get("model")
    outside = _encoded(str(encoder)) if encoder else None
    return swap(journal, seat, policy, options, live, outside)


def as_text(found: Sequence[Swapped]) -> str:
    """A paragraph per episode, and what the seat gained over all."""
    lines = [line for each in found for line in _told(each)]
    if len(found) > 1:
        gain = intervals.mean([each.gain for each in found])
        lines.append(
            f"All {len(found)} episodes: {found[0].seat} scores {gain.value:+,.0f} with "
            f"{found[0].policy}, on average; described, not caused by the swap alone."
        )
    return "".join(f"{line}\n" for line in lines)


def as_json(found: Sequence[Swapped]) -> str:
    """All that is known, as a list of episodes."""
    return json.dumps([_plain(each) for each in found], indent=2) + "\n"


def _told(each: Swapped) -> list[str]:
    head = f"{each.episode}: {each.seat} played by {each.policy}"
    first = each.first_difference
    if first is None:
        return [f"{head}. {each.note}"]
    own = each.step_standings[each.seat]
    figures = ", ".join(
        f"{name} {_figure(after)} instead of {_figure(before)}"
        for name, (before, after) in own.items()
    )
    before, after = each.scores[each.seat]
    scored = f"{_figure(after)} instead of {_figure(before)} ({_figure(each.gain, '+')})"
    lines = [
        f"{head}; the first difference is at step {first.step}, turn {first.turn} ({first.kind} "
        f"of {first.seat}).",
        f"  after step {first.step}: {figures}",
        f"  whole episode: score {scored}",
        f"  refused lines: {each.refusals[1]:,} instead of {each.refusals[0]:,}{_reasons(each)}",
    ]
    if each.unrecorded:
        seats = ", ".join(f"{seat} {count}" for seat, count in each.unrecorded.items())
        lines.append(f"  asked without a recorded answer, so nothing was done: {seats}")
    return [*lines, f"  {each.note}"]


def _figure(value: float, sign: str = "") -> str:
    """A figure to the hundredth: what is below it is noise of sums."""
    return f"{round(value, 2):{sign},}"


def _reasons(each: Swapped) -> str:
    """What is refused now that was not, or no more, by what and why."""
    more: dict[tuple[str, str], int] = {}
    for line, (before, after) in each.refused.items():
        if before != after:
            key = line.what, line.reason
            more[key] = more.get(key, 0) + after - before
    told = [f"{what} {reason} {count:+,}" for (what, reason), count in more.items() if count]
    return f" ({', '.join(told)})" if told else ""


def _plain(each: Swapped) -> dict[str, Json]:
    found = asdict(each)
    found["refused"] = [
        {**asdict(line), "recorded": before, "swapped": after}
        for line, (before, after) in each.refused.items()
    ]
    return {**found, "note": each.note}


def _header(journal: Path) -> Header:
    reader = JournalReader(journal)
    reader.close()
    return reader.header


def _encoded(model: str) -> Player:
    facts = EncodedFacts(model)

    def answer(decision: Decision) -> Answer:
        found = facts.answer_now(decision)
        if isinstance(found, ProviderFailure):
            raise UserError(found.message)
        return found

    return answer
