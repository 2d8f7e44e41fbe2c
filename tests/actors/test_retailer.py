"""A host of retailers lets nothing past that is no answer."""

from __future__ import annotations

import pickle
from dataclasses import replace

import pytest

from actors.retailer import Ask, Casting, Retailers, Said, Silent, Stage
from market import answers
from market.arena.rules import ArenaRules
from market.arena.views import answer_forms
from market.config import load, rules
from market.environment import Answer, Cause, Decision, Form, Observation
from tests.actors import own_policies
from tests.actors.own_policies import HOSTILE, SLOGANS

HERE = "tests.actors.own_policies"


@pytest.fixture(scope="module")
def stage() -> Stage:
    arena = rules(load("arena/paper"))
    assert isinstance(arena, ArenaRules)
    return Stage({}, answer_forms(arena))


def ask(*seats: str, step: int = 1, turn: int = 0, kind: str = "bid") -> Ask:
    private = {"stock": {"item1": {"units": 2, "cost": 100}}}
    return Ask(step, turn, {}, dict.fromkeys(seats, (kind, private)))


def cast(seat: str, policy: str, **options: object) -> Casting:
    return Casting(seat, f"{HERE}:{policy}", options, seed=1)


def test_an_answer_becomes_its_canonical_text(stage: Stage) -> None:
    outcome = Retailers([cast("a", "Plain")], stage).act(ask("a"))["a"]
    assert isinstance(outcome, Said)
    assert outcome.text == '{"action":{"bids":[{"item":"item1","price":50,"quantity":2}]}}'


def test_an_exception_costs_only_its_own_seat(stage: Stage) -> None:
    hosted = Retailers([cast("a", "Raises"), cast("b", "Plain")], stage)
    outcomes = hosted.act(ask("a", "b"))
    assert isinstance(outcomes["a"], Silent)
    assert outcomes["a"].cause is Cause.CRASHED
    assert "I always do that" in outcomes["a"].detail
    assert isinstance(outcomes["b"], Said)


def test_a_policy_that_cannot_be_built_crashes_when_asked(stage: Stage) -> None:
    outcome = Retailers([cast("a", "Plain", unknown=1)], stage).act(ask("a"))["a"]
    assert isinstance(outcome, Silent)
    assert outcome.cause is Cause.CRASHED
    assert "cannot be built" in outcome.detail


@pytest.mark.parametrize("name", ["text", "nothing", "number", "nan", "infinite", "fraction"])
def test_what_is_not_of_the_form_is_malformed(stage: Stage, name: str) -> None:
    outcome = Retailers([cast("a", "Hostile", action=name)], stage).act(ask("a"))["a"]
    assert isinstance(outcome, Silent)
    assert outcome.cause is Cause.MALFORMED
    assert outcome.detail


@pytest.mark.parametrize("name", ["extra", "object", "surrogate", "megabytes", "digits"])
def test_what_no_journal_could_hold_is_malformed(stage: Stage, name: str) -> None:
    outcome = Retailers([cast("a", "Hostile", action=name)], stage).act(ask("a"))["a"]
    assert isinstance(outcome, Silent)
    assert outcome.cause is Cause.MALFORMED
    assert len(outcome.detail) <= 2_000


@pytest.mark.parametrize("name", ["negative", "enormous", "unknown"])
def test_what_only_breaks_a_rule_is_left_to_the_market(stage: Stage, name: str) -> None:
    outcome = Retailers([cast("a", "Hostile", action=name)], stage).act(ask("a"))["a"]
    assert isinstance(outcome, Said)
    assert answers.load(outcome.text) == Answer(HOSTILE[name])


@pytest.mark.parametrize("name", ["ten megabytes", "surrogate"])
def test_a_slogan_that_no_journal_could_hold_is_malformed(stage: Stage, name: str) -> None:
    hosted = Retailers([cast("a", "Hostile", slogan=name)], stage)
    outcome = hosted.act(ask("a", kind="sell"))["a"]
    assert isinstance(outcome, Silent)
    assert outcome.cause is Cause.MALFORMED


@pytest.mark.parametrize("name", ["script", "control", "bidi", "orders"])
def test_a_slogan_that_is_only_hostile_is_passed_on_as_it_is(stage: Stage, name: str) -> None:
    hosted = Retailers([cast("a", "Hostile", slogan=name)], stage)
    outcome = hosted.act(ask("a", kind="sell"))["a"]
    assert isinstance(outcome, Said)
    answer = answers.load(outcome.text)
    assert isinstance(answer, Answer)
    assert answer.action["slogan"] == SLOGANS[name]


def test_restore_gives_a_fresh_policy_its_memory(stage: Stage) -> None:
    hosted = Retailers([cast("a", "Counts")], stage)
    past = []
    for step in (1, 2):
        asked = ask("a", step=step)
        given = hosted.act(asked)["a"]
        assert isinstance(given, Said)
        past.append((asked, given))
    fresh = Retailers([cast("a", "Counts")], stage)
    fresh.restore({"a": past})
    outcome = fresh.act(ask("a", step=3))["a"]
    assert isinstance(outcome, Said)
    assert '"asked":3' in outcome.text


def test_a_turn_that_never_returned_leaves_no_trace_in_memory(stage: Stage) -> None:
    hosted = Retailers([cast("a", "Counts")], stage)
    first = ask("a")
    given = hosted.act(first)["a"]
    assert isinstance(given, Said)
    hosted.restore({"a": [(first, given), (ask("a", turn=1), Silent(Cause.LATE))]})
    outcome = hosted.act(ask("a", step=2))["a"]
    assert isinstance(outcome, Said)
    assert '"asked":2' in outcome.text


def test_a_policy_that_contradicts_its_past_is_out_with_the_reason(stage: Stage) -> None:
    hosted = Retailers([cast("a", "Counts")], stage)
    hosted.restore({"a": [(ask("a"), Said('{"action":{"bids":[]},"said":{"asked":7}}'))]})
    outcome = hosted.act(ask("a", step=2))["a"]
    assert isinstance(outcome, Silent)
    assert "cannot be rebuilt from its history" in outcome.detail


def test_hostile_examples_cover_their_tests() -> None:
    tested = {"text", "nothing", "number", "nan", "infinite", "fraction", "extra", "object"}
    tested |= {"surrogate", "megabytes", "digits", "negative", "enormous", "unknown"}
    assert tested == own_policies.HOSTILE.keys()


def test_only_the_text_of_an_answer_and_the_views_of_an_ask_travel() -> None:
    said = pickle.loads(pickle.dumps(Said('{"action":1}', Answer(1))))
    assert said == Said('{"action":1}')
    assert said.answer is None
    asked = ask("a")
    decision = Decision(1, 0, "a", "bid", Observation({}, {}, {}), Form({}, None))
    told = pickle.loads(pickle.dumps(replace(asked, decisions={"a": decision})))
    assert told == asked
    assert told.decisions is None
