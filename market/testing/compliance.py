"""Checks for environments and policies of one's own, to be called from a test.

    def test_my_market() -> None:
        environment_test(MY_MARKET, {}, ("a", "b", "c"), seed=0)

Each plays whole episodes and raises `ComplianceError`, with one sentence, at the first breach.
Two fresh instances run in lock step and everything they say is compared: a hidden source of
chance, a clock, an order that matters or a view that is changed afterwards does not survive that.
Conservation of money and goods is an environment's own, permanent check (`market.money`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from typing import Any

from market import answers as spelling
from market import canonical, forms, registry
from market.columns import columns
from market.environment import (
    OUTSIDE,
    Answer,
    Cause,
    ContractError,
    Decision,
    Decisions,
    Environment,
    Json,
    NoAction,
)
from market.journal import result_json
from market.language import Reply, Request
from market.policies.policy import Policy
from market.policies.random import Random
from market.registry import EnvironmentKind
from market.rng import draws

#: Answers a decision of the seat `outside`.
Outside = Callable[[Decision], Answer]

#: Makes a policy for a seat and a seed.
MakePolicy = Callable[[str, int], Policy]

#: Stands in for a model.
Model = Callable[[Request], Reply]

#: An episode longer than this is taken for endless.
MAX_BATCHES = 100_000


class ComplianceError(AssertionError):
    """An environment or a policy does not keep the contract; the message says where and how."""


def environment_test(
    kind: EnvironmentKind,
    rules: Mapping[str, Json],
    seats: Sequence[str],
    seed: int,
    outside: Outside | None = None,
) -> None:
    """Check an environment by playing it at random, then with seats that never act.

    Args:
        kind: The environment.
        rules: Its rules, as in a configuration.
        seats: Ids of the seats.
        seed: Seed of the episode.
        outside: Answers the seat `outside`; at random by default, which suits few forms.

    Raises:
        ComplianceError: At the first breach of the contract.
    """
    _play_twice(kind, rules, seats, seed, outside, acting=0.8)
    _play_twice(kind, rules, seats, seed, outside, acting=0.0)


def policy_test(
    make: MakePolicy,
    kind: EnvironmentKind,
    rules: Mapping[str, Json],
    seats: Sequence[str],
    seed: int,
    outside: Outside | None = None,
    model: Model | None = None,
) -> None:
    """Check a policy by letting it play every seat of an episode.

    Its answers must be of the form, it must leave observations alone, and its memory must be a
    pure function of its history: at the 1st, 2nd, 4th, 8th, ... decision of a seat a fresh policy
    recalls and must go on as the old one does.

    Args:
        make: Makes a policy of a seat id and a seed.
        kind: An environment it plays.
        rules: The environment's rules, as in a configuration.
        seats: Ids of the seats.
        seed: Seed of the episode.
        outside: Answers the seat `outside`; at random by default.
        model: Answers the requests of a policy that needs a model.

    Raises:
        ComplianceError: At the first breach of the contract.
        market.policies.policy.RecallError: If a recalled policy contradicts its history.
    """
    environment = _make(kind, rules, seats, seed)
    policies = {seat: make(seat, seed) for seat in seats}
    histories: dict[str, list[tuple[Decision, Answer | NoAction]]] = {seat: [] for seat in seats}
    facts = outside or _random_outside(seed)
    asked = environment.start()
    for _ in range(MAX_BATCHES):
        given: dict[str, Answer | NoAction] = {}
        for decision in asked:
            if decision.seat == OUTSIDE:
                given[OUTSIDE] = _parsed(facts(decision))
                continue
            history = histories[decision.seat]
            fresh = None
            if len(history) & (len(history) - 1) == 0:
                fresh = make(decision.seat, seed)
                fresh.recall(tuple(history))
            answer = _act(policies[decision.seat], fresh, decision, model)
            given[decision.seat] = answer
            history.append((decision, answer))
        asked = environment.apply(given)
        if not asked:
            return
    raise ComplianceError(f"the episode does not end within {MAX_BATCHES} batches")


def _act(
    policy: Policy, fresh: Policy | None, decision: Decision, model: Model | None
) -> Answer | NoAction:
    where = f"seat {decision.seat}, step {decision.step}, turn {decision.turn}"
    seen = _spelled(decision)
    first: Answer | NoAction | Request = policy.act(decision)
    if fresh is not None and fresh.act(decision) != first:
        raise ComplianceError(f"{where}: a policy that recalls acts differently")
    while isinstance(first, Request):
        if model is None:
            raise ComplianceError(f"{where}: the policy asks a model and the test has none")
        first = policy.resume(model(first))
    if _spelled(decision) != seen:
        raise ComplianceError(f"{where}: the policy changed what it was shown")
    answer = _parsed(first)
    if isinstance(answer, Answer):
        if answer != first:
            raise ComplianceError(f"{where}: the answer is not plain JSON, such as a tuple")
        if complaint := forms.check(decision.form, answer.action):
            raise ComplianceError(f"{where}: {complaint}")
        if len(spelling.dump(answer)) > forms.MAX_CHARACTERS:
            raise ComplianceError(
                f"{where}: the answer is longer than {forms.MAX_CHARACTERS} characters"
            )
    return answer


def _play_twice(
    kind: EnvironmentKind,
    rules: Mapping[str, Json],
    seats: Sequence[str],
    seed: int,
    outside: Outside | None,
    acting: float,
) -> None:
    one, two = _make(kind, rules, seats, seed), _make(kind, rules, seats, seed)
    _expect(one.seats == tuple(seats), "`seats` are not the seats it was given")
    events = registry.load(kind.events) if kind.events else ()
    for event in events:
        columns(event)
    facts = outside or _random_outside(seed)
    players = {seat: Random(seat, seed) for seat in seats}

    def answer(decision: Decision) -> Answer | NoAction:
        if decision.seat == OUTSIDE:
            return _parsed(facts(decision))
        chance = draws(seed, "compliance", decision.step, decision.turn, decision.seat)
        if chance.uniform() >= acting:
            return NoAction(chance.choice(tuple(Cause)))
        return _parsed(players[decision.seat].act(decision))

    _refuses("`result` before the start", lambda: one.result)
    asked, again = one.start(), two.start()
    before = (0, 0)
    for _ in range(MAX_BATCHES):
        _compare(one, two, asked, again, events)
        if not asked:
            break
        seen = [_spelled(decision) for decision in asked]
        before = _check_batch(one, asked, before)
        _refuses("`result` before the end", lambda: one.result)
        _refuses("answers of nobody", lambda: one.apply({}))
        given = {decision.seat: answer(decision) for decision in asked}
        last = asked
        asked = one.apply(given)
        again = two.apply({seat: given[seat] for seat in reversed(given)})
        _expect(
            [_spelled(decision) for decision in last] == seen,
            f"step {before[0]}, turn {before[1]}: an observation changed after it was shown",
        )
    else:
        raise ComplianceError(f"the episode does not end within {MAX_BATCHES} batches")
    _check_result(one, two, seats)


def _compare(
    one: Environment,
    two: Environment,
    asked: Decisions,
    again: Decisions,
    events: tuple[type[Any], ...],
) -> None:
    where = f"step {asked[0].step}, turn {asked[0].turn}" if asked else "the end"
    _expect(
        [_spelled(decision) for decision in asked] == [_spelled(decision) for decision in again],
        f"{where}: two fresh instances given equal answers ask differently",
    )
    for event in one.events:
        _expect(type(event) in events, f"{where}: {type(event).__name__} is not in `events`")
    _expect(
        _json(where, [asdict(event) for event in one.events])
        == _json(where, [asdict(event) for event in two.events]),
        f"{where}: two fresh instances given equal answers report other events",
    )
    _expect(
        _json(where, one.standings) == _json(where, two.standings),
        f"{where}: two fresh instances given equal answers stand differently",
    )


def _check_batch(
    environment: Environment, asked: Decisions, before: tuple[int, int]
) -> tuple[int, int]:
    """Check the decisions of one batch and return its step and turn."""
    step, turn = asked[0].step, asked[0].turn
    where = f"step {step}, turn {turn}"
    _expect(step >= 1 and turn >= 0 and (step, turn) > before, f"{where} comes after {before}")
    order = [*environment.seats, OUTSIDE]
    names = [decision.seat for decision in asked]
    _expect(set(names) <= set(order), f"{where}: asks seats that are not playing")
    _expect(len(set(names)) == len(names), f"{where}: asks a seat twice")
    _expect(names == sorted(names, key=order.index), f"{where}: asks out of seat order")
    for decision in asked:
        about = f"{where}, seat {decision.seat}"
        seen = decision.observation
        _expect((decision.step, decision.turn) == (step, turn), f"{about}: another step or turn")
        _expect(seen.rules == environment.rules, f"{about}: `rules` are not the environment's")
        _expect(
            decision.form == environment.forms.get(decision.kind),
            f"{about}: the form is not the environment's for `{decision.kind}`",
        )
        for view in (seen.rules, seen.public, seen.private):
            _expect(
                canonical.loads(_json(about, view)) == view, f"{about}: a view is no plain JSON"
            )
        complaint = forms.check(decision.form, decision.form.example)
        _expect(complaint is None, f"{about}: the form's own example is refused: {complaint}")
    return step, turn


def _check_result(one: Environment, two: Environment, seats: Sequence[str]) -> None:
    result = one.result
    _expect(
        _json("the result", result_json(result)) == _json("the result", result_json(two.result)),
        "two fresh instances given equal answers end differently",
    )
    _expect(set(result.seats) == set(seats), "the result is not about the seats that played")
    for seat, ended in result.seats.items():
        unexplained = {name for name, value in ended.metrics.items() if value is None}
        unexplained -= ended.undefined.keys()
        _expect(not unexplained, f"{seat}: no reason why {sorted(unexplained)} are undefined")


def _make(
    kind: EnvironmentKind, rules: Mapping[str, Json], seats: Sequence[str], seed: int
) -> Environment:
    model = registry.load(kind.rules).model_validate(dict(rules))
    environment: Environment = registry.load(kind.environment)(model, tuple(seats), seed)
    return environment


def _random_outside(seed: int) -> Outside:
    return Random(OUTSIDE, seed).act


def _parsed(answer: Answer | NoAction) -> Answer | NoAction:
    return spelling.load(spelling.dump(answer))


def _spelled(decision: Decision) -> str:
    where = f"seat {decision.seat}, step {decision.step}, turn {decision.turn}"
    return _json(where, asdict(decision))


def _json(where: str, value: Json) -> str:
    try:
        return canonical.dumps(value)
    except ValueError as error:
        raise ComplianceError(f"{where}: {error}") from error


def _refuses(what: str, call: Callable[[], object]) -> None:
    try:
        call()
    except ContractError:
        return
    raise ComplianceError(f"{what} must be a ContractError")


def _expect(kept: bool, breach: str) -> None:
    if not kept:
        raise ComplianceError(breach)
