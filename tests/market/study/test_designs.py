from __future__ import annotations

from collections import Counter
from itertools import combinations

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from market.study.designs import (
    Entry,
    chosen,
    latin,
    leave_one_out,
    one_among_many,
    replacement,
    seated,
    self_play,
    subsets,
    together,
)

POOL = (Entry("llm"), Entry("markup", 3), Entry("zi", 12, without=(4,)))
SEATS = together(POOL).seats


def singles(size: int) -> tuple[Entry, ...]:
    return tuple(Entry(f"r{i}") for i in range(size))


def test_all_together_are_all_seats() -> None:
    assert SEATS[:5] == ("llm", "markup-1", "markup-2", "markup-3", "zi-01")
    assert len(SEATS) == 15
    assert "zi-04" not in SEATS


def test_leaving_one_out_leaves_a_gap_and_every_other_id() -> None:
    rosters = leave_one_out(POOL)
    assert [roster.label for roster in rosters] == [f"without-{seat}" for seat in SEATS]
    for roster, seat in zip(rosters, SEATS, strict=True):
        assert roster.seats == tuple(other for other in SEATS if other != seat)
    gap = next(roster for roster in rosters if roster.label == "without-markup-2")
    assert gap.entries[1] == Entry("markup", 3, without=(2,))


def test_whole_retailers_can_be_left_out() -> None:
    rosters = leave_one_out(POOL, whole=True)
    assert [roster.label for roster in rosters] == ["without-llm", "without-markup", "without-zi"]
    assert rosters[1].seats == tuple(seat for seat in SEATS if not seat.startswith("markup"))


@settings(max_examples=60, deadline=None)
@given(st.integers(2, 16), st.integers(2, 8), st.integers(1, 40), st.integers())
def test_in_subsets_all_play_and_all_pairs_meet_about_equally_often(
    pool: int, size: int, count: int, seed: int
) -> None:
    assume(size <= pool)
    rosters = subsets(singles(pool), size, count, seed)
    assert len(rosters) == count
    assert all(len(roster.seats) == size for roster in rosters)
    names = [entry.name for entry in singles(pool)]
    played = Counter(seat for roster in rosters for seat in roster.seats)
    met = Counter(pair for roster in rosters for pair in combinations(roster.seats, 2))
    appearances = [played[name] for name in names]
    assert max(appearances) - min(appearances) <= 1
    meetings = [met[pair] for pair in combinations(names, 2)]
    expected = sum(meetings) / len(meetings)
    assert all(abs(each - expected) < 4 for each in meetings)
    assert sum((each - expected) ** 2 for each in meetings) / len(meetings) < 1.3


def test_subsets_are_far_more_even_than_independent_draws() -> None:
    met = Counter(
        pair for roster in subsets(singles(20), 6, 50, 0) for pair in combinations(roster.seats, 2)
    )
    mean = sum(met.values()) / 190
    variance = sum((met[f"r{i}", f"r{j}"] - mean) ** 2 for i, j in combinations(range(20), 2)) / 190
    assert variance < 0.3 * mean  # independent draws have about the variance of Poisson: the mean


def test_more_subsets_keep_the_first_ones() -> None:
    assert subsets(POOL, 4, 20, seed=3)[:10] == subsets(POOL, 4, 10, seed=3)


def test_subsets_hang_on_their_seed_and_on_nothing_else() -> None:
    assert subsets(POOL, 4, 10, seed=0) == subsets(POOL, 4, 10, seed=0)
    assert subsets(POOL, 4, 10, seed=0) != subsets(POOL, 4, 10, seed=1)


def test_subsets_of_whole_retailers_keep_their_seats_together() -> None:
    rosters = subsets(POOL, 2, 3, seed=0, whole=True)
    assert {tuple(entry.name for entry in roster.entries) for roster in rosters} == {
        ("llm", "markup"),
        ("llm", "zi"),
        ("markup", "zi"),
    }
    assert all(entry in POOL for roster in rosters for entry in roster.entries)


def test_in_self_play_a_market_is_full_of_copies() -> None:
    llm, _, zi = self_play(POOL, 3)
    assert (llm.label, llm.seats) == ("self-llm-x3", ("llm-1", "llm-2", "llm-3"))
    assert zi.seats == ("zi-1", "zi-2", "zi-3")


def test_one_among_many_takes_the_place_of_the_first_copy() -> None:
    rosters = {roster.label: roster.seats for roster in one_among_many(POOL, 4, ["markup"])}
    assert rosters == {
        "one-markup-among-llm-x3": ("markup", "llm-2", "llm-3", "llm-4"),
        "one-llm-among-markup-x3": ("llm", "markup-2", "markup-3", "markup-4"),
        "one-zi-among-markup-x3": ("zi", "markup-2", "markup-3", "markup-4"),
        "one-markup-among-zi-x3": ("markup", "zi-2", "zi-3", "zi-4"),
    }
    assert set(self_play(POOL, 4)[1].seats) > set(rosters["one-zi-among-markup-x3"][1:])


