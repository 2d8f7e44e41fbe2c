"""Procurement: one round of a multi-unit auction by sealed bids.

A bid is a list of lines (item, quantity, price), of which several may name one item: a demand
schedule. It passes two stages, both pure functions:

    judge   reads what a seat answered. A line that breaks a rule is void by itself, with the
            reason; then the budget is held against the quantities as written. No credit, and
            no line is mended: what a seat wrote either stands, in whole or cut by the budget,
            or it says why not.
    clear   serves the standing lines of all seats, item by item, from the highest price down
            while units last, and publishes what it takes to win.

Chance enters at one point only, a price at which fewer units are left than are asked. There it
is one number per item and seat, given by the caller, so that one seat's bid never shifts another's
luck.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import partial
from operator import itemgetter
from typing import Any, Literal, NamedTuple

#: Numbers beyond are read as this one: exact in JSON and in every table, above any budget.
MOST = 2**53 - 1

#: Characters kept of the name of an item that does not exist.
NAME_KEPT = 64

#: Gives the number drawn for (item, seat) in this round; the smaller is served first.
Luck = Callable[[str, str], int]


class Reason(StrEnum):
    """Why a line, or a part of it, does not stand."""

    UNKNOWN_ITEM = "unknown item"
    NEGATIVE = "negative"
    OFF_TICK = "off tick"
    BELOW_BASE = "below base"
    ABOVE_CAP = "above cap"
    TOO_MANY_LINES = "too many lines"
    NOT_MONOTONE = "not monotone"
    OVER_BUDGET = "over budget"


class ItemTerms(NamedTuple):
    """The prices allowed for one item, in whole money per unit; no cap is None."""

    base: int
    cap: int | None = None


@dataclass(frozen=True, slots=True)
class Terms:
    """The rules of the auction.

    Attributes:
        items: What may be bid for.
        tick: Prices are multiples of it.
        lines_per_item: Lines of one bid that may name the same item.
        ties: Who is served at a price with too few units: seats one after the other in drawn
            order, or all in proportion to their quantities.
        over_budget: A bid beyond the funds is void, or trimmed in the order of its lines.
        pricing: Winners pay their own price, or all the highest losing one.
        round_rule: Whether a later round may only raise prices and lower quantities.
    """

    items: Mapping[str, ItemTerms]
    tick: int = 1
    lines_per_item: int = 1
    ties: Literal["random", "prorata"] = "random"
    over_budget: Literal["void", "trim"] = "void"
    pricing: Literal["discriminatory", "uniform"] = "discriminatory"
    round_rule: Literal["free", "monotone"] = "free"


class Line(NamedTuple):
    """One line of a bid, as written and as judged.

    Attributes:
        item: The item named, known or not.
        quantity: Units as written.
        price: Price per unit as written.
        stands: Units that take part in the auction, from 0 to `quantity`.
        reason: Why `stands` is less than was written; None when the line is valid.
    """

    item: str
    quantity: int
    price: int
    stands: int
    reason: Reason | None = None


class Award(NamedTuple):
    """What a line won: units, and the money paid for all of them."""

    units: int
    paid: int


class ItemClearing(NamedTuple):
    """What is published about an item.

    Attributes:
        price_to_win: The base price if units remain (or none were offered), else the lowest
            winning price.
        units_at_it: Units bid at that price.
        asked: Units bid in all.
    """

    price_to_win: int
    units_at_it: int
    asked: int


@dataclass(frozen=True, slots=True)
class Clearing:
    """The outcome of a round.

    Attributes:
        awards: Per seat, one award per line in the order of the bid.
        items: Per offered item, what is published.
    """

    awards: Mapping[str, tuple[Award, ...]]
    items: Mapping[str, ItemClearing]


def whole(number: int | float) -> int:
    """Read a JSON integer, which may be spelled 5.0 or have a thousand digits."""
    if type(number) is int and -MOST <= number <= MOST:
        return number
    return max(-MOST, min(MOST, int(number)))


def judge(
    answered: Sequence[Mapping[str, Any]],
    terms: Terms,
    funds: int,
    provisional: Sequence[Line] | None = None,
) -> tuple[Line, ...]:
    """Read a seat's bid and hold it against the rules and its funds.

    Lines are checked in stated order; a void line counts neither as one of `lines_per_item` nor
    against the budget. Over budget, `void` drops every line; `trim` keeps lines until one passes
    the funds, cuts that one to the units they still buy, and drops the rest.

    Under the monotone rule every unit bid for must be a unit of the round before, at its price or
    more. An item that was not bid for cannot be entered later.

    Args:
        answered: Objects with `item`, `quantity` and `price`, of the decision's form.
        terms: The rules.
        funds: Money of the seat.
        provisional: The seat's lines of the round before; None in the first round.

    Returns:
        One judged line per answered line, in the same order.
    """
    raised = None
    if terms.round_rule == "monotone" and provisional is not None:
        raised = _Provisional(provisional)
    items, tick, most = terms.items, terms.tick, terms.lines_per_item
    count = dict.fromkeys(items, 0)
    lines: list[Line] = []
    cost = 0
    for entry in answered:
        item, quantity, price = entry["item"], entry["quantity"], entry["price"]
        if type(quantity) is not int or not -MOST <= quantity <= MOST:
            quantity = whole(quantity)
        if type(price) is not int or not -MOST <= price <= MOST:
            price = whole(price)
        allowed = items.get(item)
        if allowed is None:
            lines.append(Line(item[:NAME_KEPT], quantity, price, 0, Reason.UNKNOWN_ITEM))
            continue
        base, cap = allowed
        if quantity < 0 or price < base or price % tick or (cap is not None and price > cap):
            reason = _fault(quantity, price, tick, allowed)
        elif count[item] >= most:
            reason = Reason.TOO_MANY_LINES
        elif raised and not raised.take(item, quantity, price):
            reason = Reason.NOT_MONOTONE
        else:
            count[item] += 1
            cost += quantity * price
            lines.append(_new(Line, (item, quantity, price, quantity, None)))
            continue
        lines.append(_new(Line, (item, quantity, price, 0, reason)))
    return tuple(lines) if cost <= funds else _afforded(lines, funds, terms.over_budget)


def clear(
    bids: Mapping[str, Sequence[Line]], offers: Mapping[str, int], terms: Terms, luck: Luck
) -> Clearing:
    """Serve the standing lines of all seats.

    Args:
        bids: Judged lines per seat.
        offers: Units offered per item.
        terms: The rules.
        luck: The number drawn for an item and a seat, for ties. Called only where units run out.

    Returns:
        Awards and what is published. Every award stays within the line and the offer.
    """
    books: dict[str, list[_Standing]] = {item: [] for item in offers}
    for seat, lines in bids.items():
        for index, (item, _, price, stands, _) in enumerate(lines):
            if stands and item in books:
                books[item].append((price, seat, index, stands))
    awards = {seat: [_NOTHING] * len(lines) for seat, lines in bids.items()}
    items = {}
    for item, book in books.items():
        base = terms.items[item].base
        book.sort(key=_price, reverse=True)
        won, left, losing = _served(book, offers[item], terms.ties, partial(luck, item))
        single = None if terms.pricing == "discriminatory" else base if losing is None else losing
        for price, seat, index, units in won:
            awards[seat][index] = _new(Award, (units, units * (single or price)))
        to_win = won[-1][0] if won and not left else base
        items[item] = ItemClearing(
            price_to_win=to_win,
            units_at_it=sum([units for price, _, _, units in book if price == to_win]),
            asked=sum(map(_units, book)),
        )
    return Clearing({seat: tuple(won) for seat, won in awards.items()}, items)


#: A standing line in an item's book: price, seat, position in the seat's bid, units.
_Standing = tuple[int, str, int, int]
_price = itemgetter(0)
_units = itemgetter(3)
_NOTHING = Award(0, 0)

#: Makes a `Line` or an `Award` of a tuple of its fields, at half the cost of calling the class.
_new = tuple.__new__


def _fault(quantity: int, price: int, tick: int, allowed: ItemTerms) -> Reason:
    """What is wrong, first of all, with a line that breaks a rule by itself."""
    if quantity < 0 or price < 0:
        return Reason.NEGATIVE
    if price % tick:
        return Reason.OFF_TICK
    return Reason.BELOW_BASE if price < allowed.base else Reason.ABOVE_CAP


def _afforded(lines: list[Line], funds: int, over_budget: str) -> tuple[Line, ...]:
    """Hold the valid lines against funds that do not pay for all of them."""
    if over_budget == "void":
        return tuple(
            line if line.reason else line._replace(stands=0, reason=Reason.OVER_BUDGET)
            for line in lines
        )
    left = max(funds, 0)
    kept = []
    for line in lines:
        cost = line.stands * line.price
        if cost > left:
            line = line._replace(stands=left // line.price, reason=Reason.OVER_BUDGET)
            cost = left
        left -= cost
        kept.append(line)
    return tuple(kept)


class _Provisional:
    """The units of the round before, each of which may be bid for again at its price or more."""

    def __init__(self, lines: Sequence[Line]) -> None:
        self._units: dict[str, dict[int, int]] = {}
        for line in lines:
            units = self._units.setdefault(line.item, {})
            units[line.price] = units.get(line.price, 0) + line.stands

    def take(self, item: str, quantity: int, price: int) -> bool:
        """Use up units for a line, the dearest it may have first; nothing if there are too few.

        Taking the dearest leaves cheap units to lines that can have no others, so no order of
        lines finds room where this one does not.
        """
        units = self._units.get(item, {})
        usable = sorted((old for old in units if old <= price), reverse=True)
        if sum(units[old] for old in usable) < quantity:
            return False
        for old in usable:
            taken = min(units[old], quantity)
            units[old] -= taken
            quantity -= taken
        return True


def _served(
    book: list[_Standing], left: int, ties: str, luck: Callable[[str], int]
) -> tuple[list[_Standing], int, int | None]:
    """Serve an item's lines, dearest first, until units run out.

    Returns:
        The lines with the units they got, the units left over, and the highest price at which
        units were asked in vain; None where nobody did.
    """
    first = 0
    while first < len(book) and book[first][3] <= left:
        left -= book[first][3]
        first += 1
    if first == len(book):
        return book, left, None
    price, last = book[first][0], first
    while first and book[first - 1][0] == price:
        first -= 1
        left += book[first][3]
    while last < len(book) and book[last][0] == price:
        last += 1
    won = book[:first]
    if left:
        won += _rationed(book[first:last], left, ties, luck)
    return won, 0, price


def _rationed(
    lines: list[_Standing], left: int, ties: str, luck: Callable[[str], int]
) -> list[_Standing]:
    """Divide the last units among lines of one price that ask for more.

    Units go to seats and from there to the seat's lines in stated order, so that splitting a line
    gains nothing.
    """
    asked: dict[str, int] = {}
    for _, seat, _, units in lines:
        asked[seat] = asked.get(seat, 0) + units
    order = list(asked)
    if len(order) > 1:
        order = [seat for _, seat in sorted([(luck(seat), seat) for seat in order])]
    share = {}
    if ties == "random":
        for seat in order:
            share[seat] = min(asked[seat], left)
            left -= share[seat]
    else:
        total = sum(asked.values())
        share = {seat: left * units // total for seat, units in asked.items()}
        by_remainder = sorted(order, key=lambda seat: left * asked[seat] % total, reverse=True)
        for seat in by_remainder[: left - sum(share.values())]:
            share[seat] += 1
    served = []
    for price, seat, index, units in lines:
        got = min(units, share[seat])
        share[seat] -= got
        served.append((price, seat, index, got))
    return served
