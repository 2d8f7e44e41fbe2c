from __future__ import annotations

import pytest

from market.seats import seat_ids


def test_one_retailer_has_its_name_and_several_are_numbered_at_equal_width() -> None:
    roster = [{"name": "llm"}, {"name": "markup", "count": 12}, {"name": "idle", "count": 2}]
    numbered = [f"markup-{i:02}" for i in range(1, 13)]
    assert seat_ids(roster) == ("llm", *numbered, "idle-1", "idle-2")


def test_leaving_one_entry_out_leaves_the_other_ids_as_they_were() -> None:
    roster = [{"name": name, "count": 2} for name in "abc"]
    rest = seat_ids([roster[0], roster[2]])
    assert rest == tuple(seat for seat in seat_ids(roster) if not seat.startswith("b"))


@pytest.mark.parametrize(
    "roster",
    [
        [{"name": "a"}, {"name": "a"}],
        [{"name": "a", "count": 2}, {"name": "a-2"}],
        [{"name": "outside"}],
    ],
)
def test_a_roster_whose_seats_are_not_distinct_is_refused(roster: list[dict[str, object]]) -> None:
    with pytest.raises(ValueError, match="is taken"):
        seat_ids(roster)


def test_a_retailer_without_seats_is_refused() -> None:
    with pytest.raises(ValueError, match="a count of 0"):
        seat_ids([{"name": "a", "count": 0}])


def test_a_seat_that_is_left_out_leaves_a_gap() -> None:
    roster = [{"name": "a", "count": 12, "without": [2, 12]}, {"name": "b", "without": []}]
    numbered = [f"a-{i:02}" for i in range(1, 12) if i != 2]
    assert seat_ids(roster) == (*numbered, "b")


@pytest.mark.parametrize("without", [[0], [3], [1, 2]])
def test_a_gap_must_be_there_and_leave_somebody(without: list[int]) -> None:
    with pytest.raises(ValueError, match=r"no seat|all its seats"):
        seat_ids([{"name": "a", "count": 2, "without": without}])
