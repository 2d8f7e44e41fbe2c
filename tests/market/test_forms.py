from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from market import answers, canonical, forms
from market.arena.rules import ArenaRules
from market.arena.views import answer_forms
from market.config import load, rules
from market.environment import Answer, Form
from market.sights import sight

RULES: ArenaRules = rules(load("arena/paper", ["rules.exit=voluntary"]))
BID, SELL = answer_forms(RULES)["bid"], answer_forms(RULES)["sell"]
LINE = {"item": "tea", "quantity": 1, "price": 2}


class Word(str):
    """No built-in string."""


SCALARS = st.one_of(
    st.none(), st.booleans(), st.integers(), st.floats(), st.text(), st.text().map(Word)
)
LINES = st.fixed_dictionaries(
    {"item": st.text() | SCALARS, "quantity": st.integers() | SCALARS},
    optional={"price": st.integers(), "more": SCALARS},
)
ACTIONS = st.one_of(
    SCALARS,
    st.fixed_dictionaries(
        {"bids": st.lists(LINES, max_size=4) | SCALARS},
        optional={"exit": st.booleans() | SCALARS, "more": SCALARS},
    ),
    st.fixed_dictionaries(
        {"prices": st.dictionaries(st.text() | st.integers(), st.integers() | SCALARS)},
        optional={"slogan": st.text() | SCALARS},
    ),
)


@pytest.mark.parametrize(
    ("form", "action"),
    [
        (BID, {"bids": []}),
        (BID, {"bids": [LINE, {"price": -5, "item": "", "quantity": 0}]}),
        (BID, {"bids": [LINE], "exit": True}),
        (SELL, {"prices": {}, "slogan": ""}),
        (SELL, {"prices": {"tea": 5, "pen": 2**70}, "slogan": "good"}),
    ],
)
def test_what_scripts_answer_is_seen_at_once(form: Form, action: Any) -> None:
    assert forms.plainly(form, action)
    assert forms.check(form, action) is None


@pytest.mark.parametrize(
    ("form", "action"),
    [
        (BID, {}),
        (BID, []),
        (BID, {"bids": [{"item": "tea", "quantity": 1}]}),
        (BID, {"bids": [{**LINE, "more": 1}]}),
        (BID, {"bids": [{"item": "tea", "quantity": 1, "cost": 2}]}),
        (BID, {"bids": [{**LINE, "quantity": "1"}]}),
        (BID, {"bids": [LINE], "exit": 1}),
        (BID, {"bids": [LINE], "more": []}),
        (SELL, {"prices": {"tea": 1.5}, "slogan": ""}),
        (SELL, {"prices": {"tea": True}, "slogan": ""}),
        (SELL, {"prices": {"tea": 1}}),
    ],
)
def test_what_is_not_of_the_form_is_not_seen_to_be(form: Form, action: Any) -> None:
    assert not forms.plainly(form, action)
    assert forms.check(form, action) is not None


@given(st.sampled_from([BID, SELL]), ACTIONS)
def test_what_is_seen_at_once_is_valid_and_spelled_as_ever(form: Form, action: Any) -> None:
    if not forms.plainly(form, action):
        return
    assert forms.check(form, action) is None
    try:
        text = canonical.dumps(action)
    except ValueError:
        with pytest.raises(ValueError, match="not JSON"):
            answers.settled(Answer(action), plain=True)
        return
    assert answers.settled(Answer(action), plain=True) == answers.settled(Answer(action))
    assert canonical.settled(action, plain=True) == (text, canonical.loads(text))


@pytest.mark.parametrize("value", [{"bids": (LINE,)}, {"bids": [{**LINE, "item": Word("tea")}]}])
def test_types_that_are_not_built_in_are_left_to_the_check(value: Any) -> None:
    assert not forms.plainly(BID, value)
    assert forms.check(BID, value) is None


@pytest.mark.parametrize(
    "schema",
    [
        {},
        {"type": "string", "maxLength": 3},
        {"type": ["integer", "null"]},
        {"type": "array", "items": {"type": "array", "items": {"type": "integer"}}},
        {"type": "array", "items": {"type": "object"}},
        {"type": "object", "properties": {"a": {"type": "string"}}},
        {"type": "object", "additionalProperties": {"type": "number"}},
    ],
)
def test_schemas_of_other_parts_have_no_sight(schema: dict[str, Any]) -> None:
    assert sight(schema) is None
