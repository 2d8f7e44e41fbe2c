"""The conversation that a prompt is, and the budget that it keeps to."""

from __future__ import annotations

import pytest

from market.arena.prompts import ArenaPrompts
from market.environment import Answer, Cause, Decision, NoAction
from market.policies.prompts import NO_ANSWER
from market.policies.tokens import estimate_messages
from tests.market.arena.told_market import BID, history_and_decision, rules, turns
from tests.market.arena.told_prompts import BUDGETS, WORDED, prompt


@WORDED
@pytest.mark.parametrize("tokens", BUDGETS)
def test_the_rules_are_equal_for_all_seats_and_steps(tokens: int, wording: int) -> None:
    told = {prompt(tokens, step, turn, None, wording)[0] for step in (1, 3, 6) for turn in range(3)}
    other = Decision(1, 0, "other", "bid", history_and_decision(rules(), 1, 0)[1].observation, BID)
    assert told == {ArenaPrompts(tokens, wording=wording).messages([], other)[0]}


@pytest.mark.parametrize("tokens", [1_000, 2_000, 6_000])
@pytest.mark.parametrize(("retailers", "items"), [(20, 8), (4, 3)])
def test_within_a_step_a_prompt_only_grows(tokens: int, retailers: int, items: int) -> None:
    for step in (1, 2, 6):
        told = [prompt(tokens, step, turn, rules(retailers, items)) for turn in range(3)]
        assert [len(messages) for messages in told] == [2, 4, 6]
        assert told[2][:4] == told[1]
        assert told[1][:2] == told[0]
        roles = [message.role for message in told[2]]
        assert roles == ["system", "user", "assistant", "user", "assistant", "user"]


@WORDED
@pytest.mark.parametrize("tokens", BUDGETS)
@pytest.mark.parametrize(("lines", "held"), [(0, 0), (4, 4), (6, 8), (24, 8)])
def test_no_prompt_outgrows_its_budget(tokens: int, lines: int, held: int, wording: int) -> None:
    for step in (1, 2, 6):
        for turn in range(3):
            messages = prompt(tokens, step, turn, None, wording, lines=lines, held=held)
            assert estimate_messages(messages) <= tokens


@pytest.mark.parametrize("lines", [0, 1, 2, 4])
def test_the_smallest_budget_still_tells_what_the_last_step_brought(lines: int) -> None:
    text = prompt(800, 3, 0, lines=lines)[1].content
    assert "Step 2: your profit 1237; you sold" in text


@pytest.mark.parametrize("spare", [50, 200])
@pytest.mark.parametrize("tokens", [1_000, 2_000, 6_000])
def test_room_is_left_for_words_that_will_be_added(tokens: int, spare: int) -> None:
    for turn in range(3):
        past, decision = history_and_decision(rules(), 3, turn)
        messages = ArenaPrompts(tokens).messages(past, decision, spare)
        assert estimate_messages(messages) <= tokens - spare


def test_the_second_round_of_the_smallest_budget_still_extends_the_first() -> None:
    for step in (1, 6):
        first, second = (prompt(800, step, turn, lines=6, held=8) for turn in (0, 1))
        assert second[: len(first)] == first


def test_when_long_answers_fill_the_budget_the_own_state_is_told_again() -> None:
    messages = prompt(800, 2, 1, lines=24, held=3)
    assert [message.role for message in messages] == ["system", "user"]
    assert "Stock (units@cost): item1 9@52, item2 9@52, item3 9@152." in messages[1].content


@WORDED
@pytest.mark.parametrize("tokens", BUDGETS)
def test_the_own_state_is_always_whole(tokens: int, wording: int) -> None:
    for turn in (0, 2):
        text = prompt(tokens, 4, turn, None, wording, held=8)[-1].content
        _past, decision = history_and_decision(rules(), 4, turn, held=8)
        private = decision.observation.private
        assert f"unds{' at hand' * (wording == 2)}{':' * (wording > 0)} {private['funds']}." in text
        for item, lot in private["stock"].items():
            assert f"{item} {lot['units']}@{-(-lot['cost'] // lot['units'])}" in text


def test_history_is_told_newest_first_and_what_is_left_out_is_said() -> None:
    text = prompt(3_000, 6, 0)[1].content
    heads = [text.index(f"Step {step}: your profit") for step in (5, 4) if f"Step {step}:" in text]
    assert heads
    assert heads == sorted(heads)
    assert "Step 1: your profit" not in text
    assert text.count("(Left out: ") == 1
    (note,) = [line for line in text.splitlines() if line.startswith("(Left out")]
    assert "step" in note


def test_after_a_turn_without_an_action_the_same_message_goes_on() -> None:
    past: list[tuple[Decision, Answer | NoAction]] = [
        (decision, NoAction(Cause.REFUSED)) for decision, _ in turns(rules(4, 2), 1)
    ]
    messages = ArenaPrompts(6_000).messages(past[:2], past[2][0])
    assert [message.role for message in messages] == ["system", "user"]
    first = ArenaPrompts(6_000).messages([], past[0][0])[1].content
    assert messages[1].content.startswith(first)
    assert messages[1].content.count(NO_ANSWER) == 2
