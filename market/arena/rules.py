"""The configuration of the arena: every number of a market, checked before anything is played.

Numbers are bounded so that no sum of money or goods leaves the 64 bits of arrays and tables,
whatever retailers answer.
"""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal
from typing import Annotated, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, StrictInt, model_validator

from market.arena.buyers import fitted

#: Highest price of sale where the rules set no cap, whole money.
MOST_PRICE = 10**12
#: Highest initial funds, whole money.
MOST_FUNDS = 10**15
#: More money or goods never change hands in an episode.
MOST_TRADE = 2**62

Positive = Annotated[StrictInt, Field(gt=0, le=10**9)]
NotNegative = Annotated[StrictInt, Field(ge=0, le=10**9)]
Share = Annotated[float, Field(ge=0, le=1, allow_inf_nan=False)]
Factor = Annotated[float, Field(ge=0, le=1e6, allow_inf_nan=False)]
PositiveFactor = Annotated[float, Field(gt=0, le=1e9, allow_inf_nan=False)]
Name = Annotated[str, Field(min_length=1, max_length=64)]
Words = Annotated[str, Field(min_length=1, max_length=500)]


class Model(BaseModel):
    """Base of the arena's configuration: immutable, and unknown keys are mistakes."""

    model_config = ConfigDict(extra="forbid", frozen=True, use_attribute_docstrings=True)


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
    willingness_to_pay: Mapping[Name, tuple[Factor, Factor]] | None = None
    """For each persona, the bounds of a uniform draw per buyer in multiples of the base price."""
    attention: Attention = Attention()
    """Attention of buyers."""

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
    stockless_offers: Literal["refused", "allowed"] = "refused"
    """Whether an item not held may be priced, and its retailer be considered for it."""
    retail: Literal["market", "induced"] = "market"
    """Sell to buyers, or redeem stock at private values: the auction alone."""
    induced: Induced | None = None
    """The private values; given exactly with `retail: induced`."""

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
            for persona, (low, high) in self.willingness_to_pay.items():
                if low > high:
                    raise ValueError(f"willingness_to_pay.{persona}: the low end is above the high")
        if self.retail == "market" and self.demand < self.buyers:
            raise ValueError(
                f"buyers: {self.buyers} buyers cannot share {self.demand} wanted units; each "
                "wants at least one"
            )
        if (self.retail == "induced") != (self.induced is not None):
            raise ValueError("induced: is given exactly with `retail: induced`")
        return self

    @model_validator(mode="after")
    def _playable(self) -> Self:
        for item in self.items:
            cap = self.cap(item)
            if cap is not None and -(-item.base // self.tick) * self.tick > cap:
                raise ValueError(
                    f"tick: no multiple of {self.tick} lies between the base price of "
                    f"{item.item}, {item.base}, and its cap, {cap}"
                )
        if self.funds(1) > MOST_FUNDS:
            raise ValueError(f"funds_alpha: initial funds must not exceed {MOST_FUNDS}")
        if max(sum(self.supply), self.demand) * self.steps * self._dearest() > MOST_TRADE:
            raise ValueError(
                "items: more money could change hands than 64 bits hold; set a lower price_cap, "
                "fewer units or fewer steps"
            )
        if self.affinity is not None:
            try:
                fitted(self.shares, self.supply, self.affinity)
            except ValueError as error:
                raise ValueError(f"tier_affinity: {error}") from error
        return self

    def quantity(self, item: Item) -> int:
        """Units of an item offered each step, at least 1."""
        return max(1, round_half_up(item.quantity * exact(self.supply_scale)))

    @property
    def supply(self) -> list[int]:
        """Units of each item offered each step."""
        return [self.quantity(item) for item in self.items]

    @property
    def demand(self) -> int:
        """Units wanted per step."""
        return round_half_up(sum(self.supply) * exact(self.demand_ratio))

    @property
    def shares(self) -> list[float]:
        """Share of each persona."""
        return [persona.share for persona in self.personas.values()]

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
        value = sum(self.quantity(item) * item.base for item in self.items)
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

    def _dearest(self) -> int:
        """The most that a unit of anything may be asked, be worth or cost to keep."""
        willingness = self.willingness_to_pay or {}
        most = exact(max((high for _, high in willingness.values()), default=0.0))
        return max(
            max(self.cap(item) or MOST_PRICE, int(item.base * most) + 1, self.holding(item))
            for item in self.items
        )


def exact(number: float) -> Decimal:
    """The decimal that a person wrote, so that 0.95 x 1000 is 950."""
    return Decimal(repr(number))


def round_half_up(number: Decimal) -> int:
    """The nearest whole number, halves up."""
    return int((number + Decimal("0.5")) // 1)


def _same_keys(where: str, given: Mapping[str, object], wanted: object) -> None:
    expected = set(wanted)  # type: ignore[call-overload]
    if set(given) != expected:
        missing, extra = sorted(expected - set(given)), sorted(set(given) - expected)
        parts = [f"lacks {', '.join(missing)}"] if missing else []
        parts += [f"does not know {', '.join(extra)}"] if extra else []
        raise ValueError(f"{where}: {' and '.join(parts)}")
