"""What the arena's configuration is made of: its base model, and the kinds of numbers in it."""

from __future__ import annotations

from decimal import Decimal
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field, StrictInt

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


def exact(number: float) -> Decimal:
    """The decimal that a person wrote, so that 0.95 x 1000 is 950."""
    return Decimal(repr(number))


def round_half_up(number: Decimal) -> int:
    """The nearest whole number, halves up."""
    return int((number + Decimal("0.5")) // 1)
