"""What one step of the arena leaves behind, and what is made of it: views, indices, rows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from market.arena import extended, selling
from market.arena.books import Closing
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
from market.arena.events import Shipment as Moved
from market.arena.indices import (
    ItemStep,
    MarketStep,
    Ranked,
    Row,
    Trade,
    bid_price,
    figures,
    item_figures,
)
from market.arena.linked import Roads
from market.arena.metrics import SeatStep
from market.arena.procurement import Round
from market.arena.rules import ArenaRules
from market.arena.selling import RetailOutcome, SeatOutcome
from market.arena.settlement import Costs
from market.arena.shipping import Shipment
from market.arena.storefront import CLOSED, Storefront
from market.environment import Event, Json

#: Void prices of one answer, and shipments, that its retailer is told about.
REFUSALS_SHOWN = 50

_NOTHING_SOLD = SeatOutcome(False, {}, 0, 0, 0, 0, 0)


@dataclass(frozen=True, slots=True)
class StepRecord:
    """One step, closed. Mappings are by seat.

    Attributes:
        rules: The configuration.
        step: The step.
        names: Public names.
        closings: How everybody stands at the end, those who left too.
        rounds: The bidding rounds.
        fronts: What was posted, by those who were asked.
        outcome: What retail brought; None if there was none.
        held: Units per item when retail opened.
        costs: Cost of goods sold, by seat and item.
        convergence: Mean pairwise cosine of the slogans in 1e-6; None below two.
        owned: The seats of each owner.
        roads: The linked markets, whose goods the items are; None for one market.
        shipped: What was to be moved between them.
    """

    rules: ArenaRules
    step: int
    names: Mapping[str, str]
    closings: Mapping[str, Closing]
    rounds: Sequence[Round]
    fronts: Mapping[str, Storefront]
    outcome: RetailOutcome | None
    held: Mapping[str, Sequence[int]]
    costs: Costs
    convergence: int | None
    owned: Mapping[str, Sequence[str]] = field(default_factory=dict)
    roads: Roads | None = None
    shipped: Mapping[str, Sequence[Shipment]] = field(default_factory=dict)

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
        tally, outcome = self.closings[seat].tally, self._sold(seat)
        front = self.fronts.get(seat, CLOSED)
        rules = self.rules
        seen, items, sold = rules.attention_feedback == "impressions", rules.items, {}
        for index, offer in outcome.offers.items():
            item = items[index].item
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
                {"item": line.item, "price": line.price, "reason": line.reason.value}
                for line in front.refused[:REFUSALS_SHOWN]
            ],
            "slogan_note": "; ".join(front.notes) or None,
            **({"shipped": self._shipped(seat)} if self.roads else {}),
        }

    def accounts(self, seat: str) -> SeatStep:
        """The step as a retailer's metrics count it."""
        closing = self.closings[seat]
        tally = closing.tally
        return SeatStep._make((
            self.step, tally.revenue, tally.cost_of_goods, tally.holding, tally.fixed,
            tally.write_down, tally.liquidated, tally.shortfall, tally.profit, tally.sold,
            tally.won, tally.spend, tally.won_value, tally.bid_units, tally.bid_value,
            tally.attempts, tally.failed, tally.asked, closing.stock, tally.match_sum,
            tally.match_buyers,
        ))  # fmt: skip

    def ranked(self) -> Ranked:
        """What the next step's rank mobility is held against."""
        closings = self.closings.values()
        return Ranked(
            tuple([closing.net_worth for closing in closings]),
            tuple([closing.tally.profit for closing in closings]),
        )

    def market(self) -> MarketStep:
        """The step in arrays over seats, for the indices."""
        tallies = [closing.tally for closing in self.closings.values()]
        outcome = self.outcome
        return MarketStep(
            net_worth=tuple(closing.net_worth for closing in self.closings.values()),
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
                bound=outcome.bound(self.rules, self.rounds[-1].offers) if outcome else None,
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
        found = self._figures(market, before)
        rows += [Index(self.step, turn, EVERYONE, name, "", v) for name, v in found.items()]
        by_item = item_figures(market)
        if self.roads:
            by_item |= extended.market_figures(self.roads, market.items)
            gaps = extended.gaps(self.roads, market.items)
            by_item |= {item: {"price_gap": value} for item, value in gaps.items()}
        for item, row in by_item.items():
            rows += [Index(self.step, turn, EVERYONE, name, item, v) for name, v in row.items()]
        for seat, lines in self.shipped.items():
            rows += [Moved(self.step, turn, seat, *line) for line in lines]
        return rows

    def figures(self, before: StepRecord | None) -> Row:
        """The market's indices at the end of the step, those of its extensions included."""
        return self._figures(self.market(), before)

    def _figures(self, market: MarketStep, before: StepRecord | None) -> Row:
        found = figures(market, before.ranked() if before else None)
        if self.owned:
            found |= extended.owner_figures(self.owned, tuple(self.names), market)
        if self.roads:
            found["price_gap"] = extended.gap(self.roads, market.items)
        if self.rules.buyer_memory:
            repeated, bought = (self.outcome and self.outcome.repeats) or (0, 0)
            found["repeat_purchases"] = repeated / bought if bought else None
        if self.rules.entry or self.rules.exit != "none":
            found["present"] = sum(closing.inside for closing in self.closings.values())
        return found

    def _shipped(self, seat: str) -> list[Json]:
        return [
            {
                "item": line.item,
                "from": line.source,
                "to": line.target,
                "quantity": line.quantity,
                "fee": line.fee,
                "reason": None if line.reason is None else line.reason.value,
            }
            for line in self.shipped.get(seat, ())[:REFUSALS_SHOWN]
        ]

    def _sold(self, seat: str) -> SeatOutcome:
        return self.outcome.seats.get(seat, _NOTHING_SOLD) if self.outcome else _NOTHING_SOLD

    def _item(self, index: int) -> ItemStep:
        item = self.rules.items[index]
        fronts = [self.fronts.get(seat, CLOSED) for seat in self.names]
        prices = [front.prices.get(item.item) for front in fronts]
        offers = [self._sold(seat).offers.get(index) for seat in self.names]
        sold = [offer.sold if offer else 0 for offer in offers]

        def bids(cleared: Round | None) -> tuple[float | None, ...]:
            """The price that stands for each seat's lines; None without any that stands."""
            prices: dict[str, float | None] = dict.fromkeys(self.names)
            for seat, lines in cleared.lines.items() if cleared else ():
                standing = [
                    (units, price) for good, _, price, units, _ in lines
                    if units and good == item.item
                ]  # fmt: skip
                if standing:
                    prices[seat] = bid_price(standing)
            return tuple(prices.values())

        return ItemStep(
            item=item.item,
            base=item.base,
            revenue=tuple(
                [units * (price or 0) for units, price in zip(sold, prices, strict=True)]
            ),
            sold=tuple(sold),
            prices=tuple(prices),
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
            rows.append(Refusal(self.step, turn, seat, "price", line.item, line.price, line.reason))
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
        closing, outcome = self.closings[seat], self._sold(seat)
        tally = closing.tally
        return Standing(
            self.step, turn, seat, self.names[seat], closing.solvent, closing.stranded,
            closing.funds, closing.stock, closing.net_worth, tally.revenue,
            tally.cost_of_goods, tally.spend, tally.holding, tally.fixed, tally.liquidated,
            tally.shortfall, tally.write_down, tally.profit, tally.won, tally.sold,
            tally.attempts, tally.failed, tally.asked, outcome.impressions,
        )  # fmt: skip
