"""A recorded selling step as data: all that retail, the books and the auction made of it.

A journal is played again, which proves it is the game that this code plays. Beside the replay the
arena's own parts (`procurement`, `storefront`, `selling`, `books`) are fed the same answers, as
an environment shows its retailers less than a counterfactual needs. What they come to is held
against the standings of the replay, seat by seat and step by step: a scene is the recorded step,
or there is none.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from market.arena import seating, settlement
from market.arena.auction import Award, Line
from market.arena.books import Books
from market.arena.events import Standing
from market.arena.names import public_names
from market.arena.procurement import Procurement, Round
from market.arena.regulars import Clientele
from market.arena.rules import ArenaRules
from market.arena.selling import Selling
from market.arena.storefront import CLOSED, Shelf, Storefront, read
from market.environment import Answer
from market.replay import Moment, Replay, ReplayError, luck


@dataclass(frozen=True, slots=True)
class Procured:
    """The auction that stocked a selling step.

    Attributes:
        round: Number of the round that settled.
        budgets: Funds that the bids were held against, by seat.
        stock: Units carried into the step per item, before the auction, by seat.
        costs: What those units cost per item, in whole money, by seat.
        lines: Judged lines of the settling round, by seat.
        awards: What each line won, by seat.
    """

    round: int
    budgets: Mapping[str, int]
    stock: Mapping[str, tuple[int, ...]]
    costs: Mapping[str, tuple[int, ...]]
    lines: Mapping[str, tuple[Line, ...]]
    awards: Mapping[str, tuple[Award, ...]]


@dataclass(frozen=True, slots=True)
class Scene:
    """One recorded selling step. Mappings by seat hold those who were asked for prices.

    Attributes:
        step: The step, from 1.
        rules: The market.
        seed: Seed of the episode.
        fronts: What each retailer posted, in the order in which they were asked.
        stock: Units per item when retail opened.
        costs: What those units cost per item, in whole money; over units, the average cost.
        funds: Money when retail opened.
        similarities: Slogan -> similarity with each persona in 1e-6, of all slogans known by then.
        profits: Recorded profit of the step.
        procured: The auction before it.
        clientele: Where buyers remember, their places before the step; else None.
    """

    step: int
    rules: ArenaRules
    seed: int
    fronts: Mapping[str, Storefront]
    stock: Mapping[str, tuple[int, ...]]
    costs: Mapping[str, tuple[int, ...]]
    funds: Mapping[str, int]
    similarities: Mapping[str, tuple[int, ...]]
    profits: Mapping[str, int]
    procured: Procured
    clientele: Clientele | None = None

    @property
    def offers(self) -> Mapping[str, int]:
        """Units of each item that the supplier offered in the step."""
        return self.rules.offers(self.seed, self.step)

    @property
    def last(self) -> bool:
        """Whether stock is written down after it."""
        return self.step == self.rules.steps


def scenes(journal: Path | str) -> Iterator[Scene]:
    """The selling steps of a recorded episode, in order.

    There are none where stock is redeemed at private values (`retail: induced`), and none for a
    step in which nobody was left to ask.

    Args:
        journal: The journal, finished or not.

    Raises:
        market.journal.JournalError: If the file is damaged.
        ReplayError: If the game differs from the recording, or is of another environment.
    """
    played = Replay(journal)
    if played.header.environment != "arena":
        raise ReplayError(
            f"{journal}: scenes are of the environment arena, not of {played.header.environment}"
        )
    rules = ArenaRules.model_validate(played.header.config["rules"])
    if rules.induced:
        return
    if rules.markets is not None:
        raise ReplayError(
            f"{journal}: scenes are of one market, and this game has linked ones (`rules.markets`)"
        )
    seed = luck(played.header.seed, played.header.config.get("fork"))
    recorder = _Recorder(rules, played.environment.seats, seed)
    for moment in played:
        recorder.follow(moment)
        learning = played.asked and played.asked[0].kind == "similarities"
        if recorder.posted and not learning:
            yield recorder.settle(moment)


class _Recorder:
    """Follows a replay with the arena's own parts."""

    def __init__(self, rules: ArenaRules, seats: tuple[str, ...], seed: int) -> None:
        self._rules = rules
        self._seed = seed
        self._entries = seating.entries(rules, seats)
        self._later = [seat for seat, step in self._entries.items() if step > 1]
        self._books = Books(
            seats, rules.items, rules.funds(len(seats)), rules.terminal_stock, self._later
        )
        self._procurement = Procurement(rules, public_names(seats, seed), seed)
        self._selling = Selling(rules, seed)
        self._caps = {item.item: rules.cap(item) for item in rules.items}
        self._holding = [rules.holding(item) for item in rules.items]
        self._similarities: dict[str, tuple[int, ...]] = {}
        self._cleared: Round | None = None
        self._procured: Procured | None = None
        self._fronts: dict[str, Storefront] = {}

    @property
    def posted(self) -> bool:
        """Whether prices are posted and not yet settled."""
        return bool(self._fronts)

    def follow(self, moment: Moment) -> None:
        """Take in what was answered."""
        kind = moment.asked[0].kind if moment.asked else None
        if kind == "bid":
            self._bid(moment)
        elif kind == "sell":
            self._fronts = {
                asked.seat: read(answer.action, self._shelf(asked.seat))
                if isinstance(answer := moment.answers[asked.seat], Answer)
                else CLOSED
                for asked in moment.asked
            }
        elif kind == "similarities":
            (answer,) = moment.answers.values()
            if isinstance(answer, Answer):
                texts = moment.asked[0].observation.private["texts"]
                for text, row in zip(texts, answer.action["similarities"], strict=True):
                    self._similarities[text] = tuple(int(value) for value in row)

    def settle(self, moment: Moment) -> Scene:
        """Close the step and hold it against the recording."""
        books, fronts, step = self._books, self._fronts, moment.step
        if self._procured is None:
            raise ReplayError(f"step {step}: prices were asked for before any bid")
        held = {seat: books.accounts[seat] for seat in fronts}
        stock = {seat: tuple(account.units) for seat, account in held.items()}
        costs = {seat: tuple(account.cost) for seat, account in held.items()}
        funds = {seat: account.funds for seat, account in held.items()}
        clientele = self._selling.before(step)
        outcome = self._selling.sell(step, fronts, stock, self._similarities)
        settlement.book_sales(books, outcome, fronts)
        settlement.book_costs(books, self._holding, self._rules.fixed_cost)
        if step == self._rules.steps:
            books.write_down()
        closings = books.close_step()
        for row in moment.events:
            if isinstance(row, Standing) and row.step == step:
                closing = closings[row.seat]
                if (closing.tally.profit, closing.funds) != (row.profit, row.funds):
                    raise ReplayError(f"step {step}: the books of {row.seat} come to another end")
        scene = Scene(
            step=step,
            rules=self._rules,
            seed=self._seed,
            fronts=fronts,
            stock=stock,
            costs=costs,
            funds=funds,
            similarities=dict(self._similarities),
            profits={seat: closings[seat].tally.profit for seat in fronts},
            procured=self._procured,
            clientele=clientele,
        )
        self._fronts, self._cleared, self._procured = {}, None, None
        return scene

    def _bid(self, moment: Moment) -> None:
        for seat in [each for each in self._later if self._entries[each] <= moment.step]:
            self._books.enter(seat)
            self._later.remove(seat)
        leaving = seating.leaving(self._rules, moment.answers)
        for seat in leaving:
            self._books.leave(seat)
        accounts = {
            asked.seat: self._books.accounts[asked.seat]
            for asked in moment.asked
            if asked.seat not in leaving
        }
        if not accounts:
            self._books.close_step()
            self._cleared = None
            return
        answers = {seat: moment.answers[seat] for seat in accounts}
        funds = {seat: account.funds for seat, account in accounts.items()}
        cleared = self._procurement.clear(moment.step, answers, funds, self._cleared)
        self._cleared = cleared
        if cleared.settling:
            self._procured = Procured(
                round=cleared.number,
                budgets=funds,
                stock={seat: tuple(account.units) for seat, account in accounts.items()},
                costs={seat: tuple(account.cost) for seat, account in accounts.items()},
                lines=cleared.lines,
                awards=cleared.clearing.awards,
            )
            settlement.book_awards(self._books, cleared)

    def _shelf(self, seat: str) -> Shelf:
        anything = self._rules.stockless_offers == "allowed"
        units = self._books.accounts[seat].units
        held = {item: anything or n > 0 for item, n in zip(self._caps, units, strict=True)}
        return Shelf(self._caps, held, self._rules.tick, self._rules.slogan_words)
