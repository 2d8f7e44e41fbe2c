"""The configuration of the arena: every number of a market, checked before anything is played.

Numbers are bounded so that no sum of money or goods leaves the 64 bits of arrays and tables,
whatever retailers answer.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from decimal import Decimal
from typing import Annotated, Any, Literal, Self

from pydantic import Field, StrictInt, model_validator

from market.arena import languages, linked, phrases, seating
from market.arena.buyers import fitted
from market.arena.fields import (
    Factor,
    Model,
    Name,
    NotNegative,
    Positive,
    PositiveFactor,
    Share,
    Words,
    exact,
    round_half_up,
)
from market.arena.linked import LinkedMarket
from market.arena.phrases import Text
from market.arena.regulars import BuyerMemory
from market.arena.supply import SupplyNoise, offered
from market.extensions import extension

#: Highest price of sale where the rules set no cap, whole money.
MOST_PRICE = 10**12
#: Highest initial funds, whole money.
MOST_FUNDS = 10**15
#: More money or goods never change hands in an episode.
MOST_TRADE = 2**62

#: A part of a mixture: its weight, and the ends of a uniform draw in multiples of base.
Part = tuple[PositiveFactor, Factor, Factor]


class Item(Model):
    """One kind of good that the supplier offers anew each step."""

    item: Name
    """Its name."""
    tier: Name
    """Its class of goods, which buyers may favour or avoid."""
    quantity: Positive
    """Units offered each step, before `supply_scale`."""
    base: Positive
    """The supplier's base price: lowest valid bid, whole money per unit."""


class Persona(Model):
    """One kind of buyer. Retailers never see these."""

    share: Share
    """Share of the buyers; all shares add up to 1."""
    sensitivity: Factor
    """Lambda: how strongly the buyer's attention follows slogans."""
    theme: Words
    """The words that a slogan is compared with."""
    rho: Share | None = None
    """Patience of this persona alone; the market's `attention.rho` where not given."""
    demand: Annotated[float, Field(gt=0, le=1_000, allow_inf_nan=False)] = extension(1.0)
    """Units that such a buyer wants, relative to those of other personas."""


class Attention(Model):
    """How many retailers a buyer considers, and how words move the choice."""

    rho: Share = 0.6
    """Patience: share of `k_max` that a buyer considers."""
    k_max: Positive = 20
    """Retailers that a buyer of patience 1 considers."""
    tau: PositiveFactor = 1.0
    """Semantic temperature: the larger, the less words matter."""
    similarity: Literal["encoder", "none"] = "encoder"
    """`encoder` compares slogans with themes; `none` leaves words without meaning."""


class Salvage(Model):
    """Leftover stock is worth a fraction of the lesser of average cost and base price."""

    salvage: Share
    """The fraction."""


class Induced(Model):
    """Private values at which stock is redeemed when there is no retail (`retail: induced`)."""

    low: NotNegative = 0
    """Lowest value, whole money per unit."""
    high: Positive = 10_000
    """Highest value, whole money per unit; values are uniform in between."""
    units: Positive = 1
    """Units of each item that a retailer can redeem per step."""

    @model_validator(mode="after")
    def _ordered(self) -> Self:
        if self.low > self.high:
            raise ValueError("low is above high")
        return self


