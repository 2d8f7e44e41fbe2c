"""What a rehearsal is set to.

`docs/rehearsal.md` repeats the descriptions.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, Final, Literal, get_args

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from market.config import documents
from market.config.complaints import invalid
from market.config.overrides import override
from market.config.sources import Layer

#: Trouble that the provider makes on the way, drawn each time a request is sent.
Trouble = Literal["rate_limit", "errors", "hangs", "drops", "breaks", "trickles"]
#: Trouble in what the model says, drawn once for each content.
Slip = Literal["truncated", "malformed", "refusals", "empty"]

TROUBLES: Final[tuple[Trouble, ...]] = get_args(Trouble)
SLIPS: Final[tuple[Slip, ...]] = get_args(Slip)

Share = Annotated[float, Field(ge=0, le=1)]


class Settings(BaseModel):
    """How a provider behaves. Shares are of all requests, from 0 to 1."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    seed: int = Field(default=0, description="Decides everything that is drawn.")
    latency: float = Field(default=0.0, ge=0, description="Median seconds before an answer begins.")
    spread: float = Field(
        default=0.0,
        ge=0,
        description="Spread of the latency: standard deviation of its logarithm. 0.5 has one "
        "answer in twenty take more than 2.3 times the median.",
    )
    at_once: int | None = Field(
        default=None,
        ge=1,
        description="Requests worked on at once; those beyond are answered with 429.",
    )
    rate_limit: Share = Field(
        default=0.0, description="Share answered with 429 and Retry-After, in seconds or as a date."
    )
    retry_after: int = Field(
        default=2, ge=1, description="Most seconds that a Retry-After asks for."
    )
    errors: Share = Field(default=0.0, description="Share answered with 500 or 503.")
    hangs: Share = Field(default=0.0, description="Share never answered.")
    drops: Share = Field(default=0.0, description="Share whose connection closes before an answer.")
    breaks: Share = Field(
        default=0.0, description="Share whose connection closes within the answer."
    )
    trickles: Share = Field(default=0.0, description="Share answered piece by piece, with pauses.")
    trickle_pause: float = Field(default=0.5, ge=0, description="Seconds of such a pause.")
    truncated: Share = Field(default=0.0, description="Share of contents cut, as if out of tokens.")
    malformed: Share = Field(default=0.0, description="Share of contents answered with wrong JSON.")
    refusals: Share = Field(
        default=0.0, description="Share of contents refused, by `content_filter` or in `refusal`."
    )
    empty: Share = Field(default=0.0, description="Share of contents answered with nothing.")
    vary: Share = Field(
        default=0.0,
        description="How far numbers of the prompt's example are changed: quantities lowered, "
        "others raised by up to this share.",
    )
    text: str | None = Field(
        default=None, description="Said in place of an answer read from the prompt."
    )
    script: tuple[Literal["answered"] | Trouble | Slip, ...] = Field(
        default=(), description="What becomes of the first requests in order of arrival, by name."
    )

    @model_validator(mode="after")
    def _shares_of_one_whole(self) -> Settings:
        for names in (TROUBLES, SLIPS):
            if sum(getattr(self, name) for name in names) > 1:
                raise ValueError(f"the shares {', '.join(names)} add up to more than 1")
        return self


def load(
    path: Path | None, overrides: Sequence[str] = (), flags: Mapping[str, Any] | None = None
) -> Settings:
    """Read settings from a file, `key=value` overrides and flags, each over the one before.

    Raises:
        market.config.documents.ConfigError: If anything is wrong, in one sentence.
    """
    data: dict[str, Any] = {} if path is None else documents.read(path)
    sources = [Layer("the rehearsal" if path is None else str(path), data)]
    for text in overrides:
        layer, data = override(data, text)
        sources.append(layer)
    for name, value in (flags or {}).items():
        if value is not None:
            flag = f"--{name.replace('_', '-')}"
            sources.append(Layer(flag, {name: value}, path=(name,)))
            data = {**data, name: value}
    try:
        return Settings.model_validate(data)
    except ValidationError as error:
        raise invalid(error, Settings, data, (), sources) from error
