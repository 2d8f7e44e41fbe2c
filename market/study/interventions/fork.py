"""Goes on live from a step of a recorded episode, and compares what came of it.

A fork is an ordinary unfinished episode: its journal begins with the recorded answers of the
earlier steps, chained anew under a header that says where they are from, and whoever resumes runs
resumes it. Nothing of the past is paid for again, and all that holds for a run holds for a fork.

From its step on luck is redrawn, by the seed of each repetition. Two arms that differ in one seat
meet the same luck in equal repetitions, so their scores are compared in pairs, and a repetition is
the block: what the recorded episode had come to before the step is the same in all of them.
"""

from __future__ import annotations

import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from market.config import Config, ConfigError, configure, recorded, resolved
from market.config.seating import reseated
from market.environment import Json, Result
from market.journal import Chain, Header, JournalWriter, journal_digest, read
from market.replay import ReplayError, build
from market.study.statistics import intervals
from market.study.statistics.estimates import Estimate

#: The folder of an arm: the recorded roster, and that with a seat swapped.
ORIGINAL, SWAPPED = "original", "swapped"


@dataclass(frozen=True, slots=True)
class Swap:
    """Who takes over a seat: the seat, the policy and its options."""

    seat: str
    policy: str
    options: Mapping[str, Json]


@dataclass(frozen=True, slots=True)
class Outlook:
    """What a seat comes to from the step of a fork on; its scores are of the whole episode.

    Attributes:
        seat: The seat.
        recorded: What it scored in the recorded episode; None where that is unfinished.
        original: Its mean score with the recorded roster.
        swapped: The same with the swap; None without one.
        difference: Mean of swapped less original, in pairs of equal luck; None without a swap.
    """

    seat: str
    recorded: float | None
    original: Estimate
    swapped: Estimate | None = None
    difference: Estimate | None = None

    def json(self) -> dict[str, Json]:
        """As it stands in a file."""
        parts = {"original": self.original, "swapped": self.swapped, "difference": self.difference}
        found: dict[str, Json] = {"seat": self.seat, "recorded": self.recorded}
        return found | {name: part and part.json() for name, part in parts.items()}


def arms(
    config: Config, journal: Path, step: int, seeds: int, swap: Swap | None = None
) -> dict[str, Config]:
    """The tournaments of a fork, by the names of their folders.

    Args:
        config: The configuration of the recorded episode.
        journal: Its journal.
        step: The first step that is played live.
        seeds: Repetitions, each with luck of its own.
        swap: Who takes over which seat; None for the recorded roster only.

    Raises:
        ConfigError: If it cannot be forked so.
        market.journal.JournalError: If the journal is damaged.
    """
    if config.fork is not None:
        raise ConfigError(f"{journal} is a fork itself; fork the episode that it came from.")
    past = read(journal)
    given = Header.of(recorded(config), past.header.rules_version, past.header.episode)
    if keys := given.differences(past.header):
        raise ConfigError(f"{journal} was recorded with other values of {', '.join(keys)}.")
    last = max((batch.step for batch in past.batches), default=0)
    if step > last + (past.result is None):
        raise ConfigError(f"{journal} has no step {step} to fork at; its last one is {last}.")
    rosters = {ORIGINAL: config}
    if swap is not None:
        rosters[SWAPPED] = reseated(config, swap.seat, swap.policy, swap.options)
    meetings = {"seeds": [config.seed], "repetitions": seeds}
    made = {}
    for arm, roster in rosters.items():
        taken = [swap.seat] if swap is not None and arm == SWAPPED else []
        values = resolved(roster) | {
            "tournament": meetings,
            "study": None,
            "fork": {"journal": journal_digest(journal), "step": step, "taken": taken},
        }
        for entry in values["retailers"]:
            entry["plays"] = None
        made[arm] = configure(values, "the fork")
    return made


def begin(journal: Path, target: Path, header: Header) -> int:
    """Write the beginning of a fork's journal, up to its step; it appears whole or not at all.

    Args:
        journal: The recorded episode.
        target: Where the fork's journal is to be.
        header: Its header.

    Returns:
        Batches that were taken over.

    Raises:
        ReplayError: If the recording does not come to the step, or is of another game.
        market.journal.JournalError: If a journal is damaged or cannot be written.
    """
    source = read(journal)
    step = int(header.config["fork"]["step"])
    environment = build(header)
    asked = environment.start()
    shown = Chain(source.header.digest)
    batches = 0
    target.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=target.parent, prefix=".fork-") as folder:
        part = Path(folder) / target.name
        with JournalWriter.create(part, header) as writer:
            for batch in source.batches:
                if batch.step >= step:
                    break
                if not asked or shown.extend(asked) != batch.digest:
                    raise ReplayError(
                        f"{journal}, step {batch.step}, turn {batch.turn}: the game shows the "
                        "seats something else, so it cannot be forked."
                    )
                writer.append(asked, batch.answers)
                asked = environment.apply(batch.answers)
                batches += 1
        if not asked or asked[0].step != step:
            reached = max((batch.step for batch in source.batches), default=0)
            raise ReplayError(
                f"{journal} cannot be forked at step {step}: it is at step "
                f"{asked[0].step if asked else reached} after what is recorded before that."
            )
        part.replace(target)
    return batches


def outlooks(
    journal: Path, original: Sequence[Path], swapped: Sequence[Path] = ()
) -> tuple[Outlook, ...]:
    """What each seat comes to, from the finished journals of a fork.

    Args:
        journal: The recorded episode.
        original: Journals of the arm with the recorded roster.
        swapped: Those of the other arm; repetitions of which one is missing are left out.
    """
    past = read(journal).result
    ours, theirs = _scores(original), _scores(swapped)
    both = sorted(ours.keys() & theirs.keys()) if swapped else sorted(ours)
    seats = dict.fromkeys(seat for scores in ours.values() for seat in scores)
    found = []
    for seat in seats:
        plain = [ours[luck][seat] for luck in both]
        known = past.seats[seat].score if past else None
        if not swapped:
            found.append(Outlook(seat, known, intervals.mean(plain)))
            continue
        other = [theirs[luck][seat] for luck in both]
        gains = [b - a for a, b in zip(plain, other, strict=True)]
        found.append(
            Outlook(
                seat, known, intervals.mean(plain), intervals.mean(other), intervals.mean(gains)
            )
        )
    return tuple(found)


def _scores(journals: Sequence[Path]) -> dict[int, dict[str, float]]:
    """Scores by the seed of a fork's luck, of the finished ones."""
    found = {}
    for path in journals:
        journal = read(path)
        result: Result | None = journal.result
        if result is not None:
            luck = int(journal.header.config["fork"]["seed"])
            found[luck] = {seat: ended.score for seat, ended in result.seats.items()}
    return found
