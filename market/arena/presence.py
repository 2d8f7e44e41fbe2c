"""Who is in the market, step by step (`entry`, `exit`): who comes, who leaves, and news of both."""

from __future__ import annotations

from collections.abc import Mapping

from market.arena import seating
from market.arena.books import Books
from market.arena.events import Passage
from market.arena.rules import ArenaRules
from market.environment import Answers, Json


class Presence:
    """The doors of an episode; the books know who is inside.

    Args:
        rules: The market.
        entries: The step at which each seat enters (`seating.entries`).
        books: The books, in which those that enter later are not inside yet.
        names: Public names by seat.
    """

    def __init__(
        self, rules: ArenaRules, entries: Mapping[str, int], books: Books, names: Mapping[str, str]
    ) -> None:
        self._rules = rules
        self._books = books
        self._names = names
        self._later = {seat: step for seat, step in entries.items() if step > 1}
        #: Who was inside when that was last told.
        self._told = self._inside()

    def admit(self, step: int) -> list[Passage]:
        """Let those in whose step has come."""
        coming = [seat for seat, entry in self._later.items() if entry == step]
        for seat in coming:
            self._books.enter(seat)
        return [self._row(step, 0, seat, "entered") for seat in coming]

    def staying(self, step: int, turn: int, answers: Answers) -> tuple[Answers, list[Passage]]:
        """Let those out who leave with these answers to a bidding round.

        Returns:
            The answers of the others, and the rows of those who left.
        """
        leaving = seating.leaving(self._rules, answers)
        for seat in leaving:
            self._books.leave(seat)
        rows = [self._row(step, turn, seat, "left") for seat in leaving]
        return {seat: answer for seat, answer in answers.items() if seat not in leaving}, rows

    def news(self) -> dict[str, Json]:
        """The names of those who came or are gone since it was last told.

        There are none where nobody may come or leave.
        """
        if not self._rules.entry and self._rules.exit == "none":
            return {}
        before, self._told = self._told, self._inside()
        return {
            "entered": sorted(self._names[seat] for seat in self._told - before),
            "left": sorted(self._names[seat] for seat in before - self._told),
        }

    def _inside(self) -> set[str]:
        return {seat for seat, account in self._books.accounts.items() if account.inside}

    def _row(self, step: int, turn: int, seat: str, what: str) -> Passage:
        funds = self._books.accounts[seat].funds
        return Passage(step, turn, seat, self._names[seat], what, funds)
