"""The configuration of the vending operation: every number of a world, with its unit.

Money is in CNY with at most two decimals. What operators never see (popularity, preferences,
sensitivities, traffic) is here as distributions, from which a world is drawn.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date, timedelta
from decimal import Decimal
from typing import Annotated, Literal, Self

from pydantic import AfterValidator, Field, StrictInt, StringConstraints, model_validator

from market.vending.distributions import (
    Amounts,
    Categorical,
    Dispersions,
    LogNormal,
    Model,
    NotNegative,
    Positive,
    Share,
    Uniform,
    Zipf,
)
from market.vending.fitted import Fitted
from market.vending.money import fen

#: Days ahead that a forecast reaches, today not counted.
FORECAST = 7
#: Most seats that share a world.
MOST_OPERATORS = 20
#: Country unless told otherwise.
COUNTRY = "CN"

Count = Annotated[StrictInt, Field(ge=1, le=100_000)]
Days = Annotated[StrictInt, Field(ge=1, le=3_660)]
Label = Annotated[str, StringConstraints(min_length=1, max_length=64)]


def _money(amount: float) -> float:
    fen(amount)
    return amount


Money = Annotated[
    float, Field(ge=0, le=1e9, allow_inf_nan=False), AfterValidator(_money)
]  # CNY, two decimals
Week = Annotated[tuple[NotNegative, ...], Field(min_length=7, max_length=7)]


def _kept(country: str) -> str:
    if country == COUNTRY:  # a retailer that is told the rules need not wait for the library
        return country
    import holidays

    if country not in holidays.list_supported_countries():
        raise ValueError(
            f"nobody keeps the public holidays of `{country}`; give the two letters of a country "
            "that the library `holidays` has, such as CN"
        )
    return country


class SiteType(Model):
    """A kind of place where machines stand."""

    sites: Count = 4
    """Sites of this type. Every operator has one machine at each."""
    sensitivity: Annotated[float, Field(ge=0, le=20, allow_inf_nan=False)]
    """Hidden. b: attraction falls by exp(-b) when the price is twice the reference."""
    week: Week
    """Hidden. Traffic factor of each weekday, from Monday."""
    holiday: NotNegative
    """Hidden. Traffic factor of public holidays, in place of the weekday's."""
    traffic: Amounts
    """Hidden. Mean visits per day of each site of the type, before every other factor."""


class Subcategory(Model):
    """A kind of product."""

    shelf_life: Days
    """Days that a batch stays good, counted from its arrival in the warehouse."""
    reference: Amounts
    """Reference price, CNY; rounded to the half CNY, at least 0.50."""
    volume: Categorical = Categorical(values=(1, 2), probabilities=(0.7, 0.3))
    """Volume units that one unit of a product takes, whole."""


class Condition(Model):
    """A condition of the weather."""

    probability: Share
    """How often it comes; those of all conditions add up to 1."""
    traffic: NotNegative
    """Hidden. Traffic factor of such a day."""


class Weather(Model):
    """The weather: a condition that lingers, a temperature with seasons, and a forecast."""

    conditions: Annotated[dict[Label, Condition], Field(min_length=1)] = Field(
        default={
            "clear": Condition(probability=0.4, traffic=1.05),
            "cloudy": Condition(probability=0.3, traffic=1.0),
            "rain": Condition(probability=0.24, traffic=0.85),
            "storm": Condition(probability=0.06, traffic=0.65),
        }
    )
    """The conditions."""
    lingering: Share = 0.4
    """Probability that a day keeps the condition of the day before."""
    mean_temperature: Annotated[float, Field(ge=-50, le=50)] = 17.0
    """Mean of the year, degrees Celsius."""
    seasonal_swing: NotNegative = 12.0
    """Half the difference between the warmest and the coldest day of a mean year, degrees."""
    warmest_day: Annotated[StrictInt, Field(ge=1, le=366)] = 205
    """Day of the year that is warmest in the mean."""
    temperature_noise: NotNegative = 3.0
    """Standard deviation of a day around the season, degrees."""
    pleasant: Annotated[float, Field(ge=-50, le=50)] = 20.0
    """Hidden. Temperature at which most people are about, degrees Celsius."""
    discomfort: Share = 0.006
    """Hidden. Share of traffic lost per degree away from it."""
    forecast_error: Share = 0.06
    """Probability per day ahead that a forecast shows another day's condition."""

    @model_validator(mode="after")
    def _matched(self) -> Self:
        total = sum(condition.probability for condition in self.conditions.values())
        if abs(total - 1) > 1e-9:
            raise ValueError(f"conditions: the probabilities add up to {total:.6g}, not to 1")
        return self


class Demand(Model):
    """How customers choose; all of it is hidden."""

    popularity: Amounts = Zipf(exponent=0.8)
    """Attraction of each product at its reference price, relative to the mean product."""
    preference: Amounts = LogNormal(sigma=0.45)
    """Factor of each (site type, subcategory)."""
    type_alignment: Amounts = LogNormal(sigma=0.45)
    """Factor of each (site type, product): what a type of site likes for reasons of its own."""
    site_alignment: Amounts = LogNormal(sigma=0.6)
    """Factor of each (site, product): what one site alone likes."""
    outside: Positive = 300.0
    """Attraction of buying nothing, in products of mean popularity."""
    presence: Positive = 3.0
    """Units k after which more units hardly help: presence is 1 - exp(-units / k)."""
    empty_appeal: Share = 0.6
    """Demand at an almost empty machine, as a share of that at a full one."""
    crowds: Amounts = Uniform(low=0.1, high=0.4)
    """Variance, per site, of the gamma factor of mean 1 that all sales of a day there share."""
    dispersion: Dispersions = Uniform(low=1.2, high=1.8)
    """Variance over mean of a product's sales given its mean, per product; above 1."""


