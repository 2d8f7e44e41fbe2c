from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from market import answers, canonical
from market.environment import Answer, Cause, NoAction

VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(st.characters(exclude_categories=("Cs",))),
    lambda inner: st.lists(inner) | st.dictionaries(st.text("ab\u00e9"), inner),
    max_leaves=10,
)


@given(VALUES, VALUES)
def test_an_answer_survives_its_spelling(action: object, said: object) -> None:
    text = answers.dump(Answer(action, said))
    assert answers.load(text) == Answer(action, said)
    assert canonical.dumps(canonical.loads(text)) == text


@pytest.mark.parametrize("cause", Cause)
def test_no_action_survives_its_spelling(cause: Cause) -> None:
    text = answers.dump(NoAction(cause))
    assert answers.load(text) == NoAction(cause)
    assert canonical.dumps(canonical.loads(text)) == text


@pytest.mark.parametrize(
    "text",
    ["{}", "[]", "1", '{"said":1}', '{"none":"lazy"}', '{"action":1,"none":"late"}', '{"none":1}',
     '{"action":1,"more":2}', '{"action":NaN}', "{"],
)  # fmt: skip
def test_text_that_is_no_answer_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r".+"):
        answers.load(text)


@pytest.mark.parametrize("action", [float("nan"), "\ud800", {1, 2}, object()])
def test_an_action_that_is_not_json_is_refused(action: object) -> None:
    with pytest.raises(ValueError, match="JSON"):
        answers.dump(Answer(action))
