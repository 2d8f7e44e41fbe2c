"""Hosts one retailer or several: builds their policies, asks them, and bounds what they say.

Plain synchronous code. In its own process it is wrapped by a Ray actor; inline it is called
directly. Nothing here waits for a network, and nothing a policy does gets past it: an exception
is a crash of that seat alone, and an answer that is not JSON of the asked form is malformed.
"""

from __future__ import annotations

import traceback
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import fastjsonschema

from market import answers, forms
from market.environment import Answer, Cause, Decision, Form, Json, NoAction, Observation
from market.language import Reply, Request
from market.policies.policy import Policy
from market.registry import load

#: Characters of an error that are kept.
DETAIL = 2_000


@dataclass(frozen=True, slots=True)
class Casting:
    """Who plays a seat.

    Attributes:
        seat: The seat.
        policy: `module:Class`, or the class itself when only the caller can import it.
        options: The policy's options.
        seed: Seed of the episode.
        since: The step at which it took the seat over; it is told nothing of earlier ones.
    """

    seat: str
    policy: str | type[Policy]
    options: Mapping[str, Json]
    seed: int
    since: int = 0


@dataclass(frozen=True, slots=True)
class Stage:
    """What holds for a whole episode and is told once: its rules and the forms of answers."""

    rules: Mapping[str, Json]
    forms: Mapping[str, Form]


@dataclass(frozen=True, slots=True)
class Ask:
    """The decisions of one batch, without what the stage already holds.

    Attributes:
        step: Step of the batch.
        turn: Turn of the batch.
        public: The public view.
        seats: For each asked seat, the kind of decision and the private view.
        decisions: The decisions themselves, in the process that asks them; they do not travel.
    """

    step: int
    turn: int
    public: Mapping[str, Json]
    seats: Mapping[str, tuple[str, Mapping[str, Json]]]
    decisions: Mapping[str, Decision] | None = field(default=None, compare=False, repr=False)

    def __reduce__(self) -> tuple[type[Ask], tuple[Any, ...]]:
        return Ask, (self.step, self.turn, self.public, self.seats)

    def only(self, seats: Sequence[str]) -> Ask:
        """The same batch for some of its seats."""
        return Ask(self.step, self.turn, self.public, {seat: self.seats[seat] for seat in seats})


@dataclass(frozen=True, slots=True)
class Said:
    """An answer, as `market.answers` spells it.

    Attributes:
        text: The spelling.
        answer: What is parsed back from it, where this process has done so; it does not travel.
    """

    text: str
    answer: Answer | None = field(default=None, compare=False, repr=False)

    def __reduce__(self) -> tuple[type[Said], tuple[str]]:
        return Said, (self.text,)

    @property
    def parsed(self) -> Answer | NoAction:
        """What its text says: what is applied."""
        return answers.load(self.text) if self.answer is None else self.answer


@dataclass(frozen=True, slots=True)
class Silent:
    """No answer: the cause, and what people need to mend it."""

    cause: Cause
    detail: str = ""

    @property
    def text(self) -> str:
        """The cause, as `market.answers` spells it."""
        return answers.dump(NoAction(self.cause))

    @property
    def parsed(self) -> NoAction:
        """What is applied."""
        return NoAction(self.cause)


Outcome = Said | Silent | Request

#: A seat's past as it travels: the ask it was part of and the text or cause that was recorded.
Past = Sequence[tuple[Ask, Said | Silent]]


class Retailers:
    """The policies of one process."""

    def __init__(self, castings: Sequence[Casting], stage: Stage) -> None:
        self._castings = {casting.seat: casting for casting in castings}
        self._stage = stage
        self._policies: dict[str, Policy] = {}
        self._broken: dict[str, str] = {}
        self._asked: dict[str, Decision] = {}
        for seat in self._castings:
            self._build(seat)

    def act(self, ask: Ask) -> dict[str, Outcome]:
        """Ask every seat of the batch that lives here."""
        outcomes = {}
        for seat in ask.seats:
            decision = self._asked[seat] = self._decision(ask, seat)
            outcomes[seat] = self._try(seat, "act", decision)
        return outcomes

    def resume(self, replies: Mapping[str, Reply]) -> dict[str, Outcome]:
        """Hand models' replies to the seats that asked for them."""
        return {seat: self._try(seat, "resume", reply) for seat, reply in replies.items()}

    def restore(self, pasts: Mapping[str, Past | Silent]) -> None:
        """Build fresh policies for some seats and give them their past.

        A seat of which only silence is known has lost its past and crashes from here on.
        """
        for seat, past in pasts.items():
            if isinstance(past, Silent):
                self._broken[seat] = past.detail
                continue
            self._build(seat)
            if seat in self._broken:
                continue
            since = self._castings[seat].since
            history = [
                (self._decision(ask, seat), answers.load(given.text))
                for ask, given in past
                if ask.step >= since
            ]
            try:
                self._policies[seat].recall(history)
            except (Exception, SystemExit):
                self._broken[seat] = f"cannot be rebuilt from its history: {_trace()}"

    def _build(self, seat: str) -> None:
        casting = self._castings[seat]
        self._broken.pop(seat, None)
        try:
            policy = casting.policy
            kind: Any = load(policy) if isinstance(policy, str) else policy
            self._policies[seat] = kind(seat=seat, seed=casting.seed, **casting.options)
        except (Exception, SystemExit):
            self._broken[seat] = f"cannot be built: {_trace()}"

    def _decision(self, ask: Ask, seat: str) -> Decision:
        if ask.decisions is not None:
            return ask.decisions[seat]
        kind, private = ask.seats[seat]
        observation = Observation(self._stage.rules, ask.public, private)
        return Decision(ask.step, ask.turn, seat, kind, observation, self._stage.forms[kind])

    def _try(self, seat: str, method: str, told: Decision | Reply) -> Outcome:
        if seat in self._broken:
            return Silent(Cause.CRASHED, self._broken[seat])
        try:
            given = getattr(self._policies[seat], method)(told)
        except (Exception, SystemExit):
            return Silent(Cause.CRASHED, _trace())
        if type(given) is Answer:
            return bounded(given, self._asked[seat].form)
        if isinstance(given, Request):
            return given
        if isinstance(given, NoAction):
            return Silent(given.cause)
        if not isinstance(given, Answer):
            return Silent(Cause.MALFORMED, f"`act` returned {type(given).__name__}, no Answer")
        return bounded(given, self._asked[seat].form)


def bounded(answer: Answer, form: Form, limit: int | None = forms.MAX_CHARACTERS) -> Said | Silent:
    """The text of an answer, or why it is none."""
    plain = forms.plainly(form, answer.action)
    try:
        text, parsed = answers.settled(answer, plain)
    except ValueError as error:
        return Silent(Cause.MALFORMED, str(error)[:DETAIL])
    if limit is not None and len(text) > limit:
        detail = f"an answer of {len(text):,} characters; {limit:,} at most"
        return Silent(Cause.MALFORMED, detail)
    try:
        if not plain:
            forms.validator(form)(answer.action)
    except fastjsonschema.JsonSchemaValueException as error:
        return Silent(Cause.MALFORMED, str(error.message)[:DETAIL])
    return Said(text, parsed)


def _trace() -> str:
    return traceback.format_exc(limit=-3)[-DETAIL:]
