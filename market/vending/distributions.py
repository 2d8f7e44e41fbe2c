"""Typed distributions: how a configuration says what is random about a world.

Each is drawn whole, n values at once, from a generator of its own, and rounded to 1e-9: what the
last bits of a processor's logarithm say decides nothing.
"""

from __future__ import annotations

from math import fsum
from typing import TYPE_CHECKING, Annotated, Literal, Self

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, model_validator

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

#: Decimal places of everything that is drawn or derived before it may decide anything.
PLACES = 9

Finite = Annotated[float, Field(ge=-1e9, le=1e9, allow_inf_nan=False)]
Positive = Annotated[float, Field(gt=0, le=1e9, allow_inf_nan=False)]
NotNegative = Annotated[float, Field(ge=0, le=1e9, allow_inf_nan=False)]
Share = Annotated[float, Field(ge=0, le=1, allow_inf_nan=False)]


class Model(BaseModel):
    """Base of the vending configuration: immutable, and unknown keys are mistakes."""

    model_config = ConfigDict(extra="forbid", frozen=True, use_attribute_docstrings=True)


class Constant(Model):
    """Always the same value."""

    kind: Literal["constant"] = "constant"
    """Which distribution this is."""
    value: Finite
    """The value."""

    @property
    def least(self) -> float:
        """The value."""
        return self.value

    def draw(self, generator: np.random.Generator, n: int) -> NDArray[np.float64]:  # noqa: ARG002
        """N times the value; nothing is drawn."""
        import numpy as np

        return np.full(n, float(self.value))


class Uniform(Model):
    """Any value of an interval, equally likely."""

    kind: Literal["uniform"] = "uniform"
    """Which distribution this is."""
    low: Finite
    """Its low end."""
    high: Finite
    """Its high end."""

    @model_validator(mode="after")
    def _ordered(self) -> Self:
        if self.low > self.high:
            raise ValueError("low is above high")
        return self

    @property
    def least(self) -> float:
        """Its low end."""
        return self.low

    def draw(self, generator: np.random.Generator, n: int) -> NDArray[np.float64]:
        """N values."""
        return generator.uniform(self.low, self.high, n).round(PLACES)


class Gamma(Model):
    """A positive value around a mean."""

    kind: Literal["gamma"] = "gamma"
    """Which distribution this is."""
    mean: Positive
    """Its mean."""
    variance: Positive
    """Its variance."""

    @property
    def least(self) -> float:
        """No value is below 0."""
        return 0.0

    def draw(self, generator: np.random.Generator, n: int) -> NDArray[np.float64]:
        """N values."""
        shape = self.mean**2 / self.variance
        return generator.gamma(shape, self.mean / shape, n).round(PLACES)


class LogNormal(Model):
    """A positive factor, as likely to double as to halve."""

    kind: Literal["lognormal"] = "lognormal"
    """Which distribution this is."""
    mean: Positive = 1.0
    """Its mean."""
    sigma: NotNegative
    """Standard deviation of its logarithm."""

    @property
    def least(self) -> float:
        """No value is below 0."""
        return 0.0

    def draw(self, generator: np.random.Generator, n: int) -> NDArray[np.float64]:
        """N values."""
        import numpy as np

        normal = generator.standard_normal(n)
        return (self.mean * np.exp(self.sigma * normal - self.sigma**2 / 2)).round(PLACES)


class Categorical(Model):
    """One of several values."""

    kind: Literal["categorical"] = "categorical"
    """Which distribution this is."""
    values: Annotated[tuple[Finite, ...], Field(min_length=1)]
    """The values."""
    probabilities: Annotated[tuple[Share, ...], Field(min_length=1)]
    """The probability of each; they add up to 1."""

    @model_validator(mode="after")
    def _matched(self) -> Self:
        if len(self.values) != len(self.probabilities):
            raise ValueError("there are not as many probabilities as values")
        if abs(sum(self.probabilities) - 1) > 1e-9:
            raise ValueError(f"the probabilities add up to {sum(self.probabilities):.6g}, not to 1")
        return self

    @property
    def least(self) -> float:
        """The least of the values."""
        return min(self.values)

    def draw(self, generator: np.random.Generator, n: int) -> NDArray[np.float64]:
        """N values."""
        import numpy as np

        return np.array([self.at(float(uniform)) for uniform in generator.random(n)])

    def at(self, uniform: float) -> float:
        """The value at a uniform draw: the inverse of the distribution, in the stated order."""
        reached = 0.0
        for value, probability in zip(self.values, self.probabilities, strict=True):
            reached += probability
            if uniform < reached:
                return value
        return self.values[-1]


class Zipf(Model):
    """Weights that fall with rank to a power, in random order, with mean 1."""

    kind: Literal["zipf"] = "zipf"
    """Which distribution this is."""
    exponent: NotNegative
    """The power: the weight of rank r is proportional to r to minus this."""

    @property
    def least(self) -> float:
        """No weight is below 0."""
        return 0.0

    def draw(self, generator: np.random.Generator, n: int) -> NDArray[np.float64]:
        """N weights, each rank once."""
        import numpy as np

        shares = [rank**-self.exponent for rank in range(1, n + 1)]
        weights = (np.array(shares) * (n / fsum(shares))).round(PLACES)
        return generator.permutation(weights)


Distribution = Annotated[
    Constant | Uniform | Gamma | LogNormal | Categorical | Zipf, Field(discriminator="kind")
]


def _not_negative(distribution: Distribution) -> Distribution:
    if distribution.least < 0:
        raise ValueError("no value may be below 0")
    return distribution


def _above_one(distribution: Distribution) -> Distribution:
    if distribution.least <= 1:
        raise ValueError("all values must be above 1")
    return distribution


#: Distributions of what cannot be negative.
Amounts = Annotated[Distribution, AfterValidator(_not_negative)]
#: Distributions of ratios of variance to mean that a negative binomial can have.
Dispersions = Annotated[Distribution, AfterValidator(_above_one)]
