"""Who is in the market from when on, and whose seats are one owner's (`entry`, `exit`, `owners`).

The rules name seats by their ids, or all seats of a roster's entry by its name: `late` stands for
`late`, and for `late-1`, `late-2` and so on. A name that no seat of the episode has says nothing,
since a roster may go without a seat; names that nobody could have are refused where a configuration
is loaded (`ArenaRules.refuse_seats`).

A retailer that enters later has its public name, and its luck, from the first step on, as both
belong to the seat. So whoever is in the market meets the same chance whether others come or not.

Owners are told nothing of each other, nor do the rules that retailers are shown name anybody. The
seats of one owner see more of each other (`views.sisters`), and that is all that owning does.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, TypeVar

from market.environment import Answer, Answers
from market.seats import belongs

if TYPE_CHECKING:
    from market.arena.rules import ArenaRules

T = TypeVar("T")


def entries(rules: ArenaRules, seats: Sequence[str]) -> dict[str, int]:
    """The step at which each seat enters; the first for those that no rule names."""
    return {seat: _named(rules.entry, seat) or 1 for seat in seats}


def groups(rules: ArenaRules, seats: Sequence[str]) -> dict[str, tuple[str, ...]]:
    """The seats of each owner that has some, in the order of the rules; empty without owners.

    A seat that is nobody's is its own owner, and not among them.
    """
    found = {
        owner: tuple(seat for seat in seats if any(belongs(seat, name) for name in names))
        for owner, names in (rules.owners or {}).items()
    }
    return {owner: own for owner, own in found.items() if own}


def sisters(owned: Mapping[str, Sequence[str]]) -> dict[str, tuple[str, ...]]:
    """For each seat that has an owner, the other seats of that owner."""
    return {
        seat: tuple(other for other in seats if other != seat)
        for seats in owned.values()
        for seat in seats
    }


def leaving(rules: ArenaRules, answers: Answers) -> list[str]:
    """The seats that leave the market with these answers to a bidding round."""
    if rules.exit == "none":
        return []
    return [
        seat
        for seat, answer in answers.items()
        if isinstance(answer, Answer) and answer.action.get("exit")
    ]


def shares(owned: Mapping[str, Sequence[str]], values: Mapping[str, int]) -> tuple[int, ...]:
    """What owners have together, then what each seat has that is nobody's.

    Args:
        owned: The seats of each owner.
        values: What each seat has.
    """
    taken = {seat for seats in owned.values() for seat in seats}
    together = [sum(values[seat] for seat in seats) for seats in owned.values()]
    alone = [value for seat, value in values.items() if seat not in taken]
    return (*together, *alone)


def refused(rules: ArenaRules, seats: Sequence[str]) -> str | None:
    """What is wrong with the names of seats in the rules, as `key: words`; None when nothing is.

    Args:
        rules: The rules.
        seats: All seats that a roster of the configuration may have.
    """
    for key, names in (
        ("entry", tuple(rules.entry or ())),
        *((f"owners.{owner}", names) for owner, names in (rules.owners or {}).items()),
    ):
        for name in names:
            if not any(belongs(seat, name) for seat in seats):
                return f"{key}: there is no seat `{name}`, nor a retailer of that name"
    owned = [(seat, owner) for owner, own in groups(rules, seats).items() for seat in own]
    for seat in seats:
        if sum(belongs(seat, name) for name in rules.entry or ()) > 1:
            return f"entry: the seat `{seat}` is named twice"
        having = [owner for other, owner in owned if other == seat]
        if len(having) > 1:
            return f"owners: the seat `{seat}` has two, `{having[0]}` and `{having[1]}`"
    return None


def _named(by_name: Mapping[str, T] | None, seat: str) -> T | None:
    return next((value for name, value in (by_name or {}).items() if belongs(seat, name)), None)