def test_one_among_many_goes_one_way_where_asked_and_all_ways_without_names() -> None:
    one_way = one_among_many(POOL, 4, ["markup"], both_ways=False)
    assert [roster.label for roster in one_way] == [
        "one-llm-among-markup-x3",
        "one-zi-among-markup-x3",
    ]
    assert len(one_among_many(POOL, 4)) == 6


def test_retailers_and_single_seats_are_chosen_by_name() -> None:
    assert chosen(POOL, ["zi-12", "llm", "markup"], "x").seats == (
        "llm",
        "markup-1",
        "markup-2",
        "markup-3",
        "zi-12",
    )


@pytest.mark.parametrize("names", [["nobody"], ["zi-04"], ["markup", "markup-1"], ["llm", "llm"]])
def test_who_is_not_there_or_there_already_cannot_be_chosen(names: list[str]) -> None:
    with pytest.raises(ValueError, match=r"no retailer and no seat|named twice"):
        chosen(POOL, names, "x")


def test_designs_refuse_what_a_pool_cannot_give() -> None:
    with pytest.raises(ValueError, match="leaves nobody"):
        leave_one_out([Entry("a")])
    with pytest.raises(ValueError, match="a subset of 16 cannot be drawn from 15"):
        subsets(POOL, 16, 1, 0)
    with pytest.raises(ValueError, match="two seats"):
        one_among_many(POOL, 1)
    with pytest.raises(ValueError, match="two retailers"):
        one_among_many([Entry("a")], 3)
    with pytest.raises(ValueError, match="no retailer `b`"):
        one_among_many(POOL, 3, ["b"])


def test_in_a_latin_square_everybody_plays_every_seat_once() -> None:
    rosters = latin((Entry("a", 2), Entry("b")))
    assert [roster.label for roster in rosters] == ["turn-1-of-3", "turn-2-of-3", "turn-3-of-3"]
    assert [list(roster.players.values()) for roster in rosters] == [
        ["a", "a", "b"],
        ["a", "b", "a"],
        ["b", "a", "a"],
    ]
    assert {roster.seats for roster in rosters} == {("seat-1", "seat-2", "seat-3")}


@settings(max_examples=40, deadline=None)
@given(st.integers(2, 9), st.integers(2, 6), st.integers(0, 3))
def test_seated_subsets_put_everybody_in_each_seat_about_equally_often(
    pool: int, size: int, seed: int
) -> None:
    assume(size <= pool)
    own = subsets(singles(pool), size, 60, seed)
    rosters = seated(own)
    assert [sorted(r.players.values()) for r in rosters] == [sorted(r.seats) for r in own]
    sat = Counter(place for roster in rosters for place in roster.players.items())
    for name in {name for _, name in sat}:
        counts = [sat[f"seat-{number}", name] for number in range(1, size + 1)]
        assert max(counts) - min(counts) <= 2 + 60 // pool // 2
    assert seated(own[:10]) == rosters[:10]


def test_a_replacement_changes_who_plays_one_seat_and_nothing_else() -> None:
    rosters = replacement(singles(5), "r0", ["r1", "r3"], size=4, count=6, seed=2)
    assert len(rosters) == 6 * 3
    seats = []
    for number in range(6):
        reference, *others = (roster.players for roster in rosters[3 * number : 3 * number + 3])
        for name, players in zip(("r1", "r3"), others, strict=True):
            changed = [seat for seat in players if players[seat] != reference[seat]]
            assert len(changed) <= 1
            assert players.keys() == reference.keys() == {f"seat-{n}" for n in range(1, 5)}
            assert [(reference[seat], players[seat]) for seat in changed] == [("r0", name)]
            seats += changed
    assert seats == [f"seat-{1 + number % 4}" for number in range(6) for _ in range(2)]


def test_rivals_are_drawn_from_those_that_are_named_and_more_companies_keep_the_first() -> None:
    rosters = replacement(POOL, "llm", ["markup"], size=5, count=4, among=["zi"])
    assert [roster.label for roster in rosters[:3]] == [
        "llm-among-4-no-1",
        "markup-among-4-no-1",
        "llm-among-4-no-2",
    ]
    for roster in rosters:
        assert Counter(roster.players.values())["zi"] == 4
    assert replacement(POOL, "llm", ["markup"], size=5, count=2, among=["zi"]) == rosters[:4]


def test_a_replacement_refuses_what_a_pool_cannot_give() -> None:
    with pytest.raises(ValueError, match="no retailer `c`"):
        replacement(singles(2), "r0", ["c"], size=2)
    with pytest.raises(ValueError, match="nobody to take the place of `r0`"):
        replacement(singles(2), "r0", ["r0"], size=2)
    with pytest.raises(ValueError, match="two seats"):
        replacement(singles(2), "r0", size=1)
    with pytest.raises(ValueError, match="a subset of 3 cannot be drawn from 2"):
        replacement(singles(2), "r0", size=4)
