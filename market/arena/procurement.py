"""Procurement of one step: sealed bids in rounds, of which the last settles."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from market.arena import views
from market.arena.auction import Clearing, ItemTerms, Line, Terms, clear, judge
from market.arena.events import EVERYONE, Bid, Supply
from market.arena.rules import ArenaRules
from market.arena.supply import offered
from market.environment import Answer, Event, Json, NoAction
from market.rng import keys


@dataclass(frozen=True, slots=True)
class Round:
    """One cleared round.

    Attributes:
        number: From 1.
        settling: Whether it settles.
        lines: Judged lines of every seat that was asked.
        clearing: What they won and what is published.
        offers: Units that the supplier offered of each item.
    """

    number: int
    settling: bool
    lines: Mapping[str, tuple[Line, ...]]
    clearing: Clearing
    offers: Mapping[str, int]


def terms_of(rules: ArenaRules) -> Terms:
    """The rules of the auction that a market has."""
    return Terms(
        items={item.item: ItemTerms(item.base, rules.cap(item)) for item in rules.items},
        tick=rules.tick,
        lines_per_item=rules.lines_per_item,
        ties=rules.ties,
        over_budget=rules.over_budget,
        pricing=rules.pricing,
        round_rule=rules.round_rule,
    )


class Procurement:
    """The auction of an episode, round by round."""

    def __init__(self, rules: ArenaRules, names: Mapping[str, str], seed: int) -> None:
        self._rules = rules
        self._names = names
        self._seed = seed
        self._quantities = {item.item: rules.quantity(item) for item in rules.items}
        self._terms = terms_of(rules)

    def offers(self, step: int) -> Mapping[str, int]:
        """Units of each item that the supplier offers in a step; the same object if they stay."""
        return offered(self._rules.supply_noise, self._seed, step, self._quantities)

    def clear(
        self,
        step: int,
        answers: Mapping[str, Answer | NoAction],
        funds: Mapping[str, int],
        before: Round | None,
    ) -> Round:
        """Judge and clear the bids of a round; *no action* is no bid."""
        number = before.number + 1 if before else 1
        offers = before.offers if before else self.offers(step)
        lines = {}
        for seat, answer in answers.items():
            stated = answer.action["bids"] if isinstance(answer, Answer) else ()
            provisional = before.lines[seat] if before else None
            lines[seat] = judge(stated, self._terms, funds[seat], provisional)
        luck = keys(self._seed, "ties", step, number)
        return Round(
            number,
            number == self._rules.bidding_rounds,
            lines,
            clear(lines, offers, self._terms, luck),
            offers,
        )

    def public(self, cleared: Round) -> dict[str, Json]:
        """What everybody learns of a round, as far as the rules show it."""
        feedback = self._rules.bid_feedback
        return {
            "clearing": None if feedback == "own" else views.clearing_view(cleared.clearing),
            "bids": views.all_bids(cleared.lines, cleared.clearing, self._names)
            if feedback == "full"
            else None,
        }

    def events(self, step: int, turn: int, cleared: Round) -> list[Event]:
        """The rows of a round."""
        rows: list[Event] = []
        for item in self._rules.items:
            published = cleared.clearing.items[item.item]
            awarded = sum(
                award.units
                for seat, lines in cleared.lines.items()
                for line, award in zip(lines, cleared.clearing.awards[seat], strict=True)
                if line.item == item.item
            )
            rows.append(
                Supply(
                    step, turn, EVERYONE, cleared.number, cleared.settling, item.item,
                    cleared.offers[item.item], item.base, published.asked, awarded,
                    published.price_to_win, published.units_at_it,
                )
            )  # fmt: skip
        for seat, lines in cleared.lines.items():
            for line, award in zip(lines, cleared.clearing.awards[seat], strict=True):
                rows.append(
                    Bid(
                        step, turn, seat, cleared.number, cleared.settling, line.item,
                        line.quantity, line.price, award.units, award.paid, line.reason,
                    )
                )  # fmt: skip
        return rows


def bid_volume(lines: Sequence[Line], bases: Mapping[str, int]) -> tuple[int, int]:
    """Units bid for as written, void lines included, and their value at base price.

    Lines that name no item or ask for less than nothing have neither.
    """
    total = value = 0
    for item, quantity, _, _, _ in lines:
        if quantity > 0 and item in bases:
            total += quantity
            value += quantity * bases[item]
    return total, value
