"""What a run may spend on models, what they cost, and how hard they may be asked: operational."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from market.config.model import Model

#: US dollars per million tokens.
Rate = Annotated[float, Field(ge=0)]


class Limits(Model):
    """A budget for model calls. What is not given is not limited."""

    usd: Annotated[float, Field(ge=0)] | None = None
    """US dollars. Every model that is asked must have a price."""
    tokens: Annotated[int, Field(ge=0)] | None = None
    """Tokens, read and written."""
    hours: Annotated[float, Field(gt=0)] | None = None
    """Hours of play after which no call is begun, those of resumed runs included."""


class Price(Model):
    """What a model costs, in US dollars per million tokens."""

    input_per_million: Rate
    """Tokens read."""
    output_per_million: Rate
    """Tokens written."""
    cached_input_per_million: Rate | None = None
    """Tokens read that the provider has in its cache; as other tokens where not given."""


class ModelCaps(Model):
    """How hard one model may be asked, over the whole run; what is not given is not limited.

    Of `local`, `in_flight` is 4 where not given.
    """

    in_flight: Annotated[int, Field(ge=1)] | None = None
    """Requests at once."""
    requests_per_minute: Annotated[int, Field(ge=1)] | None = None
    """Requests in any 60 seconds, tries that failed included."""
    tokens_per_minute: Annotated[int, Field(ge=1)] | None = None
    """Tokens in any 60 seconds, read and written."""
