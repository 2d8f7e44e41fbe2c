"""The `study` section: a tournament in every cell of a design, and one question asked of it.

A cell is a setting of any fields of the configuration (`vary`). In each one all rosters meet on the
same seeds, so that cells differ in their settings and in nothing drawn. The cells and their
episodes are made by `market/study/sweeps/plan.py`; `market study` plays them.
"""

from __future__ import annotations

import math
from typing import Annotated, Any, Literal, Self

from pydantic import Field, ValidationInfo, field_validator, model_validator

from market.config.model import OUTCOME, Model
from market.config.tournament import Tournament

#: A figure of an episode or of a cell (`market/study/sweeps/outcomes.py`).
Outcome = Annotated[str, Field(pattern=OUTCOME, max_length=130)]


class Range(Model):
    """Numbers between two ends; whole ones where both ends are whole."""

    low: int | float
    """The low end."""
    high: int | float
    """The high end."""
    log: bool = False
    """Equal factors, instead of equal differences, are equally far."""
    levels: Annotated[int, Field(ge=2, le=10_000)] | None = None
    """`grid`: how many of them, both ends included."""

    # Of a field each, so that a complaint stands at one, and not at that of another alternative.
    @field_validator("high")
    @classmethod
    def _above(cls, high: float, known: ValidationInfo) -> float:
        if high <= known.data.get("low", -math.inf):
            raise ValueError("it is not above low")
        return high

    @field_validator("log")
    @classmethod
    def _positive(cls, log: bool, known: ValidationInfo) -> bool:
        if log and known.data.get("low", 1) <= 0:
            raise ValueError("factors need a low end above 0")
        return log

    def at(self, share: float) -> int | float:
        """The number at a share, from 0 to 1, of the way; fractions have six digits."""
        if self.log:
            value = math.exp(
                math.log(self.low) + share * (math.log(self.high) - math.log(self.low))
            )
        else:
            value = self.low + share * (self.high - self.low)
        if isinstance(self.low, int) and isinstance(self.high, int):
            return round(value)
        return float(f"{value:.6g}")


class Scale(Model):
    """Multiples of what stands there; with `*` in the key, of all of it together."""

    scale: Annotated[list[float], Field(min_length=1)]
    """The factors."""


class Power(Model):
    """What is known, before anything is played, about how far seeds scatter."""

    deviation: Annotated[float, Field(gt=0)] | None = None
    """Standard deviation over seeds of the difference of the primary outcome between two cells."""
    share: Annotated[float, Field(gt=0, lt=1)] = 0.8
    """Chance to find a difference that is there."""
    pilot_seeds: Annotated[int, Field(ge=3, le=1000)] = 8
    """Seeds that are played to learn the deviation, where nothing else says it."""


class Published(Model):
    """What somebody else reported for an outcome."""

    value: float | None = None
    """The figure,"""
    low: float | None = None
    """or the low end of its range"""
    high: float | None = None
    """and the high end."""
    note: Annotated[str, Field(max_length=500)] = ""
    """What may explain a difference."""

    @model_validator(mode="after")
    def _one_or_two(self) -> Self:
        if (self.value is None) == (self.low is None or self.high is None):
            raise ValueError("value: give this, or low and high")
        return self

    @property
    def bounds(self) -> tuple[float, float]:
        """The low and the high end, which may be one."""
        if self.value is not None:
            return self.value, self.value
        assert self.low is not None
        assert self.high is not None
        return self.low, self.high


class Study(Tournament):
    """Many tournaments, one in each cell of a design, and what is asked of them."""

    primary: Outcome
    """The one outcome that the study is about, named before anything is played: at most 130
    letters, digits, `.`, `_` and `-`, the first one a letter or digit. All others are
    exploratory."""
    outcomes: list[Outcome] = Field(default=[])
    """Further outcomes, in the order in which they are shown."""
    vary: dict[str, list[Any] | Range | Scale] = Field(default={})
    """By dotted key, as `--set` takes it, what the field becomes: a list of values, a range or
    multiples. A `*` in the key stands for every name or position there. The first cell is the
    baseline that others are compared with."""
    design: Literal["grid", "sample"] = "grid"
    """All combinations, or a Latin hypercube: each field takes each of `samples` equal parts of
    its range once."""
    samples: Annotated[int, Field(ge=2, le=100_000)] | None = None
    """`sample`: cells."""
    sample_seed: int = 0
    """`sample`: seed of its draws."""
    power: Power = Power()
    """Operational: what `market study CONFIG --power` reckons with."""
    published: dict[str, Published] = Field(default={})
    """Operational: by outcome, a figure to print beside that of the baseline."""

    @model_validator(mode="after")
    def _designed(self) -> Self:
        if (self.design == "sample") != (self.samples is not None):
            raise ValueError("samples: is given exactly with `design: sample`")
        for key, values in self.vary.items():
            if isinstance(values, list) and not values:
                raise ValueError(f"vary.{key}: name one value at least")
            if self.design == "grid" and isinstance(values, Range) and values.levels is None:
                raise ValueError(f"vary.{key}: a grid needs `levels` of a range")
        return self

    @property
    def told(self) -> tuple[str, ...]:
        """All outcomes, the primary one first."""
        return tuple(dict.fromkeys([self.primary, *self.outcomes, *self.published]))
