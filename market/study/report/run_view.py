"""What a report shows of a run: plain frozen data, gathered before anything is drawn.

Texts in here are untrusted: names come from configurations, slogans and items from retailers.
Whoever shows them escapes them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

Figure = int | float | None


@dataclass(frozen=True, slots=True)
class RetailerView:
    """One line of the leaderboard.

    Attributes:
        seat: Id of the seat.
        policy: What played it.
        model: The language model behind it; None for a script.
        score: What it was to maximise; None if unknown.
        metrics: Named figures; None where undefined.
        undefined: For each metric that is None, the reason.
    """

    seat: str
    policy: str
    model: str | None
    score: Figure
    metrics: Mapping[str, Figure] = field(default_factory=dict)
    undefined: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class ItemView:
    """A kind of good: its name, tier, base price and highest price (None for no cap)."""

    item: str
    tier: str
    base: int
    cap: int | None


@dataclass(frozen=True, slots=True)
class OfferView:
    """One price of one retailer in one step, and the units sold at it."""

    item: str
    step: int
    seat: str
    price: int
    sold: int


@dataclass(frozen=True, slots=True)
class SloganView:
    """What a retailer said in a step.

    Attributes:
        seat: Who.
        step: When.
        slogan: The words; empty for none.
        impressions: Buyers who considered the retailer; None if unknown.
        match: Mean similarity with the buyers' personas, in [-1, 1]; None without a slogan.
    """

    seat: str
    step: int
    slogan: str
    impressions: int | None
    match: float | None


@dataclass(frozen=True, slots=True)
class RefusalView:
    """Something that was void or mended.

    Attributes:
        seat: Whose.
        step: When.
        what: `bid`, `price` or `slogan`.
        item: The item as written; empty for a slogan.
        detail: What was asked, in a few words.
        reason: Why it was refused.
    """

    seat: str
    step: int
    what: str
    item: str
    detail: str
    reason: str


@dataclass(frozen=True, slots=True)
class InactionView:
    """A decision that passed without an action: whose, when, of what kind and why."""

    seat: str
    step: int
    kind: str
    cause: str


@dataclass(frozen=True, slots=True)
class UsageView:
    """What one model was used for. None is unknown, which is not 0."""

    model: str
    calls: int
    prompt_tokens: int | None
    completion_tokens: int | None
    cost_usd: float | None


@dataclass(frozen=True, slots=True)
class RunView:
    """Everything that a report shows of a run.

    Attributes:
        title: The run's name.
        environment: The environment played.
        seed: Seed of the episode shown.
        episode: Which episode is shown, in words; empty if there is one.
        steps: Steps of the episode.
        retailers: The leaderboard, in any order.
        settings: (name, value) of the settings worth reading, in order.
        config: The whole configuration as text.
        funds: Funds at the start; None if unknown.
        capital: Net worth at the end of each step, per seat.
        indices: Market indices, each with a value per step.
        items: The goods.
        offers: Prices asked and sales.
        slogans: What was said.
        refusals: What was refused.
        inactions: Decisions without an action.
        usage: Use of models; empty if none was called.
        wall_seconds: How long the run took; None if unknown.
        journal_digest: SHA-256 that identifies the game.
        versions: (name, version) of what produced it.
    """

    title: str
    environment: str
    seed: int
    steps: int
    retailers: tuple[RetailerView, ...]
    episode: str = ""
    settings: tuple[tuple[str, str], ...] = ()
    config: str = ""
    funds: int | None = None
    capital: Mapping[str, tuple[Figure, ...]] = field(default_factory=dict)
    indices: Mapping[str, tuple[Figure, ...]] = field(default_factory=dict)
    items: tuple[ItemView, ...] = ()
    offers: tuple[OfferView, ...] = ()
    slogans: tuple[SloganView, ...] = ()
    refusals: tuple[RefusalView, ...] = ()
    inactions: tuple[InactionView, ...] = ()
    usage: tuple[UsageView, ...] = ()
    wall_seconds: float | None = None
    journal_digest: str = ""
    versions: tuple[tuple[str, str], ...] = ()

    def ranked(self) -> list[RetailerView]:
        """Retailers from the best score down; unknown scores last, equal ones by seat."""
        return sorted(
            self.retailers,
            key=lambda r: (r.score is None, -(r.score or 0), r.seat),
        )
