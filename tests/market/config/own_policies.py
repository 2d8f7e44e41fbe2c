"""Policies of a user's own, for the tests of options."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Literal

from market.environment import Answer, Decision
from market.policies.policy import Policy


class Mood(StrEnum):
    CALM = "calm"
    WILD = "wild"


@dataclass(frozen=True)
class Limits:
    low: int
    high: int = 10


@dataclass
class Picky(Policy):
    """Wants options of every kind."""

    needed: int
    share: float = 0.5
    mood: Mood = Mood.CALM
    style: Literal["plain", "loud"] = "plain"
    slogans: tuple[str, ...] = ()
    limits: Limits | None = None
    extra: Mapping[str, int] = field(default_factory=dict)
    api_base: str | None = None

    def __post_init__(self) -> None:
        self.remembered = 0
        if self.share > 1:
            raise ValueError("share: a share is at most 1")

    def act(self, decision: Decision) -> Answer:
        return Answer([])
