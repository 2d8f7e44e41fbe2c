"""What prompts keep of the past by each context policy."""

from __future__ import annotations

import json

import pytest

from market.arena.prompts import ArenaPrompts
from market.environment import Answer
from market.policies.context import Context
from market.policies.tokens import estimate_messages
from tests.market.arena.told_market import history_and_decision, rules, turns
from tests.market.arena.told_prompts import WORDED, prompt


def test_the_last_steps_are_all_that_is_told_where_that_is_asked_for() -> None:
    for steps in (1, 2):
        text = prompt(50_000, 6, 0, context=Context("last", steps))[1].content
        heads = [step for step in range(1, 6) if f"Step {step}: your profit" in text]
        assert heads == list(range(6 - steps, 6))


def test_a_notebook_replaces_all_but_the_news_of_the_last_step() -> None:
    past, decision = history_and_decision(rules(), 6, 0)
    written, given = past[4]
    assert isinstance(given, Answer)
    past[4] = written, Answer(given.action, {"notes": "buy tea"})
    prompts = ArenaPrompts(50_000, context=Context("notebook"))
    system, user = prompts.messages(past, decision)
    assert "`notes` in your answer is your notebook" in system.content
    assert f'\nYour own notes, of step {written.step}: "buy tea"\n' in user.content
    assert "Step 5: your profit" in user.content
    assert "Step 4: your profit" not in user.content
    assert json.loads(user.content.splitlines()[-1]).keys() == {"bids", "notes"}


def test_own_notes_stay_beside_the_own_answer_within_a_step() -> None:
    (one, given), (two, _), *_ = turns(rules(), 1)
    prompts = ArenaPrompts(6_000, context=Context("notebook"))
    shown = prompts.messages([(one, Answer(given.action, {"notes": "bid low"}))], two)[2]
    assert json.loads(shown.content) == {**given.action, "notes": "bid low"}


GROUPS = Context("groups", freed=500)


@WORDED
@pytest.mark.parametrize("tokens", [2_000, 3_000, 6_000])
@pytest.mark.parametrize("lines", [1, 4])
def test_groups_go_oldest_first_and_the_frame_stays(tokens: int, lines: int, wording: int) -> None:
    gone = []
    for step in range(1, 7):
        for turn in range(3):
            messages = prompt(tokens, step, turn, None, wording, GROUPS, lines=lines)
            assert estimate_messages(messages) <= tokens
            roles = [message.role for message in messages]
            assert roles == ["system", "user", *["assistant", "user"] * (len(roles) // 2 - 1)]
            note, _, first = messages[1].content.partition("\n")
            if "Left out: " not in note:
                note, first = "(Left out: 0", messages[1].content
            assert first == prompt(tokens, 1, 0, None, wording, GROUPS)[1].content
            gone.append(int(note.split()[2]))
            assert len(messages) - 2 == 2 * (3 * (step - 1) + turn - gone[-1])
    assert gone == sorted(gone)
    assert gone[-1] > 0 or tokens > 2_000
    assert len(set(gone)) < len(gone) / 2 or tokens == 2_000
