"""The arena as an environment: a step is bidding, selling, buying, and the closing of the books.

    bid, once per round -> sell -> (similarities, of the outside) -> the next step

`apply` dispatches on what was asked; each stage applies its answers and asks the next. What
happened is kept as the rows of `events` only when somebody reads them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

from market.arena import linked, seating, settlement, views
from market.arena.books import Books
from market.arena.metrics import SeatStep, metrics
from market.arena.names import public_names
from market.arena.presence import Presence
from market.arena.procurement import Procurement, Round
from market.arena.record import StepRecord
from market.arena.rules import ArenaRules
from market.arena.selling import RetailOutcome, Selling
from market.arena.shipping import Shipment, ship
from market.arena.storefront import CLOSED, Shelf, Storefront, read
from market.environment import (
    OUTSIDE,
    Answer,
    Answers,
    ContractError,
    Decision,
    Decisions,
    Event,
    Json,
    NoAction,
    Observation,
    Result,
    SeatResult,
    check_answers,
)
from market.rng import draws


class Arena:
    """One competitive market of retailers.

    Args:
        rules: The configuration.
        seats: Ids of the retailers; chance belongs to the id.
        seed: Seed of the episode.
    """

    def __init__(self, rules: ArenaRules, seats: Sequence[str], seed: int) -> None:
        self._roads = linked.roads(rules)
        self._selling = Selling(rules, seed)
        rules = linked.apart(rules)
        self._config = rules
        self._seats = tuple(seats)
        self._seed = seed
        self._names = public_names(seats, seed)
        self._items = [item.item for item in rules.items]
        self._caps = {item.item: rules.cap(item) for item in rules.items}
        self._holding = [rules.holding(item) for item in rules.items]
        self._entries = seating.entries(rules, seats)
        self._books = Books(
            seats,
            rules.items,
            rules.funds(len(seats)),
            rules.terminal_stock,
            later=[seat for seat, step in self._entries.items() if step > 1],
        )
        self._presence = Presence(rules, self._entries, self._books, self._names)
        self._procurement = Procurement(rules, self._names, seed)
        self._offers = views.offers(rules, self._procurement.offers(1))
        self._owned = seating.groups(rules, seats)
        self._sisters = seating.sisters(self._owned)
        self._rules = views.public_rules(rules, len(seats), self._roads, self._entries)
        self._forms = views.answer_forms(rules, self._roads)
        self._similarities: dict[str, tuple[int, ...]] = {}
        self._convergence: dict[tuple[str, ...], int | None] = {}
        self._step = 0
        self._values: dict[str, dict[str, int]] = {}
        self._rounds: list[Round] = []
        self._stocks: dict[str, dict[str, Json]] = {}
        self._fronts: dict[str, Storefront] = {}
        self._shipped: dict[str, tuple[Shipment, ...]] = {}
        self._records: list[StepRecord] = []
        self._seat_steps: dict[str, list[SeatStep]] = {seat: [] for seat in seats}
        self._asked: Decisions = ()
        self._over = False
        self._happened: list[Callable[[], list[Event]]] = []

    @property
    def seats(self) -> tuple[str, ...]:
        """Ids of the retailers."""
        return self._seats

    @property
    def rules(self) -> Mapping[str, Json]:
        """The game as every retailer knows it."""
        return self._rules

    @property
    def forms(self) -> Mapping[str, Any]:
        """The forms of answers: `bid`, `sell` and `similarities`."""
        return self._forms

    def start(self) -> Decisions:
        """Open the first step."""
        if self._step:
            raise ContractError("an episode starts once")
        self._selling.prepare()
        self._asked = self._open_step()
        return self._asked

    def apply(self, answers: Answers) -> Decisions:
        """Apply the answers to the open batch and ask the next."""
        check_answers(self._asked, answers)
        if not self._asked:
            raise ContractError("the episode is not started, or over")
        kind = self._asked[0].kind
        self._happened = []
        ordered = {decision.seat: answers[decision.seat] for decision in self._asked}
        if kind == "bid":
            self._asked = self._bid(ordered)
        elif kind == "sell":
            self._asked = self._post(ordered)
        else:
            self._asked = self._learn(ordered[OUTSIDE])
        return self._asked

    @property
    def events(self) -> list[Event]:
        """What happened in the last call."""
        return [row for rows in self._happened for row in rows()]

    @property
    def standings(self) -> Mapping[str, Mapping[str, int]]:
        """Funds, units in stock, units sold and profit so far of every retailer."""
        return {
            seat: {
                "funds": account.funds,
                "stock": sum(account.units),
                "sold": account.sold,
                "profit": account.profit,
            }
            for seat, account in self._books.accounts.items()
        }

    @property
    def result(self) -> Result:
        """Profit and metrics of every retailer, and the market's indices of the last step."""
        if not self._over:
            raise ContractError("the episode is not over")
        seats = {}
        for seat, steps in self._seat_steps.items():
            values, undefined = metrics(steps)
            if self._owned:
                values["owner_profit"] = self._owner_profit(seat)
            seats[seat] = SeatResult(self._books.accounts[seat].profit, values, undefined)
        last, before = self._records[-1], self._records[-2:-1]
        totals = last.figures(before[0] if before else None)
        for owner, (seat, *_) in self._owned.items():
            totals[f"owner_profit_{owner}"] = self._owner_profit(seat)
        return Result(seats, totals)

    # Each of the following applies one stage and returns the next batch.

    def _open_step(self) -> Decisions:
        while self._step < self._config.steps:
            self._step += 1
            self._values = self._drawn_values()
            self._rounds = []
            self._fronts = {}
            self._shipped = {}
            self._happened.append(partial(list[Event], self._presence.admit(self._step)))
            if self._config.supply_noise is not None:
                self._offers = views.offers(self._config, self._procurement.offers(self._step))
            if asked := self._ask_bids():
                return asked
            self._close_step(None)  # nobody is left to ask
        self._over = True
        return ()

    def _bid(self, answers: Answers) -> Decisions:
        before = self._rounds[-1] if self._rounds else None
        if self._config.exit == "voluntary":
            answers, left = self._presence.staying(self._step, self._asked[0].turn, answers)
            self._happened.append(partial(list[Event], left))
        funds = {seat: self._books.accounts[seat].funds for seat in answers}
        cleared = self._procurement.clear(self._step, answers, funds, before)
        self._rounds.append(cleared)
        step, turn = self._step, self._asked[0].turn
        self._happened.append(partial(self._procurement.events, step, turn, cleared))
        if not cleared.settling:
            return self._ask_bids() or self._end_step()
        settlement.book_awards(self._books, cleared)
        if self._config.induced:
            settlement.book_redemption(self._books, self._values, self._config.induced.units)
            return self._end_step()
        return self._ask_prices() or self._end_step()

    def _post(self, answers: Answers) -> Decisions:
        for seat, answer in answers.items():
            if self._roads and isinstance(answer, Answer):
                stated = answer.action.get("ship", ())
                self._shipped[seat] = ship(self._books, seat, stated, self._roads)
            self._fronts[seat] = (
                read(answer.action, self._shelf(seat)) if isinstance(answer, Answer) else CLOSED
            )
        return self._ask_similarities() or self._settle()

    def _learn(self, answer: Answer | NoAction) -> Decisions:
        if not isinstance(answer, Answer):
            raise ContractError("the outside always answers")
        asked = self._asked[0].observation.private
        rows = answer.action["similarities"]
        if [len(row) for row in rows] != [len(asked["references"])] * len(asked["texts"]):
            raise ContractError("the outside answered about other texts")
        for text, row in zip(asked["texts"], rows, strict=True):
            self._similarities[text] = tuple(int(value) for value in row)
        convergence = answer.action["convergence"]
        self._convergence[tuple(asked["crowd"])] = None if convergence is None else int(convergence)
        return self._settle()

    def _settle(self) -> Decisions:
        stock = {seat: self._books.accounts[seat].units for seat in self._fronts}
        self._close_step(self._selling.sell(self._step, self._fronts, stock, self._similarities))
        return self._open_step()

    def _end_step(self) -> Decisions:
        """End a step without retail, and open the next."""
        self._close_step(None)
        return self._open_step()

    def _close_step(self, outcome: RetailOutcome | None) -> None:
        """Book sales and costs, end the step and keep its record."""
        books = self._books
        held = {seat: tuple(account.units) for seat, account in books.accounts.items()}
        costs = settlement.book_sales(books, outcome, self._fronts) if outcome else {}
        settlement.book_costs(books, self._holding, self._config.fixed_cost)
        if self._step == self._config.steps:
            books.write_down()
        record = StepRecord(
            rules=self._config,
            step=self._step,
            names=self._names,
            closings=books.close_step(),
            rounds=tuple(self._rounds),
            fronts=dict(self._fronts),
            outcome=outcome,
            held=held,
            costs=costs,
            convergence=self._convergence.get(self._crowd()),
            owned=self._owned,
            roads=self._roads,
            shipped=self._shipped,
        )
        for seat, steps in self._seat_steps.items():
            if self._entries[seat] <= self._step:
                steps.append(record.accounts(seat))
        before = self._records[-1] if self._records else None
        self._records = [*self._records[-1:], record]
        turn = self._asked[0].turn if self._asked else 0
        self._happened.append(partial(record.events, turn, before, self._similarities))

    # Asking.

    def _ask_bids(self) -> Decisions:
        cleared = self._rounds[-1] if self._rounds else None
        number = len(self._rounds) + 1
        if cleared:
            public: dict[str, Json] = {"round": number, **self._procurement.public(cleared)}
        else:
            last = self._records[-1].public() if self._records else None
            public = {
                "round": number,
                **self._presence.news(),
                "offers": self._offers,
                "market": last,
            }
        return self._ask("bid", number - 1, public)

    def _ask_prices(self) -> Decisions:
        return self._ask("sell", len(self._rounds), self._procurement.public(self._rounds[-1]))

    def _ask(self, kind: str, turn: int, public: Mapping[str, Json]) -> Decisions:
        step, rules, form, private = self._step, self._rules, self._forms[kind], self._private
        return tuple(
            [
                Decision(step, turn, seat, kind, Observation(rules, public, private(seat)), form)
                for seat, account in self._books.accounts.items()
                if account.inside
            ]
        )

    def _private(self, seat: str) -> dict[str, Json]:
        """What a retailer sees of itself, and of its bids or else its last step."""
        account = self._books.accounts[seat]
        if not 0 < len(self._rounds) < self._config.bidding_rounds:
            # Between rounds nothing moves.
            self._stocks[seat] = views.stock(account, self._items)
        view = {
            "name": self._names[seat],
            "funds": account.funds,
            "stock": self._stocks[seat],
        }
        if self._rounds:
            cleared = self._rounds[-1]
            view["bids"] = views.bid_feedback(cleared.lines[seat], seat, cleared.clearing)
        else:
            came = self._entries[seat] < self._step
            view["last"] = self._records[-1].private(seat) if self._records and came else None
        if self._config.induced:
            view["values"] = self._values[seat]
        if self._owned and len(self._rounds) in (0, self._config.bidding_rounds):
            view["sisters"] = self._seen_sisters(seat)
        return view

    def _seen_sisters(self, seat: str) -> dict[str, Json]:
        """The seats of its owner in the market, by public name, with the bid that settled last."""
        rounds = self._rounds or (self._records[-1].rounds if self._records else ())
        last = rounds[-1] if rounds else None
        accounts = self._books.accounts
        present = [each for each in self._sisters.get(seat, ()) if accounts[each].inside]
        return {
            self._names[each]: views.sister(
                accounts[each],
                self._items,
                last.lines.get(each, ()) if last else (),
                last.clearing if last else None,
            )
            for each in present[: views.SISTERS_SHOWN]
        }

    def _owner_profit(self, seat: str) -> int:
        """The profit of all seats of its owner."""
        own = (seat, *self._sisters.get(seat, ()))
        return sum(self._books.accounts[each].profit for each in own)

    def _ask_similarities(self) -> Decisions:
        """Ask what slogans mean, unless that is known, of each and of the crowd of them."""
        crowd = self._crowd()
        texts = sorted(set(crowd) - self._similarities.keys())
        known = not texts and (len(crowd) < 2 or crowd in self._convergence)
        if known or self._config.attention.similarity == "none":
            return ()
        private = {
            "texts": texts,
            "references": [persona.theme for persona in self._config.personas.values()],
            "crowd": list(crowd),
        }
        observation = Observation(self._rules, {}, private)
        turn, form = len(self._rounds) + 1, self._forms["similarities"]
        return (Decision(self._step, turn, OUTSIDE, "similarities", observation, form),)

    def _crowd(self) -> tuple[str, ...]:
        return tuple(sorted(front.slogan for front in self._fronts.values() if front.slogan))

    def _shelf(self, seat: str) -> Shelf:
        """What a retailer may price."""
        anything = self._config.stockless_offers == "allowed"
        units = self._books.accounts[seat].units
        held = {item: anything or n > 0 for item, n in zip(self._caps, units, strict=True)}
        return Shelf(self._caps, held, self._config.tick, self._config.slogan_words)

    def _drawn_values(self) -> dict[str, dict[str, int]]:
        """Private values of the step, by seat and item; none where stock is sold to buyers."""
        induced = self._config.induced
        if induced is None:
            return {}

        def value(seat: str, item: str) -> int:
            stream = draws(self._seed, "value", self._step, seat, item)
            return stream.integer(induced.low, induced.high)

        return {seat: {item: value(seat, item) for item in self._caps} for seat in self._seats}
