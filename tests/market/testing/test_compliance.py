from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

import pytest

from actors.retailer import Said, Silent, bounded
from market import answers, forms
from market.environment import Answer, Answers, Decision, Decisions, Form, Observation, Result
from market.language import Message, ModelSettings, Reply, Request, Usage
from market.policies.idle import Idle
from market.policies.policy import Policy
from market.policies.random import Random
from market.testing.compliance import ComplianceError, environment_test, policy_test
from tests import lemonade

SEATS = ("ann", "bob", "cem")


@pytest.mark.parametrize("seed", [0, 1, -7])
def test_lemonade_keeps_the_contract(seed: int) -> None:
    environment_test(lemonade.ENVIRONMENT, {"days": 4}, SEATS, seed)
    environment_test(lemonade.ENVIRONMENT, {"turns": 1}, ("alone",), seed)


class Lucky(lemonade.Lemonade):
    """Draws from the global generator."""

    def _settle(self) -> None:
        super()._settle()
        self._yesterday = {"luck": random.random()}


class Hasty(lemonade.Lemonade):
    """Serves first whoever answered first."""

    _first = ""

    def apply(self, answers: Answers) -> Decisions:
        self._first = next(iter(answers), "")
        return super().apply(answers)

    def _observe(self, seat: str, public: Any) -> Any:
        seen = super()._observe(seat, public)
        return replace(seen, private={**seen.private, "first": self._first})


class Forgetful(lemonade.Lemonade):
    """Changes what it has shown."""

    def apply(self, answers: Answers) -> Decisions:
        for decision in self._asked:
            dict.clear(decision.observation.private)  # type: ignore[arg-type]
        return super().apply(answers)


class Tupled(lemonade.Lemonade):
    """Shows what is no plain JSON."""

    def _observe(self, seat: str, public: Any) -> Any:
        seen = super()._observe(seat, public)
        return replace(seen, private={**seen.private, "results": tuple(seen.private["results"])})


class Lax(lemonade.Lemonade):
    """Tells the result whenever asked."""

    @property
    def result(self) -> Result:
        return Result({})


class Disorderly(lemonade.Lemonade):
    """Asks in another order than that of the seats."""

    def _ask(self) -> Decisions:
        return super()._ask()[::-1]


class Taciturn(lemonade.Lemonade):
    """Does not say why a metric is undefined."""

    @property
    def result(self) -> Result:
        told = super().result
        return Result({seat: replace(end, undefined={}) for seat, end in told.seats.items()})


@pytest.mark.parametrize(
    ("broken", "breach"),
    [
        (Lucky, "ask differently"),
        (Hasty, "ask differently"),
        (Forgetful, "changed after it was shown"),
        (Tupled, "no plain JSON"),
        (Lax, "must be a ContractError"),
        (Disorderly, "out of seat order"),
        (Taciturn, "no reason why"),
    ],
)
def test_a_broken_environment_is_found_out(broken: type[lemonade.Lemonade], breach: str) -> None:
    kind = replace(lemonade.ENVIRONMENT, environment=f"{__name__}:{broken.__name__}")
    with pytest.raises(ComplianceError, match=breach):
        environment_test(kind, {}, SEATS, seed=0)


def test_an_event_that_the_environment_does_not_declare_is_found_out() -> None:
    kind = replace(lemonade.ENVIRONMENT, events="")
    with pytest.raises(ComplianceError, match="is not in `events`"):
        environment_test(kind, {}, SEATS, seed=0)


@pytest.mark.parametrize("policy", [Idle, Random])
def test_the_common_policies_keep_the_contract(policy: Callable[[str, int], Policy]) -> None:
    policy_test(policy, lemonade.ENVIRONMENT, {"days": 5}, SEATS, seed=0)


@dataclass
class Scripted(Policy):
    """Waits, in whichever way a test wants."""

    calls: list[int] = field(default_factory=list)

    def act(self, decision: Decision) -> Answer | Request:
        return Answer([])


class Illegal(Scripted):
    def act(self, decision: Decision) -> Answer:
        return Answer([{"tool": "steal", "arguments": {}}])


class Immutable(Scripted):
    def act(self, decision: Decision) -> Answer:
        return Answer(())


class Meddling(Scripted):
    def act(self, decision: Decision) -> Answer:
        dict.update(decision.observation.private, funds=10**9)  # type: ignore[arg-type]
        return Answer([])


class Moody(Scripted):
    """Says something else each time it is asked."""

    def act(self, decision: Decision) -> Answer:
        return Answer([], said=random.random())


class Verbose(Scripted):
    """Says as much as an answer may hold, in letters of two bytes, and then `more`."""

    more = ""

    def act(self, decision: Decision) -> Answer:
        room = forms.MAX_CHARACTERS - len(answers.dump(Answer([], said="")))
        return Answer([], said="é" * room + self.more)


class TooVerbose(Verbose):
    more = "!"


class Amnesiac(Scripted):
    """Has a memory that `recall` does not rebuild."""

    def act(self, decision: Decision) -> Answer:
        self.calls.append(1)
        return Answer([], said=len(self.calls))

    def recall(self, history: object) -> None:
        pass


class Asking(Scripted):
    def act(self, decision: Decision) -> Request:
        self.calls.append(1)
        return Request(ModelSettings("m"), (Message("user", f"{len(self.calls)}"),))

    def resume(self, reply: Reply) -> Answer:
        return Answer([], said=reply.text)

    def recall(self, history: Any) -> None:
        self.calls += [1] * len(history)


@pytest.mark.parametrize(
    ("policy", "breach"),
    [
        (Illegal, "step 1, turn 0: answer"),
        (Immutable, "not plain JSON"),
        (Meddling, "changed what it was shown"),
        (Moody, "acts differently"),
        (Amnesiac, "acts differently"),
        (TooVerbose, "longer than 65536 characters"),
        (Asking, "the test has none"),
    ],
)
def test_a_broken_policy_is_found_out(policy: type[Policy], breach: str) -> None:
    with pytest.raises(ComplianceError, match=breach):
        policy_test(policy, lemonade.ENVIRONMENT, {}, SEATS, seed=0)


def test_an_answer_may_be_as_long_as_retailers_take_it() -> None:
    policy_test(Verbose, lemonade.ENVIRONMENT, {}, SEATS, seed=0)
    form = Form({"type": "array"}, [])
    for policy, taken in ((Verbose, Said), (TooVerbose, Silent)):
        answer = policy("ann", 0).act(Decision(1, 0, "ann", "day", Observation({}, {}, {}), form))
        assert isinstance(bounded(answer, form), taken)


def test_a_policy_that_asks_a_model_is_tested_with_a_stand_in() -> None:
    asked: list[str] = []

    def model(request: Request) -> Reply:
        asked.append(request.messages[-1].content)
        return Reply("fine", "stop", Usage("m", None, None, None, None, 0.0))

    policy_test(Asking, lemonade.ENVIRONMENT, {}, SEATS, seed=0, model=model)
    assert asked == [str(day) for day in (1, 2, 3) for _ in SEATS]
