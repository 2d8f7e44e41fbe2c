"""Which retailers meet: rosters drawn from a pool, as pure functions.

A pool and a roster are the same thing, a sequence of entries. Each entry is a named retailer that
fills one seat or several, with gaps where a seat is left out. Seats keep their ids in every roster
made from a pool, and luck belongs to the id: what differs between two rosters on one seed is who
is there, and nothing else.

    all               everybody: one market, and a rank that holds in this company only
    leave-one-out     what each retailer does to the others
    subsets           ranks that do not hang on one company; every pair meets about equally often
    self-play         what a market of one kind does
    one-among-many    whether one kind gains, or survives, in a market of another
    latin             all of the seats' luck for everybody: who sits where goes round
    replacement       what one retailer gains over another in its place, in many companies

The last two, and subsets that are `seated`, use neutral seats, `seat-1` to `seat-9`, so that one
seat with its luck is played by one retailer here and by another there.

Extending a design keeps the rosters that it had: of 20 subsets the first ten are those of ten.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import combinations

from market.rng import Draws, draws
from market.seats import numbered

#: Subsets that are tried for each one that is taken.
TRIES = 32

#: Names a seat of a pool: the position of its entry, its number in it.
Place = tuple[int, int]


@dataclass(frozen=True, slots=True)
class Entry:
    """A named retailer of a pool.

    Attributes:
        name: Its name.
        count: Numbers of its seats, 1 to count.
        without: The numbers that fill no seat.
        plays: The retailer that it is, where the name is that of a neutral seat.
    """

    name: str
    count: int = 1
    without: tuple[int, ...] = ()
    plays: str | None = None

    @property
    def retailer(self) -> str:
        """The retailer of the pool that plays its seats."""
        return self.plays or self.name

    @property
    def numbers(self) -> tuple[int, ...]:
        """The numbers that fill a seat."""
        return tuple(i for i in range(1, self.count + 1) if i not in self.without)

    @property
    def seats(self) -> tuple[str, ...]:
        """The ids of its seats."""
        return tuple(numbered(self.name, self.count, i) for i in self.numbers)


@dataclass(frozen=True, slots=True)
class Roster:
    """Who meets in one market.

    Attributes:
        label: A name within the tournament, fit for a folder.
        entries: The retailers.
        design: The design that it was drawn by.
    """

    label: str
    entries: tuple[Entry, ...]
    design: str = "all"

    @property
    def seats(self) -> tuple[str, ...]:
        """The ids of all seats."""
        return tuple(seat for entry in self.entries for seat in entry.seats)

    @property
    def players(self) -> dict[str, str]:
        """The retailer that plays each seat."""
        return {seat: entry.retailer for entry in self.entries for seat in entry.seats}


def together(pool: Sequence[Entry]) -> Roster:
    """Everybody in one market."""
    return Roster("all", tuple(pool))


def leave_one_out(pool: Sequence[Entry], whole: bool = False) -> tuple[Roster, ...]:
    """One roster per seat, without it.

    Args:
        pool: Who there is.
        whole: Leave out entries with all their seats, instead of single seats.

    Raises:
        ValueError: If nobody would be left.
    """
    units = _units(pool, whole)
    if len(units) < 2:
        raise ValueError("leaving out the only one leaves nobody; name more retailers")
    everybody = {place for _, places in units for place in places}
    return tuple(
        Roster(f"without-{name}", _entries(pool, everybody - set(places))) for name, places in units
    )


@lru_cache(maxsize=16)
def subsets(
    pool: tuple[Entry, ...], size: int, count: int, seed: int, whole: bool = False
) -> tuple[Roster, ...]:
    """Random subsets in which all play, and all pairs meet, about equally often.

    Appearances differ by one at most. One subset is drawn after the other: of several random ones
    that keep to this, the one whose pairs have met least, a pair that met often weighing most.

    Args:
        pool: Who there is.
        size: Seats of a subset, or entries where `whole`.
        count: Subsets.
        seed: Seed of the draws.
        whole: Draw entries with all their seats, instead of single seats.

    Raises:
        ValueError: If the pool is smaller than a subset.
    """
    units = _units(pool, whole)
    if not 1 <= size <= len(units):
        raise ValueError(f"a subset of {size} cannot be drawn from {len(units)}")
    played = [0] * len(units)
    met: dict[tuple[int, int], int] = dict.fromkeys(combinations(range(len(units)), 2), 0)
    rosters = []
    for number in range(1, count + 1):
        stream = draws(seed, "roster", size, number)
        tried = [_subset(played, met, size, stream) for _ in range(TRIES)]
        taken = min(
            tried, key=lambda members: sum(met[pair] ** 2 for pair in combinations(members, 2))
        )
        for member in taken:
            played[member] += 1
        for pair in combinations(taken, 2):
            met[pair] += 1
        places = {place for member in taken for place in units[member][1]}
        rosters.append(Roster(f"subset-{size}-no-{number}", _entries(pool, places)))
    return tuple(rosters)


def self_play(pool: Sequence[Entry], size: int) -> tuple[Roster, ...]:
    """One roster per entry: so many copies of it."""
    return tuple(Roster(f"self-{entry.name}-x{size}", (Entry(entry.name, size),)) for entry in pool)


def one_among_many(
    pool: Sequence[Entry], size: int, among: Collection[str] = (), both_ways: bool = True
) -> tuple[Roster, ...]:
    """One of a kind in a market of another: self-play with the first copy replaced.

    Args:
        pool: Who there is.
        size: Seats of the market.
        among: Names of those that are many; all where empty.
        both_ways: For each pair, also one of those among many of the other.

    Raises:
        ValueError: If a market has less than two seats, the pool less than two entries, or a name
            is not in the pool.
    """
    names = [entry.name for entry in pool]
    if size < 2:
        raise ValueError("one among many takes two seats at least")
    if len(names) < 2:
        raise ValueError("one among many takes two retailers at least")
    if missing := sorted(set(among) - set(names)):
        raise ValueError(f"there is no retailer `{missing[0]}`")
    hosts = set(among) or set(names)
    pairs = [
        (one, many)
        for many in names
        for one in names
        if one != many and (many in hosts or (both_ways and one in hosts))
    ]
    return tuple(
        Roster(f"one-{one}-among-{many}-x{size - 1}", (Entry(one), Entry(many, size, without=(1,))))
        for one, many in pairs
    )


def chosen(pool: Sequence[Entry], names: Sequence[str], label: str) -> Roster:
    """The retailers and single seats that are named.

    Raises:
        ValueError: If a name is neither an entry nor a seat of the pool, or is given twice.
    """
    known = dict(_units(pool, whole=False)) | dict(_units(pool, whole=True))
    places: set[Place] = set()
    for name in names:
        if name not in known:
            raise ValueError(f"there is no retailer and no seat `{name}` in the pool")
        if places & set(known[name]):
            raise ValueError(f"`{name}` is named twice")
        places |= set(known[name])
    return Roster(label, _entries(pool, places))


def latin(pool: Sequence[Entry]) -> tuple[Roster, ...]:
    """As many rosters as there are seats, in which everybody plays every neutral seat once."""
    players = [entry.retailer for entry in pool for _ in entry.seats]
    return tuple(
        Roster(f"turn-{turn + 1}-of-{len(players)}", _in_seats(_turned(players, turn)))
        for turn in range(len(players))
    )


def seated(rosters: Sequence[Roster]) -> tuple[Roster, ...]:
    """The same companies in neutral seats, turned so that all play each seat about equally often.

    One roster is turned after the other, to where its members sat least; more rosters leave the
    first ones as they are.
    """
    sat: dict[tuple[str, int, int], int] = {}
    out = []
    for roster in rosters:
        players = [entry.retailer for entry in roster.entries for _ in entry.seats]
        places = [
            [(player, at, len(players)) for at, player in enumerate(_turned(players, turn))]
            for turn in range(len(players))
        ]
        taken = min(places, key=lambda turn: sum(sat.get(place, 0) ** 2 for place in turn))
        for place in taken:
            sat[place] = sat.get(place, 0) + 1
        out.append(Roster(roster.label, _in_seats([player for player, _, _ in taken])))
    return tuple(out)


def replacement(
    pool: Sequence[Entry],
    reference: str,
    candidates: Collection[str] = (),
    *,
    size: int,
    count: int = 1,
    seed: int = 0,
    among: Collection[str] = (),
) -> tuple[Roster, ...]:
    """The reference and each candidate in one seat, among the same rivals in the same seats.

    Rivals are drawn as `subsets`; the seat goes round from one company of rivals to the next.
    Rosters of one company follow each other, the reference's first.

    Args:
        pool: Who there is.
        reference: Whom the others are held against.
        candidates: Who takes its place; all others where empty.
        size: Seats of the market.
        count: Companies of rivals.
        seed: Seed of their draws.
        among: Whose seats the rivals are drawn from; everybody's where empty, so that a
            candidate may meet its like.

    Raises:
        ValueError: If a name is not in the pool, nobody is left to compare, or there are fewer
            rivals than seats for them.
    """
    names = [entry.name for entry in pool]
    if missing := sorted({reference, *candidates, *among} - set(names)):
        raise ValueError(f"there is no retailer `{missing[0]}`")
    others = [
        name for name in names if name != reference and (not candidates or name in candidates)
    ]
    if not others:
        raise ValueError(f"there is nobody to take the place of `{reference}`")
    if size < 2:
        raise ValueError("a market with rivals takes two seats at least")
    rivals = tuple(entry for entry in pool if not among or entry.name in among)
    rosters = []
    for number, company in enumerate(subsets(rivals, size - 1, count, seed), start=1):
        at = (number - 1) % size
        players = [entry.retailer for entry in company.entries for _ in entry.seats]
        players = _turned(players, (number - 1) // size)
        for name in (reference, *others):
            entries = _in_seats([*players[:at], name, *players[at:]])
            rosters.append(Roster(f"{name}-among-{size - 1}-no-{number}", entries))
    return tuple(rosters)


def _in_seats(players: Sequence[str]) -> tuple[Entry, ...]:
    """Retailers in neutral seats, in order."""
    size = len(players)
    return tuple(
        Entry(f"seat-{number:0{len(str(size))}}", plays=player)
        for number, player in enumerate(players, start=1)
    )


def _turned(players: Sequence[str], turn: int) -> list[str]:
    turn %= len(players)
    return [*players[turn:], *players[:turn]]


def _units(pool: Sequence[Entry], whole: bool) -> list[tuple[str, tuple[Place, ...]]]:
    """What is drawn or left out as one: a name and its places."""
    places = [tuple((at, i) for i in entry.numbers) for at, entry in enumerate(pool)]
    if whole:
        return [(entry.name, places[at]) for at, entry in enumerate(pool)]
    return [
        (seat, (place,))
        for entry, own in zip(pool, places, strict=True)
        for seat, place in zip(entry.seats, own, strict=True)
    ]


def _entries(pool: Sequence[Entry], places: Collection[Place]) -> tuple[Entry, ...]:
    """The pool with no seats but these; their ids stay."""

    def gaps() -> Iterator[Entry]:
        for at, entry in enumerate(pool):
            without = tuple(i for i in range(1, entry.count + 1) if (at, i) not in places)
            if len(without) < entry.count:
                yield replace(entry, without=without)

    return tuple(gaps())


def _subset(
    played: Sequence[int], met: dict[tuple[int, int], int], size: int, stream: Draws
) -> tuple[int, ...]:
    """A random subset: who played least first, and of those who met the others least."""
    waiting = stream.shuffled(range(len(played)))
    members: list[int] = []
    meetings = [0] * len(played)
    while len(members) < size:
        new = min(waiting, key=lambda unit: (played[unit], meetings[unit]))
        waiting.remove(new)
        members.append(new)
        for other in waiting:
            meetings[other] += met[min(new, other), max(new, other)] ** 2
    return tuple(sorted(members))
