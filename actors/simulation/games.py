"""What is played under faults: small tournaments whose every answer leaves a trace to the end.

The market of `Stalls` is a sum: every answer, fact and missed turn changes what everybody is
shown from then on, so that whatever is lost, doubled or swapped shows in the bytes of the journal.
Agents fail too, as agents do: policies raise, their processes die or hang, models refuse and
write nonsense. That is part of the game, drawn from its content alone, and so the same whatever
the infrastructure does.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from pydantic import BaseModel

from actors.simulation.limits import MODEL
from market import answers, canonical
from market.config import Config
from market.config.plans import EpisodePlan
from market.environment import (
    OUTSIDE,
    Answer,
    Answers,
    ContractError,
    Decision,
    Decisions,
    Event,
    Form,
    Json,
    NoAction,
    Observation,
    Result,
    SeatResult,
    check_answers,
)
from market.language import Message
from market.policies.policy import History, Policy
from market.registry import EnvironmentKind
from market.rng import draws

MODULE = "actors.simulation.games"

#: Tournaments that seeds choose from. Each is played undisturbed once, which takes a while.
VARIANTS = 24

OFFER = Form(
    schema={
        "type": "object",
        "properties": {"amount": {"type": "integer", "minimum": 0, "maximum": 999}},
        "required": ["amount"],
        "additionalProperties": False,
    },
    example={"amount": 7},
)
FACT = Form(schema={"type": "object", "required": ["fact"]}, example={"fact": 0})


class StallsRules(BaseModel, extra="forbid"):
    """How long the market lasts."""

    steps: int = 2
    turns: int = 2


class Stalls:
    """A market of sums: `turns` offers a step, then a fact from outside."""

    def __init__(self, rules: StallsRules, seats: tuple[str, ...], seed: int) -> None:
        self.seats = seats
        self.rules: Mapping[str, Json] = {"environment": "stalls", **rules.model_dump()}
        self.forms = {"offer": OFFER, "fact": FACT}
        self._rules = rules
        self._sum = seed
        self._purses = dict.fromkeys(seats, 0)
        self._step, self._turn = 1, 0
        self._asked: Decisions = ()
        self.events: list[Event] = []

    def start(self) -> Decisions:
        """Ask the first offers."""
        self._asked = self._ask()
        return self._asked

    def apply(self, answers: Answers) -> Decisions:
        """Add up what was answered."""
        check_answers(self._asked, answers)
        for decision in self._asked:
            self._add(decision.seat, answers[decision.seat])
        self._turn += 1
        if self._turn > self._rules.turns:
            self._step, self._turn = self._step + 1, 0
        self._asked = self._ask() if self._step <= self._rules.steps else ()
        return self._asked

    @property
    def standings(self) -> Mapping[str, Mapping[str, int]]:
        """What each has."""
        return {seat: {"purse": purse} for seat, purse in self._purses.items()}

    @property
    def result(self) -> Result:
        """What each has in the end."""
        if self._asked:
            raise ContractError("the episode is not over")
        seats = {seat: SeatResult(purse, {}) for seat, purse in self._purses.items()}
        return Result(seats, {"sum": self._sum})

    def _ask(self) -> Decisions:
        public = {"sum": self._sum}
        if self._turn == self._rules.turns:
            observation = Observation(self.rules, public, {})
            return (Decision(self._step, self._turn, OUTSIDE, "fact", observation, FACT),)
        return tuple(
            Decision(
                self._step,
                self._turn,
                seat,
                "offer",
                Observation(self.rules, public, {"seat": seat, "purse": purse}),
                OFFER,
            )
            for seat, purse in self._purses.items()
        )

    def _add(self, seat: str, answer: Answer | NoAction) -> None:
        if isinstance(answer, NoAction):
            amount = len(answer.cause)
        elif seat == OUTSIDE:
            amount = answer.action["fact"]
        else:
            amount = answer.action["amount"]
            self._purses[seat] += amount
        self._sum = (self._sum * 31 + amount * 7 + len(seat)) % 1_000_003


@dataclass
class Keeper(Policy):
    """Offers what follows from all that it ever saw and offered, and raises at times.

    Attributes:
        raises: How likely it raises.
    """

    raises: float = 0.0

    def __post_init__(self) -> None:
        self._memory = self.seed

    def act(self, decision: Decision) -> Answer:
        """Offer."""
        seen = decision.observation
        self._memory = (self._memory * 131 + seen.public["sum"] + seen.private["purse"]) % 999_983
        if self.draws(decision, "raises").uniform() < self.raises:
            self._memory += 1
            raise RuntimeError("stumbled")
        return Answer({"amount": self._memory % 1000})


class Told:
    """Puts decisions into few words. A whole past is in them: whoever lost it asks otherwise."""

    def __init__(self, *_: object, **__: object) -> None:
        """Take no settings."""

    def messages(self, history: History, decision: Decision, spare: int = 0) -> tuple[Message, ...]:  # noqa: ARG002
        """The past as a digest, and what is seen."""
        past = [[one.observation.public, answers.dump(given)] for one, given in history]
        told = [canonical.digest(canonical.dumps(past)), decision.step, decision.turn]
        seen = [decision.observation.public, decision.observation.private]
        return Message("system", "Offer."), Message("user", canonical.dumps([told, seen]))

    def example(self, decision: Decision) -> Json:
        """An offer."""
        return decision.form.example

    def schema(self, decision: Decision, tokens: int) -> Mapping[str, Json]:  # noqa: ARG002
        """The form's own."""
        return decision.form.schema


