"""How far a run is, from its records alone: nothing that plays it is asked, or need be alive.

What is planned stands in `config.json`; what was played in the journals; what was paid in the
answer logs. An unfinished episode is *running* while somebody holds its journal's lock, which the
kernel takes back from a process that was killed. Without a holder it is *failed* if an `error.txt`
lies beside the journal, and else *owed*. Both are gone on with by `--resume`.
"""

from __future__ import annotations

import fcntl
import json
import os
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from enum import StrEnum
from pathlib import Path

from pydantic import ValidationError

from actors.budget import unsure_tries
from actors.errors import UserError
from actors.language.prices import FREE
from market import registry
from market.calls import CallLogError, CallRecord, Calls, Outcome, read_calls, unsettled
from market.config import ConfigError, documents
from market.config.plans import expand
from market.config.schema import Config, parse
from market.environment import Json
from market.journal import JournalError, JournalReader, has_header
from market.registry import UnknownNameError

#: Longest note, in characters.
MOST_NOTE = 300


class State(StrEnum):
    """How an episode stands."""

    FINISHED = "finished"  #: its journal holds the result
    RUNNING = "running"  #: somebody writes its journal
    OWED = "owed"  #: begun, unfinished, and nobody is at it
    FAILED = "failed"  #: the same, and an error was left; or the records are damaged
    NOT_BEGUN = "not begun"  #: planned, without a journal


@dataclass(frozen=True, slots=True)
class Spend:
    """What model calls took. None is unknown, never 0.

    Attributes:
        calls: Calls that were answered by a model.
        tokens: Tokens read and written by them.
        cost_usd: Price, lost calls and unsure tries included.
        lost: Calls that were sent and never answered; what they cost nobody knows.
        in_flight: Calls that were sent by an episode that is running, and may yet be answered.
        unsure: Tries that failed and may have been worked on all the same; nor of these.
        cached: Answers that came from the response cache: nothing was sent or spent for them.
        unread: Answer logs that cannot be read; of the calls in them nobody knows.
    """

    calls: int = 0
    tokens: int | None = 0
    cost_usd: float | None = 0.0
    lost: int = 0
    in_flight: int = 0
    unsure: int = 0
    cached: int = 0
    unread: int = 0

    def __add__(self, other: Spend) -> Spend:
        tokens, cost = (self.tokens, other.tokens), (self.cost_usd, other.cost_usd)
        return Spend(
            self.calls + other.calls,
            None if None in tokens else sum(filter(None, tokens)),
            None if None in cost else sum(filter(None, cost), 0.0),
            self.lost + other.lost,
            self.in_flight + other.in_flight,
            self.unsure + other.unsure,
            self.cached + other.cached,
            self.unread + other.unread,
        )


@dataclass(frozen=True, slots=True)
class EpisodeStatus:
    """One episode.

    Attributes:
        id: Its id.
        state: How it stands.
        steps_done: Steps that are over.
        steps: Steps in all; None where the rules do not say.
        spend: What its model calls took.
        note: Why it is owed or failed, or which of its records is damaged, in one line, where that
            is known.
        planned: Whether `config.json` asks for it.
    """

    id: str
    state: State
    steps_done: int
    steps: int | None
    spend: Spend
    note: str | None
    planned: bool


@dataclass(frozen=True, slots=True)
class RunStatus:
    """A run.

    Attributes:
        folder: Where.
        episodes: Its episodes, the planned ones first and in their order.
    """

    folder: Path
    episodes: tuple[EpisodeStatus, ...]

    @property
    def counts(self) -> dict[State, int]:
        """Episodes by state."""
        states = [episode.state for episode in self.episodes]
        return {state: states.count(state) for state in State}

    @property
    def spend(self) -> Spend:
        """What all episodes took."""
        return sum((episode.spend for episode in self.episodes), Spend())

    @property
    def steps_done(self) -> int:
        """Steps that are over, in all episodes."""
        return sum(episode.steps_done for episode in self.episodes)

    @property
    def steps(self) -> int | None:
        """Steps of all episodes; None where one is unknown."""
        each = [episode.steps for episode in self.episodes]
        return None if None in each else sum(filter(None, each))

    def json(self) -> dict[str, Json]:
        """Everything, for programs."""
        return {
            "folder": str(self.folder),
            "episodes": dict(self.counts),
            "steps": {"done": self.steps_done, "total": self.steps},
            "spend": asdict(self.spend),
            "each": [asdict(episode) for episode in self.episodes],
        }


def status(folder: Path) -> RunStatus:
    """How far a run is.

    Args:
        folder: Its folder.

    Raises:
        UserError: If the folder holds no run.
        ConfigError: If its `config.json` cannot be read.
    """
    planned = _planned(folder / "config.json")
    found = {path.parent.name for path in folder.glob("episodes/*/journal.jsonl")}
    found |= {path.parent.name for path in folder.glob("episodes/*/error.txt")}
    if not planned and not found:
        raise UserError(f"{folder} holds no run; name the folder of one.")
    others = dict.fromkeys(sorted(found - planned.keys()))
    return RunStatus(
        folder,
        tuple(
            episode_status(folder / "episodes" / episode, steps, episode in planned)
            for episode, steps in {**planned, **others}.items()
        ),
    )


def as_json(found: RunStatus) -> str:
    """A status for programs."""
    return json.dumps(found.json(), indent=2) + "\n"


