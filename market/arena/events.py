"""What happens in the arena, as typed rows: the columns of its tables.

Money is whole, quantities are units, similarities are integers of 1e-6. `seat` is `*` on rows
about the whole market.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from market.environment import Event

#: The seat of rows about the whole market.
EVERYONE = "*"


@dataclass(frozen=True, slots=True)
class Supply(Event):
    """What the supplier offered in a round and what it took to win.

    Attributes:
        round: Bidding round, from 1.
        settling: Whether this round settles.
        item: The item.
        quantity: Units offered.
        base: Base price per unit.
        asked: Units bid for by valid lines.
        awarded: Units awarded.
        price_to_win: Base price if units remain, else the lowest winning price.
        units_at_it: Units bid at that price.
    """

    table: ClassVar[str] = "supply"

    round: int
    settling: bool
    item: str
    quantity: int
    base: int
    asked: int
    awarded: int
    price_to_win: int
    units_at_it: int


@dataclass(frozen=True, slots=True)
class Bid(Event):
    """One bid line.

    Attributes:
        round: Bidding round, from 1.
        settling: Whether this round settles; an earlier one is provisional.
        item: The item as written, cut at 64 characters.
        quantity: Units asked as written; at most 2**53 - 1 either way.
        price: Price per unit as written; at most 2**53 - 1 either way.
        awarded: Units awarded.
        paid: Money paid for them.
        reason: Why the line, or what was cut of it, is void; null when it is not.
    """

    table: ClassVar[str] = "bids"

    round: int
    settling: bool
    item: str
    quantity: int
    price: int
    awarded: int
    paid: int
    reason: str | None


@dataclass(frozen=True, slots=True)
class Offer(Event):
    """One valid price of one retailer, and what came of it.

    Attributes:
        item: The item.
        base: Its base price.
        price: Asked per unit.
        stock: Units held when retail opened.
        asked: Units that buyers wanted of this retailer.
        sold: Units sold.
        revenue: Money taken.
        cost: Cost of the goods sold.
    """

    table: ClassVar[str] = "offers"

    item: str
    base: int
    price: int
    stock: int
    asked: int
    sold: int
    revenue: int
    cost: int


@dataclass(frozen=True, slots=True)
class Refusal(Event):
    """Something of a selling answer that was void or mended.

    Attributes:
        what: `price` or `slogan`.
        item: The item of a price, cut at 64 characters; empty for a slogan.
        price: The price as written, at most 2**53 - 1 either way; null for a slogan.
        reason: Why.
    """

    table: ClassVar[str] = "refusals"

    what: str
    item: str
    price: int | None
    reason: str


@dataclass(frozen=True, slots=True)
class Slogan(Event):
    """What a retailer said in a step, and who noticed.

    Attributes:
        name: Its public name in the episode.
        slogan: The words, after cutting and cleaning.
        open: Whether it had a valid price when retail opened.
        impressions: Buyers who considered it.
        match: Mean similarity of the slogan with this step's buyers, in units of 1e-6; null
            without a slogan.
    """

    table: ClassVar[str] = "slogans"

    name: str
    slogan: str
    open: bool
    impressions: int
    match: float | None


@dataclass(frozen=True, slots=True)
class Similarity(Event):
    """How near a slogan is to what a persona cares for.

    Attributes:
        persona: The persona.
        similarity: Cosine in units of 1e-6.
    """

    table: ClassVar[str] = "similarities"

    persona: str
    similarity: int


@dataclass(frozen=True, slots=True)
class Demand(Event):
    """What buyers wanted of an item and what became of it.

    Attributes:
        item: The item.
        buyers: Buyers who wanted it.
        wanted: Units they wanted.
        sold: Units they got.
        priced_out: Units given up at a price above the buyer's limit.
        unserved: Units for which no considered retailer was left.
        surplus: Buyers' gain: limit less price, summed over units; null without limits.
    """

    table: ClassVar[str] = "demand"

    item: str
    buyers: int
    wanted: int
    sold: int
    priced_out: int
    unserved: int
    surplus: int | None


@dataclass(frozen=True, slots=True)
class Standing(Event):
    """The books of one retailer at the end of a step.

    Attributes:
        name: Its public name in the episode.
        solvent: False once it could not pay and left.
        stranded: Without stock and without the funds for the cheapest item.
        funds: Money.
        stock: Units held.
        net_worth: Funds and stock at the lesser of average cost and base price.
        revenue: Money taken in the step.
        cost_of_goods: Cost of the units sold.
        spend: Money paid in the auction.
        holding: Holding cost due.
        fixed: Fixed cost due.
        liquidated: Proceeds less cost of stock sold to pay costs.
        shortfall: Costs that could not be paid.
        write_down: Stock written down to its terminal value, in the last step.
        profit: Profit of the step.
        won: Units won in the auction.
        sold: Units sold.
        attempts: Times a buyer reached it with an acceptable price.
        failed: Attempts that found no stock.
        asked: Units asked of it.
        impressions: Buyers who considered it.
    """

    table: ClassVar[str] = "standings"

    name: str
    solvent: bool
    stranded: bool
    funds: int
    stock: int
    net_worth: int
    revenue: int
    cost_of_goods: int
    spend: int
    holding: int
    fixed: int
    liquidated: int
    shortfall: int
    write_down: int
    profit: int
    won: int
    sold: int
    attempts: int
    failed: int
    asked: int
    impressions: int


@dataclass(frozen=True, slots=True)
class Index(Event):
    """One figure of the whole market in a step.

    Attributes:
        index: Its name.
        item: The item it is about; empty for the whole market, `@` and a name for all items of one
            of several linked markets.
        value: Its value; null where undefined.
    """

    table: ClassVar[str] = "indices"

    index: str
    item: str
    value: float | None


@dataclass(frozen=True, slots=True)
class Passage(Event):
    """A retailer that came into the market later, or left it by its own choice.

    Attributes:
        name: Its public name in the episode.
        what: `entered` or `left`.
        funds: Its funds then, with the proceeds of its stock where it left.
    """

    table: ClassVar[str] = "passages"

    name: str
    what: str
    funds: int


@dataclass(frozen=True, slots=True)
class Shipment(Event):
    """Goods that a retailer wanted moved from one linked market to another.

    Attributes:
        item: The good as written, cut at 64 characters.
        source: The market to take it from, cut likewise.
        target: The market to bring it to, cut likewise.
        quantity: Units as written; at most 2**53 - 1 either way.
        fee: Money paid for it; 0 where it is void.
        reason: Why it is void; null when it is not.
    """

    table: ClassVar[str] = "shipments"

    item: str
    source: str
    target: str
    quantity: int
    fee: int
    reason: str | None


EVENTS: tuple[type[Event], ...] = (
    Supply, Bid, Offer, Refusal, Slogan, Similarity, Demand, Standing, Index, Passage, Shipment,
)  # fmt: skip
