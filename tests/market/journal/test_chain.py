from __future__ import annotations

from dataclasses import replace

import pytest

from market.environment import ContractError, Decision, Form, Observation
from market.journal import Chain

DECISIONS = tuple(
    Decision(1, 0, seat, "bid", Observation({"r": 1}, {"p": [1]}, {"own": seat}), Form({}, None))
    for seat in ("a", "b")
)


def digest(*decisions: Decision, begin: str = "") -> str:
    return Chain(begin).extend(decisions)


def seen(decision: Decision, **views: object) -> Decision:
    return replace(decision, observation=replace(decision.observation, **views))


@pytest.mark.parametrize(
    "changed",
    [
        [replace(d, step=2) for d in DECISIONS],
        [replace(d, turn=1) for d in DECISIONS],
        [replace(DECISIONS[0], seat="c"), DECISIONS[1]],
        [replace(DECISIONS[0], kind="sell"), DECISIONS[1]],
        [seen(DECISIONS[0], private={"own": "b"}), DECISIONS[1]],
        [seen(d, public={"p": [2]}) for d in DECISIONS],
        [DECISIONS[0], seen(DECISIONS[1], public={"p": [2]})],
        [DECISIONS[0]],
    ],
)
def test_whatever_a_seat_is_shown_is_in_the_digest(changed: list[Decision]) -> None:
    assert digest(*changed) != digest(*DECISIONS)


def test_a_digest_depends_on_all_that_came_before() -> None:
    assert digest(*DECISIONS, begin="x") != digest(*DECISIONS)
    chain = Chain("")
    assert chain.extend(DECISIONS) != chain.extend(DECISIONS)


def test_rules_and_forms_follow_from_the_header_and_are_left_out() -> None:
    bare = [seen(replace(d, form=Form({"x": 1}, None)), rules={}) for d in DECISIONS]
    assert digest(*bare) == digest(*DECISIONS)


def test_equal_views_have_equal_digests_whether_shared_or_copied() -> None:
    copied = [seen(d, public={"p": [1]}) for d in DECISIONS]
    assert digest(*copied) == digest(*DECISIONS)
    assert digest(*reversed(DECISIONS)) == digest(*DECISIONS)


def test_decisions_of_two_turns_are_no_batch() -> None:
    with pytest.raises(ContractError, match="another turn"):
        digest(DECISIONS[0], replace(DECISIONS[1], turn=1))


def test_a_view_that_is_not_json_is_the_environments_fault() -> None:
    with pytest.raises(ContractError, match="step 1, turn 0 is not JSON"):
        digest(seen(DECISIONS[0], private={"x": {1, 2}}))