class VendingRules(Model):
    """The rules of a vending operation (`rules:` of a configuration)."""

    days: Days = 180
    """Length of the episode."""
    operation: Literal["alone", "shared"] = "alone"
    """`alone`: each seat plays in its own copy of the world. `shared`: up to 20 seats have machines
    at the same sites and share their traffic."""
    worlds: Literal["public", "held_out"] = "public"
    """`held_out`: worlds and luck come from seeds that only the holder of the salt can know."""
    salt_variable: Annotated[str, Field(pattern=r"^[A-Z][A-Z0-9_]*$")] = "MARKET_WORLD_SALT"
    """Environment variable that holds the salt of held-out worlds."""
    world: StrictInt | None = None
    """Seed of the world; null: the episode's seed. Luck always comes from the episode's seed."""
    informed: tuple[Label, ...] = ()
    """Seats that are told the hidden world on day 1, as `hidden` in their private view: for
    reference policies that know how customers choose. Ids that nobody has are ignored."""
    start: date = date(2025, 3, 3)
    """Date of day 1."""
    place: Label = "Shanghai"
    """Where it is, for readers."""
    country: Annotated[str, Field(pattern=r"^[A-Z]{2}$"), AfterValidator(_kept)] = COUNTRY
    """Country whose public holidays are kept, as two letters (ISO 3166)."""

    products: Count = 1_372
    """Products of the catalogue, spread evenly over the subcategories."""
    subcategories: dict[Label, Subcategory] = Field(default={})
    """The kinds of products; needed unless the world is given."""
    cost_share: Amounts = Uniform(low=0.45, high=0.75)
    """Unit cost of each product over its reference price."""
    sites: dict[Label, SiteType] = Field(default={})
    """The types of sites; needed unless the world is given."""
    fitted: Fitted | None = None
    """A world that is given, in place of one that is drawn: what `market calibrate` writes."""
    slots: Annotated[StrictInt, Field(ge=1, le=1_000)] = 60
    """Products that a machine can list."""
    volume: Count = 400
    """Volume units that a machine can hold."""

    cash: Money = 40_000.0
    """Money at the start, CNY."""
    visit_fee: Money = 35.0
    """Cost of a machine touched, per day, CNY."""
    fixed_fee: Money = 80.0
    """Cost of a day, CNY."""
    rent: Money = 0.02
    """Cost of a unit in the warehouse, per day, CNY."""
    fine: Money = 1_000.0
    """Cost of an expired unit sold, CNY."""
    price_cap: Annotated[float, Field(ge=1, le=1_000, allow_inf_nan=False)] = 3.0
    """Highest price, in multiples of the reference."""
    lead_promised: Days = 3
    """Days from order to delivery, as promised."""
    lead_time: Categorical = Categorical(values=(3, 4, 5), probabilities=(0.85, 0.12, 0.03))
    """Days that an order line takes, by (day, product)."""

    calls_per_day: Annotated[StrictInt, Field(ge=1, le=1_000)] = 80
    """Tool calls of a day; when they are used up the day ends."""
    notes: Annotated[StrictInt, Field(ge=0, le=100_000)] = 6_000
    """Characters of the notebook."""

    weather: Weather = Weather()
    """The weather."""
    demand: Demand = Demand()
    """Demand."""

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        for what, values in (
            ("lead_time", self.lead_time.values),
            *((f"subcategories.{name}.volume", s.volume.values)
              for name, s in self.subcategories.items()),
        ):  # fmt: skip
            if any(value != int(value) or value < 1 for value in values):
                raise ValueError(f"{what}: values are whole and at least 1")
        if self.fitted is None:
            for key in ("subcategories", "sites"):
                if not getattr(self, key):
                    raise ValueError(f"{key}: there must be at least one")
        if self.products < len(self.subcategories):
            raise ValueError("products: there must be at least one per subcategory")
        latest = date.max - timedelta(days=self.days + FORECAST - 1)
        if self.start > latest:
            raise ValueError(
                f"start: the calendar ends before {self.days} days and the week after them have "
                f"passed; begin on {latest} at the latest"
            )
        return self

    def refuse_roster(self, seats: Sequence[str]) -> None:
        """Hold the number of seats of one episode against how many can share a world.

        Raises:
            ValueError: If there are too many, as `key: words`.
        """
        if self.operation == "shared" and len(seats) > MOST_OPERATORS:
            raise ValueError(
                f"operation: {len(seats)} seats share a world, which at most {MOST_OPERATORS} can; "
                "seat fewer, or let them play `alone`"
            )

    def highest_price(self, reference: int) -> int:
        """The highest price allowed, in fen, of a product of a reference price in fen."""
        # The decimal that a person wrote: 1.15 times 400 are 460, though not of floats.
        return int(reference * Decimal(repr(self.price_cap)))

    @property
    def steps(self) -> int:
        """Steps of the episode: its days."""
        return self.days

    @property
    def machines(self) -> int:
        """Machines of one operator."""
        if self.fitted is not None:
            return len(self.fitted.sites)
        return sum(kind.sites for kind in self.sites.values())
