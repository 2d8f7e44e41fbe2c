"""A request is named by its messages, and by the runs that it shares with the one before."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from market.language import Message
from market.prompt_names import LEAST_RUN, message_name, rolled, unrolled

NAMES = st.lists(st.sampled_from("abcdefgh"), max_size=40)


@given(NAMES, NAMES)
def test_whatever_was_sent_before_the_names_read_back(names: list[str], before: list[str]) -> None:
    assert unrolled(rolled(names, before), before) == names


@given(NAMES)
def test_without_a_request_before_all_names_are_written(names: list[str]) -> None:
    assert rolled(names, []) == names


def test_a_conversation_that_grew_is_its_run_and_what_is_new() -> None:
    before = [f"m{i}" for i in range(500)]
    assert rolled([*before, "answer", "question"], before) == [[0, 500], "answer", "question"]


def test_a_conversation_whose_oldest_groups_went_is_two_runs() -> None:
    before = [f"m{i}" for i in range(500)]
    names = [before[0], "left out: 40", *before[41:], "answer"]
    assert rolled(names, before) == ["m0", "left out: 40", [41, 459], "answer"]


def test_short_runs_are_written_as_they_are() -> None:
    before = [f"m{i}" for i in range(9)]
    short = before[: LEAST_RUN - 1]
    assert rolled(short, before) == short
    assert rolled(before[:LEAST_RUN], before) == [[0, LEAST_RUN]]


@pytest.mark.parametrize("run", [[0, 4], [2, 2], [-1, 2], [0, 0], [3, 1]])
def test_a_run_that_the_request_before_lacks_is_refused(run: list[int]) -> None:
    with pytest.raises(ValueError, match="has no messages"):
        unrolled([run], ["a", "b", "c"])


def test_equal_messages_have_one_name_and_others_another() -> None:
    assert message_name(Message("user", "a")) == message_name(Message("user", "a"))
    assert message_name(Message("user", "a")) != message_name(Message("system", "a"))
    assert message_name(Message("user", "\ud800")) != message_name(Message("user", "\ud801"))
