"""An environment whose every effect is known, its policies, and its tournaments as recorded.

Each seat names an amount. Its score is ten times that, less what all others name, plus luck that
belongs to its id. So putting one who names m in the place of one who names r is worth 10 (m - r) to
the seat and r - m to each other seat, on every seed, and nothing else changes.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

from pydantic import BaseModel, Field

from market.calls import CallLog, CallRecord, Outcome
from market.config import configure, expand, recorded, resolved
from market.config.plans import EpisodePlan
from market.environment import (
    Answer,
    Answers,
    Cause,
    Decision,
    Decisions,
    Event,
    Form,
    NoAction,
    Observation,
    Result,
    SeatResult,
    check_answers,
)
from market.journal import Header, JournalWriter
from market.language import Reply, Usage
from market.play import scripts
from market.policies.policy import Policy
from market.registry import EnvironmentKind
from market.replay import build_environment
from market.rng import draws

PURSE = "tests.market.study.purse:ENVIRONMENT"
NAMES = "tests.market.study.purse:Names"


class PurseRules(BaseModel, extra="forbid"):
    """How many steps."""

    steps: int = Field(default=1, ge=1)


@dataclass(frozen=True, slots=True)
class Named(Event):
    """What a seat named.

    Attributes:
        amount: Money named.
        reason: Why it counts as nothing; null where it counts.
    """

    table: ClassVar[str] = "named"

    amount: int
    reason: str | None


EVENTS: tuple[type[Event], ...] = (Named,)
FORM = Form({"type": "object", "properties": {"amount": {"type": "integer"}}}, {"amount": 1})


class Purse:
    """The environment."""

    def __init__(self, rules: PurseRules, seats: tuple[str, ...], seed: int) -> None:
        self.seats, self.rules, self.forms = seats, rules.model_dump(), {"name": FORM}
        self.standings: dict[str, dict[str, int]] = {seat: {} for seat in seats}
        self.events: list[Event] = []
        self._steps, self._seed = rules.steps, seed
        self._step = 1
        self._named = dict.fromkeys(seats, 0)
        self._asked: Decisions = ()

    def start(self) -> Decisions:
        view = Observation(self.rules, {"step": self._step}, {})
        self._asked = tuple(
            Decision(self._step, 0, seat, "name", view, FORM) for seat in self.seats
        )
        return self._asked

    def apply(self, answers: Answers) -> Decisions:
        check_answers(self._asked, answers)
        self.events = []
        for seat, answer in answers.items():
            if isinstance(answer, NoAction):
                continue
            amount = answer.action["amount"]
            reason = "negative" if amount < 0 else None
            self.events.append(Named(self._step, 0, seat, amount, reason))
            self._named[seat] += max(0, amount)
        self._step += 1
        self._asked = ()
        return self.start() if self._step <= self._steps else ()

    @property
    def result(self) -> Result:
        total = sum(self._named.values())
        seats = {
            seat: SeatResult(
                score=11 * named - total + draws(self._seed, "luck", seat).integer(-50, 50),
                metrics={"named": named, "taste": None},
                undefined={"taste": "nobody asked"},
            )
            for seat, named in self._named.items()
        }
        return Result(seats, {"pot": total})


@dataclass
class Names(Policy):
    """Names an amount."""

    amount: int = 1

    def act(self, decision: Decision) -> Answer:
        return Answer({"amount": self.amount})


ENVIRONMENT = EnvironmentKind(
    name="purse",
    rules_version=1,
    rules="tests.market.study.purse:PurseRules",
    environment="tests.market.study.purse:Purse",
    events="tests.market.study.purse:EVENTS",
)


def pool(**amounts: int) -> list[dict[str, Any]]:
    """Retailers by the amounts that they name."""
    return [
        {"name": name, "policy": NAMES, "options": {"amount": amount}}
        for name, amount in amounts.items()
    ]


def tournament(
    folder: Path,
    rosters: list[Any],
    retailers: list[dict[str, Any]],
    seeds: int = 3,
    silent: Mapping[tuple[str, str], Cause] | None = None,
    begun: tuple[str, ...] = (),
    **more: Any,
) -> Path:
    """Play and record a tournament in this process.

    Args:
        folder: Where to.
        rosters: Its designs.
        retailers: Its pool.
        seeds: How many.
        silent: By episode and seat, why a seat does not act.
        begun: Episodes that are not played to their end.
        more: Other parts of the configuration.
    """
    values = {"environment": PURSE, "retailers": retailers, **more}
    values["tournament"] = {"rosters": rosters, "seeds": seeds, **more.get("tournament", {})}
    config = configure(values)
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "config.json").write_text(json.dumps(resolved(config)), encoding="utf-8")
    for plan in expand(config):
        play(folder, plan, silent or {}, plan.id in begun)
    return folder


def play(
    folder: Path, plan: EpisodePlan, silent: Mapping[tuple[str, str], Cause], cut: bool
) -> None:
    journal = folder / "episodes" / plan.id / "journal.jsonl"
    journal.parent.mkdir(parents=True)
    whole = recorded(plan.config)
    environment = build_environment(whole)
    players = scripts(plan.config, plan.seed)
    asked = environment.start()
    with JournalWriter.create(journal, Header.of(whole, 1, plan.id)) as writer:
        while asked:
            answers = {
                each.seat: NoAction(silent[plan.id, each.seat])
                if (plan.id, each.seat) in silent
                else players[each.seat](each)
                for each in asked
            }
            writer.append(asked, answers)
            asked = environment.apply(answers)
            if cut:
                return
        writer.finish(environment.result)


def paid(folder: Path, episode: str, seat: str, *costs: float | None, lost: bool = False) -> None:
    """Log model calls of a seat, each of which cost so much; None is unknown."""
    path = folder / "episodes" / episode / "calls.jsonl"
    with CallLog(path, {}) as log:
        for attempt, cost in enumerate(costs):
            usage = Usage("m", 100, 20, 0, cost, 1.0, 1)
            finish = "length" if attempt else "stop"
            log.append(CallRecord(episode, 1, 0, seat, attempt, Outcome.SENT, "x/m"))
            reply = Reply("{}", finish, usage)
            log.append(
                CallRecord(episode, 1, 0, seat, attempt, Outcome.REPLIED, "x/m", reply=reply)
            )
        if lost:
            log.append(CallRecord(episode, 1, 0, seat, len(costs), Outcome.SENT, "x/m"))