def as_text(found: RunStatus) -> str:
    """A status for people: totals, then one line per episode."""
    counts = ", ".join(f"{count} {state}" for state, count in found.counts.items() if count)
    lines = [f"episodes: {counts}", f"steps: {_of(found.steps_done, found.steps)}"]
    if found.spend != Spend():
        lines.append(f"spent: {spent(found.spend)}")
    width = max(len(episode.id) for episode in found.episodes)
    for episode in found.episodes:
        cells = [
            f"{episode.id:<{width}}",
            f"{episode.state:<9}",
            f"step {_of(episode.steps_done, episode.steps)}",
        ]
        cells += [spent(episode.spend)] if episode.spend != Spend() else []
        cells += [episode.note] if episode.note else []
        cells += [] if episode.planned else ["(not in config.json)"]
        lines.append("  ".join(cells))
    return "\n".join(lines) + "\n"


def _planned(path: Path) -> dict[str, int | None]:
    """The steps of each episode that a configuration asks for; none without a configuration."""
    if not path.exists():
        return {}
    # It was checked when it was written; that again would need the user's own policies.
    try:
        plans = expand(parse(Config, documents.read(path)))
        return {plan.id: _steps(plan.config.environment, plan.config.rules) for plan in plans}
    except (ValidationError, UnknownNameError, ValueError) as error:
        if isinstance(error, ConfigError):
            raise
        raise ConfigError(f"{path} is no configuration of this version: {error}.") from error


def _steps(environment: str, rules: Mapping[str, Json]) -> int | None:
    try:
        model = registry.load(registry.environment_kind(environment).rules)
        return int(parse(model, rules).steps)
    except (UnknownNameError, ValidationError, AttributeError):
        return None


def episode_status(folder: Path, steps: int | None, planned: bool) -> EpisodeStatus:
    """How an episode stands.

    Args:
        folder: Its folder.
        steps: Its steps; None where only its journal knows.
        planned: Whether the configuration asks for it.
    """
    journal = folder / "journal.jsonl"
    # First the lock: whoever finishes while we read has let it go after the result was written.
    held = is_held(journal)
    done, note, over, damage = 0, None, False, []
    try:
        if journal.exists() and has_header(journal):
            reader = JournalReader(journal)
            for batch in reader:
                done = max(done, batch.step - 1)
            over = reader.result is not None
            steps = steps or _steps(reader.header.environment, reader.header.config["rules"])
    except JournalError as error:
        damage.append(str(error))
    log = Calls()
    try:
        log = read_calls(folder / "calls.jsonl")
        spend = _spend(log, held)
    except CallLogError as error:
        damage.append(str(error))
        spend = Spend(tokens=None, cost_usd=None, unread=1)
    if damage:
        note = "; ".join(damage).replace(f"{folder}{os.sep}", "")
    if over:
        state, done = State.FINISHED, steps or done + 1
    elif held:
        state = State.RUNNING
    elif damage or (folder / "error.txt").exists():
        state, note = State.FAILED, note or _last_line(folder / "error.txt")
    elif journal.exists():
        state, note = State.OWED, _reason(log)
    else:
        state = State.NOT_BEGUN
    return EpisodeStatus(folder.name, state, done, steps, spend, note and _line(note), planned)


def is_held(path: Path) -> bool:
    """Whether somebody holds the lock of a file."""
    try:
        descriptor = os.open(path.with_name(path.name + ".lock"), os.O_RDONLY)
    except FileNotFoundError:
        return False
    try:
        fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    finally:
        os.close(descriptor)
    return False


def _spend(log: Calls, running: bool) -> Spend:
    replies = [call.reply.usage for call in log.records if call.reply is not None]
    spends = [
        Spend(cached=1)
        if usage.cached
        else Spend(1, _sum(usage.prompt_tokens, usage.completion_tokens), usage.cost_usd)
        for usage in replies
    ]
    lost = [call for call in log.records if call.outcome is Outcome.LOST]
    pending = list(unsettled(log).values())
    if running:
        spends.append(Spend(in_flight=len(pending)))
    else:
        lost += pending
    spends += [Spend(cost_usd=_unknown(call), lost=1) for call in lost]
    for call in log.records:
        if call.outcome is not Outcome.LOST and (tries := unsure_tries(call)):
            spends.append(Spend(cost_usd=_unknown(call), unsure=tries))
    return sum(spends, Spend())


def _unknown(call: CallRecord) -> float | None:
    return 0.0 if call.model in FREE else None


def _sum(one: int | None, other: int | None) -> int | None:
    return None if one is None or other is None else one + other


def _reason(log: Calls) -> str | None:
    """What a provider said last, if nothing came after it."""
    last = log.records[-1] if log.records else None
    return last.error if last and last.outcome is Outcome.PROVIDER_FAILED else None


def _last_line(path: Path) -> str | None:
    text = path.read_text(encoding="utf-8", errors="replace")
    return next((line for line in reversed(text.splitlines()) if line.strip()), None)


def _line(text: str) -> str:
    """Somebody else's text as one bounded line without control characters."""
    line = " ".join("".join(c if c.isprintable() else " " for c in text).split())
    return line if len(line) <= MOST_NOTE else f"{line[: MOST_NOTE - 3]}..."


def _of(done: int, total: int | None) -> str:
    return f"{done:,} of {total:,}" if total is not None else f"{done:,}"


def spent(spend: Spend) -> str:
    """Calls, tokens and costs, for people."""
    tokens = "tokens unknown" if spend.tokens is None else f"{spend.tokens:,} tokens"
    cost = "cost unknown" if spend.cost_usd is None else f"${spend.cost_usd:,.4f}"
    parts = [f"{spend.calls:,} model calls", tokens, cost]
    parts += [f"{spend.lost:,} lost"] if spend.lost else []
    parts += [f"{spend.unsure:,} tries unsure"] if spend.unsure else []
    parts += [f"{spend.in_flight:,} in flight"] if spend.in_flight else []
    parts += [f"{spend.cached:,} answers from the cache"] if spend.cached else []
    parts += [f"{spend.unread:,} answer logs unreadable"] if spend.unread else []
    return ", ".join(parts)