ENVIRONMENT = EnvironmentKind(
    name="stalls",
    rules_version=1,
    rules=f"{MODULE}:StallsRules",
    environment=f"{MODULE}:Stalls",
    prompts=f"{MODULE}:Told",
)


@dataclass(frozen=True)
class Game:
    """A tournament to be played.

    Attributes:
        plans: Its episodes.
        seed: What everything in it follows from.
        troubled: How likely an ask takes its process down, or hangs it.
    """

    plans: tuple[EpisodePlan, ...]
    seed: int
    troubled: float

    def trouble(self, seat: str, step: int, turn: int) -> str:
        """What a seat does to its process on a turn: `dies`, `hangs` or nothing."""
        draw = draws(self.seed, "trouble", step, turn, seat).uniform()
        return "dies" if draw < self.troubled else "hangs" if draw < 2 * self.troubled else ""


@lru_cache(maxsize=VARIANTS)
def game(variant: int) -> Game:
    """One of the tournaments."""
    chance = draws(variant, "game")
    models = chance.integer(1, 3)
    keepers = chance.integer(0 if models == 3 else 1, 4 - models)
    entries: list[dict[str, Any]] = [
        {
            "name": "model",
            "policy": "llm",
            "count": models,
            "options": {"model": MODEL, "reasks": chance.integer(0, 2)},
        }
    ]
    if variant % 8 == 7:  # nothing is paid for, and no line is synced
        entries, keepers = [], 3
    if keepers:
        raises = chance.choice((0.0, 0.2))
        entries.append(
            {"name": "keeper", "policy": f"{MODULE}:Keeper", "count": keepers}
            | {"options": {"raises": raises}}
        )
    config = Config.model_validate(
        {
            "name": "stalls",
            "environment": f"{MODULE}:ENVIRONMENT",
            "seed": variant,
            "rules": {"steps": 2, "turns": 2},
            "retailers": entries,
            "retailers_per_actor": chance.integer(1, 3),
        }
    )
    plans = tuple(
        EpisodePlan(f"seed-{seed}", config.model_copy(update={"seed": seed}), None, "all", seed, 1)
        for seed in range(variant, variant + chance.choice((1, 2)))
    )
    return Game(plans, variant, chance.choice((0.0, 0.15)))


def fact(decision: Decision) -> Answer:
    """What the outside knows."""
    spelled = canonical.dumps([decision.step, decision.observation.public])
    return Answer({"fact": int(canonical.digest(spelled)[:6], 16) % 1000})
