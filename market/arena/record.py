"""What one step of the arena leaves behind, and what is made of it: views, indices, rows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Self

from market.arena import selling
from market.arena.books import Books, Tally
from market.arena.events import (
    EVERYONE,
    Demand,
    Index,
    Offer,
    Refusal,
    Similarity,
    Slogan,
    Standing,
)
from market.arena.indices import ItemStep, MarketStep, Trade, bid_price, figures, item_figures
from market.arena.procurement import Round
from market.arena.rules import ArenaRules
from market.arena.selling import RetailOutcome, SeatOutcome
from market.arena.storefront import CLOSED, Storefront
from market.environment import Event, Json

_NOTHING_SOLD = SeatOutcome(False, {}, 0, 0, 0, 0, 0)


@dataclass(frozen=True, slots=True)
class StepRecord:
    """One step, closed. Mappings are by seat; all seats are in them, those that left too.

    Attributes:
        rules: The configuration.
        step: The step.
        names: Public names.
        tallies: What the step brought.
        funds: At the end.
        stock: Units held at the end.
        net_worth: At the end.
        solvent: Whether still in the market at the end.
        stranded: Without stock and means.
        rounds: The bidding rounds.
        fronts: What was posted, by those who were asked.
        outcome: What retail brought; None if there was none.
        held: Units per item when retail opened.
        costs: Cost of goods sold, by seat and item.
        convergence: Mean pairwise cosine of the slogans in 1e-6; None below two.
    """

    rules: ArenaRules
    step: int
    names: Mapping[str, str]
    tallies: Mapping[str, Tally]
    funds: Mapping[str, int]
    stock: Mapping[str, int]
    net_worth: Mapping[str, int]
    solvent: Mapping[str, bool]
    stranded: Mapping[str, bool]
    rounds: Sequence[Round]
    fronts: Mapping[str, Storefront]
    outcome: RetailOutcome | None
    held: Mapping[str, Sequence[int]]
    costs: Mapping[tuple[str, int], int]
    convergence: int | None

    @classmethod
    def of(
        cls,
        rules: ArenaRules,
        step: int,
        names: Mapping[str, str],
        books: Books,
        tallies: Mapping[str, Tally],
        rounds: Sequence[Round],
        fronts: Mapping[str, Storefront],
        outcome: RetailOutcome | None,
        held: Mapping[str, Sequence[int]],
        costs: Mapping[tuple[str, int], int],
        convergence: int | None,
    ) -> Self:
        """Take down how the books stand at the end of a step."""
        accounts = books.accounts
        return cls(
            rules, step, names, tallies,
            {seat: account.funds for seat, account in accounts.items()},
            {seat: sum(account.units) for seat, account in accounts.items()},
            {seat: books.net_worth(account) for seat, account in accounts.items()},
            {seat: account.solvent for seat, account in accounts.items()},
            {seat: books.stranded(account) for seat, account in accounts.items()},
            tuple(rounds), dict(fronts), outcome, held, costs, convergence,
        )  # fmt: skip

    def public(self) -> dict[str, Json]:
        """What everybody sees of the step afterwards."""
        shown = self.rules.rival_text == "shown"
        retailers = {
            self.names[seat]: {
                "slogan": front.slogan if shown else None,
                "prices": dict(front.prices),
                "sold": {
                    self.rules.items[index].item: offer.sold
                    for index, offer in self._sold(seat).offers.items()
                },
            }
            for seat, front in self.fronts.items()
        }
        return {"step": self.step, "retailers": dict(sorted(retailers.items()))}

    def private(self, seat: str) -> dict[str, Json]:
        """What a retailer sees of its own step afterwards."""
        tally, outcome = self.tallies[seat], self._sold(seat)
        front = self.fronts.get(seat, CLOSED)
        seen = self.rules.attention_feedback == "impressions"
        sold = {}
        for index, offer in outcome.offers.items():
            item = self.rules.items[index].item
            sold[item] = {"units": offer.sold, "revenue": offer.sold * front.prices[item]}
        return {
            "sold": sold,
            "impressions": outcome.impressions if seen else None,
            "attempts": outcome.attempts,
            "failed": outcome.failed,
            "holding": tally.holding,
            "fixed": tally.fixed,
            "liquidated": tally.liquidated,
            "profit": tally.profit,
            "refused": [
                {"item": line.item[:64], "price": line.price, "reason": line.reason}
                for line in front.refused[:50]
            ],
            "slogan_note": "; ".join(front.notes) or None,
        }

    def market(self) -> MarketStep:
        """The step in arrays over seats, for the indices."""
        tallies = list(self.tallies.values())
        outcome = self.outcome
        return MarketStep(
            net_worth=tuple(self.net_worth.values()),
            revenue=tuple(tally.revenue for tally in tallies),
            cost_of_goods=tuple(tally.cost_of_goods for tally in tallies),
            profit=tuple(tally.profit for tally in tallies),
            sold=tuple(tally.sold for tally in tallies),
            offered=tuple(
                len(self.fronts[seat].prices) if seat in self.fronts else 0 for seat in self.names
            ),
            won=tuple(tally.won for tally in tallies),
            items=tuple(self._item(index) for index in range(len(self.rules.items))),
            trade=Trade(
                spend=sum(tally.spend for tally in tallies),
                won_value=sum(tally.won_value for tally in tallies),
                sold_value=sum(
                    offer.sold * self.rules.items[index].base
                    for seat in self.names
                    for index, offer in self._sold(seat).offers.items()
                ),
                surplus=sum(
                    offer.surplus
                    for seat in self.names
                    for offer in self._sold(seat).offers.values()
                )
                if outcome and outcome.limited
                else None,
                bound=outcome.bound(self.rules) if outcome else None,
            ),
            convergence=self.convergence,
        )

    def events(
        self, turn: int, before: StepRecord | None, similarities: Mapping[str, Sequence[int]]
    ) -> list[Event]:
        """The rows of the step's retail side, its books and its indices."""
        rows: list[Event] = []
        for seat, front in self.fronts.items():
            rows += self._front_rows(turn, seat, front, similarities)
        rows += self._demand_rows(turn)
        rows += [self._standing(turn, seat) for seat in self.names]
        market = self.market()
        found = figures(market, before.market() if before else None)
        rows += [Index(self.step, turn, EVERYONE, name, "", v) for name, v in found.items()]
        for item, row in item_figures(market).items():
            rows += [Index(self.step, turn, EVERYONE, name, item, v) for name, v in row.items()]
        return rows

    def _sold(self, seat: str) -> SeatOutcome:
        return self.outcome.seats.get(seat, _NOTHING_SOLD) if self.outcome else _NOTHING_SOLD

    def _item(self, index: int) -> ItemStep:
        item = self.rules.items[index]
        offers = {seat: self._sold(seat).offers.get(index) for seat in self.names}
        prices = {
            seat: self.fronts[seat].prices.get(item.item) if seat in self.fronts else None
            for seat in self.names
        }
        sold = {seat: offer.sold if offer else 0 for seat, offer in offers.items()}

        def bids(cleared: Round | None) -> tuple[float | None, ...]:
            if cleared is None:
                return (None,) * len(self.names)
            return tuple(
                bid_price(
                    (line.stands, line.price)
                    for line in cleared.lines.get(seat, ())
                    if line.item == item.item and line.stands
                )
                for seat in self.names
            )

        return ItemStep(
            item=item.item,
            base=item.base,
            revenue=tuple(sold[seat] * (prices[seat] or 0) for seat in self.names),
            sold=tuple(sold.values()),
            prices=tuple(prices.values()),
            provisional=bids(self.rounds[-2] if len(self.rounds) > 1 else None),
            final=bids(self.rounds[-1] if self.rounds else None),
        )

    def _front_rows(
        self, turn: int, seat: str, front: Storefront, similarities: Mapping[str, Sequence[int]]
    ) -> list[Event]:
        outcome = self._sold(seat)
        rows: list[Event] = []
        match = outcome.match_sum / outcome.match_buyers if outcome.match_buyers else None
        rows.append(
            Slogan(
                self.step, turn, seat, self.names[seat], front.slogan, outcome.open,
                outcome.impressions, match,
            )
        )  # fmt: skip
        known = similarities.get(front.slogan, ())
        for persona, similarity in zip(self.rules.personas, known, strict=False):
            rows.append(Similarity(self.step, turn, seat, persona, similarity))
        for index, offer in outcome.offers.items():
            item = self.rules.items[index]
            price = front.prices[item.item]
            rows.append(
                Offer(
                    self.step, turn, seat, item.item, item.base, price, self.held[seat][index],
                    offer.asked, offer.sold, offer.sold * price, self.costs.get((seat, index), 0),
                )
            )  # fmt: skip
        for line in front.refused:
            price = max(-(2**62), min(2**62, line.price))
            rows.append(Refusal(self.step, turn, seat, "price", line.item[:64], price, line.reason))
        rows += [Refusal(self.step, turn, seat, "slogan", "", None, note) for note in front.notes]
        return rows

    def _demand_rows(self, turn: int) -> list[Event]:
        outcome = self.outcome
        if outcome is None:
            return []
        units = selling.wanted(outcome.buyers, len(self.rules.items))
        rows: list[Event] = []
        for index, item in enumerate(self.rules.items):
            offers = [sold.offers[index] for sold in outcome.seats.values() if index in sold.offers]
            rows.append(
                Demand(
                    self.step, turn, EVERYONE, item.item,
                    int((outcome.buyers.item == index).sum()), units[index],
                    sum(offer.sold for offer in offers), outcome.priced_out[index],
                    outcome.unserved[index],
                    sum(offer.surplus for offer in offers) if outcome.limited else None,
                )
            )  # fmt: skip
        return rows

    def _standing(self, turn: int, seat: str) -> Standing:
        tally, outcome = self.tallies[seat], self._sold(seat)
        return Standing(
            self.step, turn, seat, self.names[seat], self.solvent[seat], self.stranded[seat],
            self.funds[seat], self.stock[seat], self.net_worth[seat], tally.revenue,
            tally.cost_of_goods, tally.spend, tally.holding, tally.fixed, tally.liquidated,
            tally.shortfall, tally.write_down, tally.profit, tally.won, tally.sold,
            tally.attempts, tally.failed, tally.asked, outcome.impressions,
        )  # fmt: skip