class ArenaRules(Model):
    """The rules of one competitive market (`rules:` of a configuration)."""

    steps: Positive = 6
    """Steps of the episode."""
    bidding_rounds: Positive = 2
    """Sealed-bid rounds per step; only the last one settles."""
    items: Annotated[tuple[Item, ...], Field(min_length=1)]
    """What the supplier offers each step."""
    supply_scale: PositiveFactor = 1.0
    """Multiplies every quantity; demand follows."""
    supply_noise: SupplyNoise | None = extension()
    """How far offers depart from these quantities; null for the same offers each step."""
    personas: Annotated[Mapping[Name, Persona], Field(min_length=1)]
    """The kinds of buyers."""
    buyers: Positive = 200
    """Buyers per step."""
    demand_ratio: PositiveFactor = 0.95
    """Units wanted per step over units offered."""
    item_draw: Literal["iid", "stratified"] = "iid"
    """Whether each buyer's item is drawn alone or the shares are met as closely as possible."""
    persona_draw: Literal["iid", "stratified"] = "iid"
    """Whether each buyer's persona is drawn alone or the shares are met as closely as possible."""
    tier_affinity: Mapping[Name, Mapping[Name, Factor]] | None = None
    """For each persona and tier, how much it favours the tier over its share of supply."""
    willingness_to_pay: (
        Mapping[Name, tuple[Factor, Factor] | Annotated[tuple[Part, ...], Field(min_length=1)]]
        | None
    ) = None
    """For each persona, the bounds of a uniform draw per buyer in multiples of the base price; or a
    mixture of such draws, a list of weight and bounds."""
    attention: Attention = Attention()
    """Attention of buyers."""
    buyer_memory: BuyerMemory | None = extension()
    """How buyers return and remember retailers; null for strangers in each step."""

    funds_alpha: PositiveFactor = 1.5
    """Initial funds of a retailer, as a multiple of the supply's base value per retailer."""
    initial_funds: Annotated[StrictInt, Field(gt=0, le=MOST_FUNDS)] | None = None
    """Initial funds in whole money; overrides `funds_alpha`."""
    holding_cost: Factor = 0.0
    """Cost of keeping one unit for one step, as a fraction of its base price (half up)."""
    fixed_cost: NotNegative = 0
    """Cost of being in the market for one step, whole money."""
    terminal_stock: Literal["cost"] | Salvage = "cost"
    """What stock is worth at the end: its cost, or salvage."""

    price_cap: Annotated[float, Field(ge=1, le=1e6, allow_inf_nan=False)] | None = 3.0
    """Highest bid and highest price, in multiples of base; null for none."""
    tick: Positive = 1
    """Bids and prices are whole multiples of it."""
    lines_per_item: Positive = 3
    """Bid lines a retailer may place on one item: a demand schedule."""
    pricing: Literal["discriminatory", "uniform"] = "discriminatory"
    """Winners pay their own price, or the highest losing bid."""
    ties: Literal["random", "prorata"] = "prorata"
    """Equal bids are served in random order, or by shares of quantity."""
    over_budget: Literal["void", "trim"] = "trim"
    """A bid beyond funds is void as a whole, or cut in the stated order of its lines."""
    round_rule: Literal["free", "monotone"] = "free"
    """Whether a later round may lower a price or raise a quantity."""
    bid_feedback: Literal["own", "clearing", "full"] = "clearing"
    """What is shown after each round: own allocation, also prices to win, or all bids."""

    slogan_words: Positive = 25
    """Words of a slogan; more are cut."""
    attention_feedback: Literal["none", "impressions"] = "impressions"
    """Whether a retailer learns how many buyers considered it."""
    rival_text: Literal["shown", "hidden"] = "shown"
    """Whether retailers read each other's slogans."""
    language: Name = extension("en")
    """Language of prompts."""
    texts: Mapping[Name, Mapping[Name, Text]] | None = extension()
    """Own words of prompts, over those of the language: by section and name of the phrase, one text
    or one per wording."""
    stockless_offers: Literal["refused", "allowed"] = "refused"
    """Whether an item not held may be priced, and its retailer be considered for it."""
    retail: Literal["market", "induced"] = "market"
    """Sell to buyers, or redeem stock at private values: the auction alone."""
    induced: Induced | None = None
    """The private values; given exactly with `retail: induced`."""

    markets: Mapping[Name, LinkedMarket] | None = extension()
    """Linked markets, in each of which every item is a good of its own; null for one market."""
    transport: Factor = extension(0.0)
    """Cost of moving a unit from one market to another, as a fraction of the item's base price
    (half up)."""
    entry: Mapping[Name, Positive] | None = extension()
    """Step at which seats enter the market, by the id of a seat or the name of a retailer; others
    are there from the first."""
    exit: Literal["none", "voluntary"] = extension("none")
    """Whether a retailer may sell off its stock and leave."""
    owners: Mapping[Name, Annotated[tuple[Name, ...], Field(min_length=1)]] | None = extension()
    """For each owner of several seats, their ids or the names of its retailers; others own
    themselves."""

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        names = [item.item for item in self.items]
        if len(set(names)) < len(names):
            raise ValueError("items: two items have the same name")
        total = sum(persona.share for persona in self.personas.values())
        if abs(total - 1) > 1e-9:
            raise ValueError(f"personas: the shares add up to {total:.6g}, not to 1")
        if self.tier_affinity is not None:
            tiers = {item.tier for item in self.items}
            _same_keys("tier_affinity", self.tier_affinity, self.personas)
            for persona, row in self.tier_affinity.items():
                _same_keys(f"tier_affinity.{persona}", row, tiers)
                if not any(row.values()):
                    raise ValueError(f"tier_affinity.{persona}: at least one tier must be wanted")
        if self.willingness_to_pay is not None:
            _same_keys("willingness_to_pay", self.willingness_to_pay, self.personas)
            for persona in self.personas:
                if any(low > high for _, low, high in self.limits(persona)):
                    raise ValueError(f"willingness_to_pay.{persona}: the low end is above the high")
        if self.buyer_memory and self.persona_draw == "stratified":
            raise ValueError(
                "persona_draw: with `buyer_memory` personas stay from step to step, so shares hold "
                "by chance alone; take `iid`"
            )
        if self.retail == "market" and self.demand < self.buyers:
            raise ValueError(
                f"buyers: {self.buyers} buyers cannot share {self.demand} wanted units; each "
                "wants at least one"
            )
        try:
            languages.texts(self.language)
        except ValueError as error:
            raise ValueError(f"language: {error}") from error
        if self.texts is not None:
            phrases.check(self.texts)
        if (self.retail == "induced") != (self.induced is not None):
            raise ValueError("induced: is given exactly with `retail: induced`")
        late = [name for name, step in (self.entry or {}).items() if step > self.steps]
        if late:
            raise ValueError(f"entry.{late[0]}: comes after the last step, {self.steps}")
        linked.check(self)
        return self

    @model_validator(mode="after")
    def _playable(self) -> Self:
        for item in linked.goods(self):
            cap = self.cap(item)
            if cap is not None and -(-item.base // self.tick) * self.tick > cap:
                raise ValueError(
                    f"tick: no multiple of {self.tick} lies between the base price of "
                    f"{item.item}, {item.base}, and its cap, {cap}"
                )
        if self.funds(1) > MOST_FUNDS:
            raise ValueError(f"funds_alpha: initial funds must not exceed {MOST_FUNDS}")
        if max(self._most_supply(), self.demand) * self.steps * self._dearest() > MOST_TRADE:
            raise ValueError(
                "items: more money could change hands than 64 bits hold; set a lower price_cap, "
                "fewer units or fewer steps"
            )
        if self.affinity is not None:
            try:
                fitted(self.wanted_shares, self.supply, self.affinity)
            except ValueError as error:
                raise ValueError(f"tier_affinity: {error}") from error
        return self

    def quantity(self, item: Item) -> int:
        """Units of an item offered each step, at least 1; with noise those of a mean delivery."""
        return max(1, round_half_up(item.quantity * exact(self.supply_scale)))

    @property
    def supply(self) -> list[int]:
        """Units of each item offered each step, or in a mean delivery."""
        return [self.quantity(item) for item in self.items]

    def offers(self, seed: int, step: int) -> Mapping[str, int]:
        """Units of each item that the supplier offers in a step of an episode."""
        quantities = {item.item: self.quantity(item) for item in self.items}
        return offered(self.supply_noise, seed, step, quantities)

    def expected(self, item: Item) -> float:
        """Units of an item offered on average, missed deliveries included."""
        noise = self.supply_noise
        return self.quantity(item) * (1 - noise.shock) if noise else self.quantity(item)

    @property
    def demand(self) -> int:
        """Units wanted per step."""
        return round_half_up(sum(self.supply) * exact(self.demand_ratio))

    @property
    def shares(self) -> list[float]:
        """Share of each persona in the buyers."""
        return [persona.share for persona in self.personas.values()]

    @property
    def wanted_shares(self) -> list[float]:
        """Share of each persona in the units wanted, up to a common factor."""
        return [persona.share * persona.demand for persona in self.personas.values()]

    @property
    def appetites(self) -> list[float] | None:
        """Units that a buyer of each persona wants, relatively; None where all want the same."""
        wanted = [persona.demand for persona in self.personas.values()]
        return wanted if len(set(wanted)) > 1 else None

    def limits(self, persona: str) -> tuple[Part, ...]:
        """What a persona is willing to pay, as a mixture; empty without limits."""
        if self.willingness_to_pay is None:
            return ()
        given: Any = self.willingness_to_pay[persona]
        return tuple(given) if isinstance(given[0], tuple) else ((1.0, *given),)

    @property
    def affinity(self) -> list[list[float]] | None:
        """How much each persona favours each item; None where all want the same."""
        rows = self.tier_affinity
        if rows is None:
            return None
        return [[rows[persona][item.tier] for item in self.items] for persona in self.personas]

    @property
    def decisions_per_seat(self) -> int:
        """Decisions of one retailer in an episode, if it stays solvent."""
        return self.steps * (self.bidding_rounds + (self.retail == "market"))

    @property
    def words(self) -> Mapping[str, Mapping[str, Any]] | None:
        """Phrases of prompts, by section and name, that are not the English ones; None for none."""
        shipped, own = languages.texts(self.language), self.texts or {}
        sections = dict.fromkeys([*shipped, *own])
        return {each: {**shipped.get(each, {}), **own.get(each, {})} for each in sections} or None

    def cap(self, item: Item) -> int | None:
        """The highest valid price of an item, a multiple of the tick; None without a cap."""
        if self.price_cap is None:
            return None
        return int(item.base * exact(self.price_cap)) // self.tick * self.tick

    def holding(self, item: Item) -> int:
        """Cost of keeping one unit of an item for one step, whole money."""
        return round_half_up(item.base * exact(self.holding_cost))

    def funds(self, retailers: int) -> int:
        """Initial funds of one of so many retailers."""
        if self.initial_funds is not None:
            return self.initial_funds
        market = linked.apart(self)
        value = sum(market.quantity(item) * item.base for item in market.items)
        return round_half_up(exact(self.funds_alpha) * value / retailers)

    def resized(self, retailers: int, nominal: int, keep: Literal["market", "share"]) -> Self:
        """The rules for so many retailers instead of the nominal number.

        Initial funds become those of the nominal number, in whole money. With `share` supply and
        buyers grow or shrink in proportion, supply as a factor and buyers to the nearest one; an
        item keeps one unit at least.

        Args:
            retailers: Retailers that play.
            nominal: Retailers that the rules are meant for.
            keep: `market`: supply, buyers and the funds of each. `share`: all that per retailer.

        Raises:
            pydantic.ValidationError: If no valid market is left.
        """
        changed: dict[str, object] = {"initial_funds": self.funds(nominal)}
        if keep == "share":
            factor = Decimal(retailers) / nominal
            changed["supply_scale"] = float(exact(self.supply_scale) * factor)
            changed["buyers"] = max(1, round_half_up(self.buyers * factor))
        return type(self).model_validate(self.model_dump() | changed)

    def refuse_seats(self, seats: Sequence[str]) -> None:
        """Hold the names of seats against all that a roster of the configuration may have.

        Raises:
            ValueError: If there is none of a name, or one has two, as `key: words`.
        """
        if wrong := seating.refused(self, seats):
            raise ValueError(wrong)

    def _most_supply(self) -> int:
        """No step offers more units in all."""
        units = sum(self.supply) + (len(linked.goods(self)) if self.markets else 0)
        if self.supply_noise is None:
            return units
        return int(units * exact(self.supply_noise.most)) + len(self.items)

    def _dearest(self) -> int:
        """The most that a unit of anything may be asked, be worth or cost to keep."""
        ends = [high for persona in self.personas for _, _, high in self.limits(persona)]
        most = exact(max(ends, default=0.0))
        return max(
            max(self.cap(item) or MOST_PRICE, int(item.base * most) + 1, self.holding(item))
            for item in linked.goods(self)
        )


def _same_keys(where: str, given: Mapping[str, object], wanted: object) -> None:
    expected = set(wanted)  # type: ignore[call-overload]
    if set(given) != expected:
        missing, extra = sorted(expected - set(given)), sorted(set(given) - expected)
        parts = [f"lacks {', '.join(missing)}"] if missing else []
        parts += [f"does not know {', '.join(extra)}"] if extra else []
        raise ValueError(f"{where}: {' and '.join(parts)}")
